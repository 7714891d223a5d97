import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { RunningN8n } from '../../host/n8n';
import type { Restartable } from '../../host/queue/restartable';
import { waitFor } from '../../host/wait';
import type { Sandbox } from '../../sandbox';
import { Batches } from './batches';
import { startForwarder, type Forwarder } from './forwarder';
import { CHUNK, Ledger, workerOf } from './ledger';
import { begunBy, post, publish } from './load';
import { takenForDeadSooner, useCluster } from './useCluster';

/*
 * Everything that can die or be cut off in queue mode, each in the middle of batches: what n8n then says of the
 * executions and the ledger of its rows, counted against the jobs that the sandbox holds.
 */

const cluster = useCluster('queue-deaths', {
	workers: 2,
	env: {
		...takenForDeadSooner,
		// So that executions wait in the queue, too.
		N8N_CONCURRENCY_PRODUCTION_LIMIT: '3',
	},
});

const EXECUTIONS = 8;
const JOBS_EACH = 20;
const ROWS = 200;
/** Seconds after which a row that is still marked is set aside, in place of ten minutes. */
const SECONDS_LEFT = 20;

/** What a death can use. */
interface Scene {
	sandbox: Sandbox;
	/** The workers that run; once the batches have begun, first the one that creates the ledger's rows. */
	crew: RunningN8n[];
}

/** A death, and what it may leave behind. */
interface Death {
	what: string;
	/** Whether it is quick enough to be tried every time. */
	quick?: boolean;
	/** What has to be there before the batches begin. */
	prepare?(scene: Scene): Promise<void>;
	/** Does it, and what comes after it. */
	strike(scene: Scene): Promise<void>;
	/** How executions may end. */
	ends: string[];
	/** How many marked chunks may be left for a person at most. */
	chunks: number;
	/** Whether executions may seem to go on for ever, until n8n's main process is started again. */
	stuck?: boolean;
}

let forwarder: Forwarder;

/** Kills a program, and starts it again three seconds later. */
async function beAway(program: Pick<Restartable, 'kill' | 'startAgain'>): Promise<void> {
	await program.kill();
	await sleep(3_000);
	await program.startAgain();
}

const deaths: Death[] = [
	{
		what: 'a worker is told to stop (SIGTERM), and given its time',
		quick: true,
		strike: async ({ crew: [worker] }) => {
			process.kill(worker?.pid ?? 0, 'SIGTERM');
			await worker?.ended;
		},
		ends: ['success'],
		chunks: 0,
	},
	{
		what: 'the service is cut off from one worker for five seconds',
		quick: true,
		prepare: async ({ sandbox, crew }) => {
			const port = Number(new URL(sandbox.url).port);
			forwarder = await startForwarder(port);
			await crew.pop()?.stop();
			const preload = join(__dirname, 'elsewhere.cjs');
			const env = {
				NODE_OPTIONS: `--require ${preload}`,
				CONNECT_ELSEWHERE: `${port}:${forwarder.port}`,
			};
			crew.push(await cluster().addWorker(env));
		},
		strike: async ({ crew }) => {
			await forwarder.shut();
			await sleep(5_000);
			await forwarder.open();
			// The way leads to this service alone.
			retired.push(...crew.splice(0));
		},
		ends: ['success'],
		chunks: 1,
	},
	{
		what: 'a worker is killed (SIGKILL)',
		strike: async ({ crew: [worker] }) => await worker?.kill(),
		ends: ['success', 'error'],
		chunks: 1,
	},
	{
		what: 'a worker runs out of memory (a heap of 200 MB)',
		prepare: async ({ crew }) => {
			for (const worker of crew.splice(0)) await worker.stop();
			crew.push(
				await cluster().addWorker({
					NODE_OPTIONS: '--max-old-space-size=200',
					N8N_EXPRESSION_ENGINE: 'legacy',
				}),
			);
			await publishHog();
		},
		strike: async ({ crew: [worker] }) => {
			await post(`${cluster().main.url}/webhook/hog`, [{}], 1);
			await worker?.ended;
		},
		ends: ['success', 'error'],
		// It may be busy for so long before it dies that its rows are set aside, and another execution takes more.
		chunks: 2,
	},
	{
		what: "n8n's main process is killed, and started again",
		strike: async () => await beAway(cluster().main),
		ends: ['success', 'crashed'],
		chunks: 0,
	},
	{
		what: 'Redis is killed, and started again with its append-only file',
		prepare: async () => await cluster().redis.keepOnDisk(),
		strike: async () => {
			await beAway(cluster().redis);
			await cluster().redis.forget();
		},
		ends: ['success', 'error', 'crashed'],
		chunks: 1,
		stuck: true,
	},
	{
		what: 'Redis is killed, and started again with nothing in it',
		strike: async () => await beAway(cluster().redis),
		ends: ['success', 'error', 'crashed'],
		chunks: 1,
		stuck: true,
	},
	{
		what: 'PostgreSQL is killed, and started again',
		strike: async () => await beAway(cluster().postgres),
		ends: ['success', 'error', 'crashed'],
		chunks: 2,
		stuck: true,
	},
];

