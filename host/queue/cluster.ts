import { randomBytes } from 'node:crypto';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';

import { N8nApi } from '../api';
import { emptyFolder } from '../files';
import { lockFolder } from '../folderLock';
import { n8nFolders } from '../host';
import { installIfNeeded } from '../install';
import { startN8n, startWorker, type RunningN8n } from '../n8n';
import { buildAndPack, installNode } from '../nodePackage';
import { setUpOwner } from '../owner';
import { step } from '../step';
import { startPostgres, startRedis } from './databases';

/** An n8n in queue mode: a main process, and workers. Only this machine can reach them. */
export interface Cluster {
	main: RunningN8n;
	/** All workers that were started, in this order, including those that have ended. */
	workers: readonly RunningN8n[];
	api: N8nApi;
	/** Starts another worker. */
	addWorker(): Promise<RunningN8n>;
}

/**
 * Starts Redis, PostgreSQL, and an n8n in queue mode with two workers. The packed node is installed in the main process
 * and in each worker.
 * @param dataFolder the folder for all data and logs. It is emptied before the start.
 * @param env additional environment variables for the main process and the workers
 * @throws Problem if a step fails
 */
export async function startCluster(dataFolder: string, env: NodeJS.ProcessEnv): Promise<Cluster> {
	await lockFolder(dataFolder);
	await emptyFolder(dataFolder);
	const folders = n8nFolders({ dataFolder });
	const { hostFolder, userFolder } = folders;
	const logFile = join(dataFolder, 'install.log');
	const packed = await step('Building and packing the node', async () => {
		return await buildAndPack(logFile);
	});
	await installIfNeeded(hostFolder);
	await installNode(userFolder, packed, logFile);
	const databases = await step('Starting Redis and PostgreSQL', async () => [
		await startRedis(join(dataFolder, 'redis')),
		await startPostgres(),
	]);

	// n8n's docs ("Queue mode") describe what the main process and the workers share.
	const shared: NodeJS.ProcessEnv = Object.assign(
		{
			EXECUTIONS_MODE: 'queue',
			// Workers decrypt the credentials that the main process has encrypted.
			N8N_ENCRYPTION_KEY: randomBytes(24).toString('base64'),
			OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true',
			...env,
		},
		...databases.map((database) => database.env),
	);
	const main = await step("Starting n8n's main process", async () => {
		return await startN8n(folders, { logFile: join(dataFolder, 'main.log'), env: shared });
	});
	const workers: RunningN8n[] = [];
	let begun = 0;
	const addWorker = async () => {
		begun += 1;
		const ownFolder = join(dataFolder, `worker-${begun}`);
		const nodes = join('.n8n', 'nodes');
		await cp(join(userFolder, nodes), join(ownFolder, nodes), { recursive: true });
		const options = {
			logFile: `${ownFolder}.log`,
			// As always in queue mode: jobs that a worker creates call the main process.
			env: { ...shared, WEBHOOK_URL: `${main.url}/` },
		};
		const worker = await startWorker({ hostFolder, userFolder: ownFolder }, options);
		workers.push(worker);
		return worker;
	};
	await step('Starting two workers', async () => await Promise.all([addWorker(), addWorker()]));
	const api = await N8nApi.open(main.url, await setUpOwner(main.url, userFolder));
	return { main, workers, api, addWorker };
}
