import { randomBytes } from 'node:crypto';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';

import { N8nApi } from '../api';
import { lockFolder } from '../folderLock';
import { emptyFolder, installIfNeeded } from '../install';
import { startN8n, startWorker, type RunningN8n } from '../n8n';
import { buildAndPack, installNode } from '../nodePackage';
import { ownerOf } from '../owner';
import { freePort, loopback } from '../ports';
import { Problem } from '../problem';
import type { Steps } from '../steps';
import { Stops } from '../stops';
import { startPostgres, type Postgres } from './postgres';
import { startRedis, type Redis } from './redis';

/** How an n8n in queue mode is started. */
export interface ClusterOptions {
	/** The folder for all data and logs. It is emptied before the start. */
	dataFolder: string;
	/** The number of workers to start. */
	workers: number;
	/**
	 * Additional environment variables for the main process and the workers. They take precedence over those of the
	 * host.
	 */
	env?: NodeJS.ProcessEnv;
	steps: Steps;
	/** Aborts the start of the cluster or of a worker. */
	signal?: AbortSignal | undefined;
}

/** An n8n in queue mode: a main process, workers, and the Redis and PostgreSQL that they share. All use loopback. */
export interface Cluster {
	redis: Redis;
	postgres: Postgres;
	main: RunningN8n;
	/** All workers that were started, in this order, including those that have ended. */
	workers: readonly RunningN8n[];
	api: N8nApi;
	/** Starts another worker. */
	addWorker(): Promise<RunningN8n>;
	/** Stops all processes. May be called more than once. */
	stop(): Promise<void>;
}

/** The number of steps that `startCluster` shows. */
export const clusterSteps = 6;

const hostFolder = join(__dirname, '..');

/**
 * Starts Redis, PostgreSQL, and an n8n in queue mode with its workers. The packed node is installed in the main process
 * and in each worker.
 * @throws Problem if a step fails. All processes are then stopped.
 * @throws Stopped if the signal was aborted
 */
export async function startCluster({
	dataFolder,
	workers: workerCount,
	env = {},
	steps,
	signal,
}: ClusterOptions): Promise<Cluster> {
	const stops = new Stops();
	const stop = async () => await stops.stopAll();
	const started = <T extends { stop(): Promise<void> }>(process: T): T => {
		stops.add(async () => await process.stop());
		return process;
	};

	try {
		await emptyFolder(dataFolder);
		stops.add(await lockFolder(dataFolder, 'An n8n with this data'));
		const buildLog = { logFile: join(dataFolder, 'install.log'), signal };
		const packed = await steps.run('Building and packing the node', async () => {
			return await buildAndPack(buildLog);
		});

		await installIfNeeded({ hostFolder, ...buildLog }, steps);

		const [redis, postgres] = await steps.run('Starting Redis and PostgreSQL', async () => [
			started(await startRedis(join(dataFolder, 'redis'), signal)),
			started(await startPostgres(join(dataFolder, 'postgres'), signal)),
		]);

		const mainFolder = join(dataFolder, 'main');
		const shared = { ...queueMode(redis, postgres), ...env };
		const main = await steps.run("Starting n8n's main process", async () => {
			await installNode(mainFolder, packed, buildLog);
			const logFile = join(dataFolder, 'main.log');
			const port = await freePort();
			const userFolder = mainFolder;
			return started(
				await startN8n({ hostFolder, userFolder, logFile, port, env: shared, signal }),
			);
		});

		const workers: RunningN8n[] = [];
		let begun = 0;
		const addWorker = async () => {
			begun += 1;
			const name = `worker-${begun}`;
			const userFolder = join(dataFolder, name);
			const nodes = join('.n8n', 'nodes');
			await cp(join(mainFolder, nodes), join(userFolder, nodes), { recursive: true });
			const logFile = join(dataFolder, `${name}.log`);
			// As always in queue mode: jobs that a worker creates call the main process.
			const workerEnv = { ...shared, WEBHOOK_URL: `${main.url}/` };
			const options = { hostFolder, userFolder, logFile, env: workerEnv, signal };
			const start = async () => await startWorker(options);
			const worker = started(await start().catch(onceMoreIfPortTaken(start)));
			workers.push(worker);
			return worker;
		};
		await steps.run(`Starting ${workerCount} of its workers`, async () => {
			await Promise.all(Array.from({ length: workerCount }, addWorker));
		});

		const api = await steps.run('Logging in', async () => {
			return await N8nApi.open(main.url, await ownerOf(mainFolder));
		});
		return { redis, postgres, main, workers, api, addWorker, stop };
	} catch (error) {
		await stop();
		throw error;
	}
}

/**
 * Returns an error handler that calls `start` a second time if a port was taken. If many programs start, one of them
 * may take a port after `freePort` has returned it.
 */
function onceMoreIfPortTaken<T>(start: () => Promise<T>): (error: unknown) => Promise<T> {
	return async (error) => {
		if (error instanceof Problem && error.message.includes('took port')) return await start();
		throw error;
	};
}

/**
 * Returns the environment variables that must be the same for the main process and the workers. n8n's docs ("Queue
 * mode") describe them.
 */
function queueMode(redis: Redis, postgres: Postgres): NodeJS.ProcessEnv {
	return {
		EXECUTIONS_MODE: 'queue',
		QUEUE_BULL_REDIS_HOST: loopback,
		QUEUE_BULL_REDIS_PORT: String(redis.port),
		DB_TYPE: 'postgresdb',
		DB_POSTGRESDB_HOST: loopback,
		DB_POSTGRESDB_PORT: String(postgres.port),
		DB_POSTGRESDB_DATABASE: postgres.database,
		DB_POSTGRESDB_USER: postgres.user,
		DB_POSTGRESDB_PASSWORD: postgres.password,
		// Workers decrypt the credentials that the main process has encrypted.
		N8N_ENCRYPTION_KEY: randomBytes(24).toString('base64'),
		OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true',
	};
}