const tried = process.env['QUEUE_TESTS'] === 'all' ? deaths : deaths.filter(({ quick }) => quick);

/** Workers that run no longer as others do, and are stopped before the next death. */
const retired: RunningN8n[] = [];
let crew: RunningN8n[] = [];
let ledger: Ledger;
const lines: string[] = [];

beforeAll(async () => {
	crew = [...cluster().workers];
	ledger = await Ledger.open(cluster(), SECONDS_LEFT);
}, 120_000);

afterAll(async () => {
	await forwarder?.shut();
	process.stdout.write(`\n${lines.join('\n')}\n`);
});

/** A workflow that wants more memory than there is. */
async function publishHog(): Promise<void> {
	const rows = '={{ ({ rows: Array.from({ length: 200 }, () => new Array(1e6).fill(0.5)) }) }}';
	const node = { typeVersion: 2, position: [0, 0] };
	const webhook = { httpMethod: 'POST', path: 'hog', responseMode: 'onReceived', options: {} };
	await publish(cluster().api, {
		name: 'Hog',
		nodes: [
			{
				...node,
				...{ id: 'hog-1', name: 'Webhook', type: 'n8n-nodes-base.webhook', webhookId: 'hog' },
				parameters: webhook,
			},
			{
				...node,
				...{ id: 'hog-2', name: 'Rows', type: 'n8n-nodes-base.set', typeVersion: 3.4 },
				parameters: { mode: 'raw', jsonOutput: rows, options: {} },
			},
		],
		connections: { Webhook: { main: [[{ node: 'Rows', type: 'main', index: 0 }]] } },
	});
}

/** Has two workers run, none of which is set up for another death. */
async function fillUp(): Promise<void> {
	for (const worker of retired.splice(0)) await worker.stop();
	const alive = await Promise.all(
		crew.map(
			async (worker) => await Promise.race([worker.ended.then(() => false), sleep(50, true)]),
		),
	);
	crew = crew.filter((_, index) => alive[index]);
	while (crew.length < 2) crew.push(await cluster().addWorker());
}

test.each(tried)(
	'$what: no job is doubled, none is lost without a word',
	async ({ what, prepare, strike, ends, chunks, stuck }) => {
		const sandbox = await cluster().useSandbox({ latency: 300 });
		await fillUp();
		const scene = { sandbox, crew };
		await prepare?.(scene);
		const path = `batch-${deaths.findIndex((death) => death.what === what)}`;
		const batches = await Batches.open(cluster(), path, JOBS_EACH);
		const startedAt = performance.now();
		await ledger.add(path, ROWS);
		await waitFor(async () => (sandbox.store.jobs.size > 20 ? true : undefined), {
			timeout: 60_000,
			interval: 20,
		});
		await batches.begin(EXECUTIONS);
		const enough = sandbox.store.jobs.size + 30;
		await waitFor(async () => (sandbox.store.jobs.size >= enough ? true : undefined), {
			timeout: 60_000,
			interval: 20,
		});

		const atWork = await ledger.execution(path);
		const busy = atWork && (await workerOf(crew, atWork, begunBy));
		if (busy) crew = scene.crew = [busy, ...crew.filter((worker) => worker !== busy)];
		await strike(scene);
		await fillUp();
		const left = await batches.settle(30_000);
		if (left > 0) {
			lines.push(`  ${left} executions seem to go on: the main process is started again.`);
			await cluster().main.startAgain();
			expect(stuck).toBe(true);
		}
		expect(await batches.settle(60_000)).toBe(0);
		expect(await ledger.settle(path)).toBe(true);
		await batches.close();

		const plain = await batches.count(sandbox);
		const rows = await ledger.count(path, ROWS, sandbox);
		const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
		lines.push(
			`${what}: of ${EXECUTIONS} executions ${JSON.stringify(plain.executions)}, ${plain.jobs} jobs, ` +
				`${plain.doubled} doubled, ${plain.lost.length} lost; of ${ROWS} rows ${rows.created} created, ` +
				`${rows.setAside} set aside, ${rows.failed} failed, ${rows.doubled} doubled, ${rows.lost.length} lost; ${seconds} s.`,
		);
		expect(plain).toMatchObject({ doubled: 0, lost: [] });
		expect(plain.rows).toEqual(plain.rows.map(() => JOBS_EACH));
		expect(Object.values(plain.executions).reduce((sum, count) => sum + count)).toBe(EXECUTIONS);
		expect(Object.keys(plain.executions).filter((status) => !ends.includes(status))).toEqual([]);
		expect(rows).toMatchObject({ doubled: 0, lost: [], neverMade: [], missing: [] });
		expect(rows.setAside).toBeLessThanOrEqual(chunks * CHUNK);
	},
	400_000,
);
