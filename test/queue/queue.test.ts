import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { RunningN8n } from '../../host/n8n';
import { stopAll } from '../../host/process';
import { startCluster, type Cluster } from '../../host/queue/cluster';
import { inARow, jobNode, rows, webhook } from '../../host/workflow';
import { startSandbox, type Fault, type Sandbox, type SandboxOptions } from '../../sandbox';
import { execution, pressRetry, publish, soon } from '../host/host';
import { createNode, inALoop, planCreates } from '../host/workflows';
import { gate, refused } from '../reliability/batch';
import { CHUNK, Ledger } from './ledger';

/*
 * In queue mode, two workers share the token of an account, a cancel and a Retry work across workers, and a killed
 * worker loses no job and creates none twice. The tests find out from the sandbox, not from n8n, which jobs exist.
 */

/**
 * Each worker renews its lock every second and counts as dead after ten seconds, so that a test needn't wait for long.
 * n8n's defaults are ten and sixty seconds.
 */
const soonTakenForDead = {
	QUEUE_WORKER_LOCK_RENEW_TIME: '1000',
	QUEUE_WORKER_LOCK_DURATION: '10000',
	QUEUE_WORKER_STALLED_INTERVAL: '1000',
};

let cluster: Cluster;
let sandbox: Sandbox;

beforeAll(async () => {
	cluster = await startCluster(join(__dirname, '../../host/.data/queue'), soonTakenForDead);
}, 15 * 60_000);
afterAll(async () => await stopAll());
afterEach(async () => await sandbox.close());

/** Starts a sandbox for the rest of the test, and changes the credential to its address. */
async function useSandbox(options?: SandboxOptions): Promise<void> {
	sandbox = await startSandbox(options);
	await cluster.api.useService(sandbox);
}

/** Calls a webhook a number of times at once. Each call starts an execution. */
async function call(path: string, times = 1): Promise<void> {
	const post = async () => await fetch(`${cluster.main.url}/webhook/${path}`, { method: 'POST' });
	const answers = await Promise.all(Array.from({ length: times }, post));
	expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
}

const jobNames = () => [...sandbox.store.jobs.values()].map(({ displayName }) => displayName);

const callsOf = (operation: string) => sandbox.calls.filter((call) => call.operation === operation);

test('a cancel ends an execution on its worker, and no further create is sent', async () => {
	await useSandbox();
	const { api } = cluster;
	const workflow = await publish(
		api,
		inARow('Cancelled', [
			webhook('cancelled'),
			...rows('[0, 1, 2, 3, 4, 5, 6]'),
			createNode('Cancelled', { options: { concurrency: 1 } }),
		]),
	);
	const later: Fault = { kind: 'rateLimit', retryAfter: 15 };
	planCreates(sandbox, { 6: later, 7: later });
	await call('cancelled');
	await soon(() => callsOf('createJob').some(({ status }) => status === 429));
	const [{ id } = { id: '' }] = await api.executions(workflow.id);
	await api.call('POST', `/rest/executions/${id}/stop`);
	await execution(api, workflow.id, id).reaches('canceled');
	expect(sandbox.store.jobs.size).toBe(5);
	await api.deactivate(workflow.id);
	// The sixth create waits before it is sent again. The seventh is sent in the meantime, and is throttled, too.
	// Neither is sent again.
	expect(callsOf('createJob').length).toBeLessThanOrEqual(7);
});

test('an execution that waits for each of its jobs continues on either worker with the call of that job', async () => {
	await useSandbox();
	const { api } = cluster;
	const parameters = {
		workflowUid: 'call-when-done',
		// Each job calls a second time while the execution waits for the next job.
		inputs: {
			input: Object.entries({ seconds: '1', calls: '2', contentType: 'text/plain' }).map(
				([id, value]) => ({ id, value }),
			),
		},
		options: { waitUntilCalled: 'callbackUrl', waitLimit: 5 },
	};
	const create = createNode('=Report {{ $json.rows }}', parameters, { name: 'a }} b' });
	const names = ['Report A', 'Report B', 'Report C'];
	const workflow = await publish(api, inALoop(webhook('waiting'), '["A", "B", "C"]', create));
	await call('waiting', 4);
	const executions = await api.executions(workflow.id);
	expect(executions).toHaveLength(4);
	for (const { id } of executions) {
		const { output } = await execution(api, workflow.id, id).end();
		expect(output['Next']).toMatchObject(
			names.map((displayName) => ({ displayName, callback: { displayName } })),
		);
	}
	expect(callsOf('createJob')).toHaveLength(12);
	await api.deactivate(workflow.id);
}, 150_000);

test('executions share a token even if each login ends the previous one: few logins, and no job twice', async () => {
	const tokenLifetime = 3;
	const total = 80;
	await useSandbox({ tokenLifetime, oneSession: true });
	const clusters = jobNode('Clusters', { resource: 'cluster', operation: 'getAll', limit: 1 });
	const create = createNode('=Job of execution {{ $execution.id }}');
	const nightly = await publish(
		cluster.api,
		inARow('Nightly', [webhook('nightly'), clusters, create]),
	);
	const startedAt = performance.now();
	// Each worker runs ten executions at a time.
	await call('nightly', total);
	await soon(() => jobNames().length === total, 240_000);
	const lives = Math.ceil((performance.now() - startedAt) / 1000 / tokenLifetime);

	expect(new Set(jobNames()).size).toBe(total);
	expect(callsOf('login').length).toBeLessThanOrEqual(4 * lives);
	await soon(async () => (await cluster.api.executions(nightly.id, ['success'])).length === total);
}, 300_000);

/** Waits until executions have ended, and expects that they have succeeded. */
async function endWell(workflowId: string, ...ids: string[]): Promise<void> {
	for (const id of ids) {
		expect((await execution(cluster.api, workflowId, id).end()).status).toBe('success');
	}
}

/** Conditions that no row meets. */
const never = { conditions: [{ keyName: 'state', condition: 'eq', keyValue: 'none' }] };

test('four executions that start at the same time never process the same row', async () => {
	await useSandbox({ latency: 20 });
	const { api } = cluster;
	const size = 4 * CHUNK;
	const batch = 'at once';
	// Only the database operation that marks the rows keeps the executions apart.
	const ledger = await Ledger.open(cluster.api, 600, {
		'Only if none is being sent': { filters: never },
	});
	await api.deactivate(ledger.workflow.id);
	await ledger.add(batch, size);
	const runs = await Promise.all(
		[1, 2, 3, 4].map(async () => await api.run(ledger.workflow.id, 'Every minute')),
	);
	await endWell(ledger.workflow.id, ...runs);
	// An execution that finds no free rows ends, and leaves the remaining rows to the next one.
	await endWell(ledger.workflow.id, await api.run(ledger.workflow.id, 'Every minute'));

	const count = await ledger.count(batch, sandbox);
	expect(sandbox.store.jobs.size).toBe(size);
	expect(count).toMatchObject({ created: size, doubled: 0, lost: [] });
});

/** Waits until a worker has started this execution, and returns the worker. */
const workerWith = async (executionId: string): Promise<RunningN8n> =>
	await soon(async () => {
		for (const worker of cluster.workers) {
			const log = await readFile(worker.logFile, 'utf8');
			if (log.includes(`Worker started execution ${executionId} `)) return worker;
		}
		return undefined;
	});

test("n8n's Retry on another worker creates the missing jobs once", async () => {
	await useSandbox();
	const { api } = cluster;
	const workflow = await publish(
		api,
		inARow('Retried', [
			webhook('retried'),
			...rows(JSON.stringify([0, 1, 2, 3].map((n) => ({ n })))),
			createNode('=Job {{ $json.n }}', { options: { concurrency: 1 } }),
		]),
	);
	planCreates(sandbox, { 'Job 2': refused });
	await call('retried');
	const [{ id } = { id: '' }] = await api.executions(workflow.id);
	expect((await execution(api, workflow.id, id).end()).status).toBe('error');
	expect(jobNames()).toEqual(['Job 0', 'Job 1']);
	sandbox.faults.clear();
	const first = await workerWith(id);
	await first.stop();

	const retried = await pressRetry(api, id, false);
	await endWell(workflow.id, retried);
	expect(jobNames()).toEqual(['Job 0', 'Job 1', 'Job 2', 'Job 3']);
	expect(await workerWith(retried)).not.toBe(first);
});

// This must be the last test, because the test before it leaves only one worker, which this test kills.
test('a crash-safe batch loses no job and creates none twice if a worker is killed', async () => {
	await useSandbox({ latency: 100 });
	const { api, addWorker } = cluster;
	const size = 3 * CHUNK;
	const batch = '2026-11';
	// The creates that are in flight at the kill. The service acts on the first one only.
	const held = [gate('afterActing'), gate('beforeActing')] as const;
	planCreates(sandbox, { 70: held[0].fault, 71: held[1].fault });
	const ledger = await Ledger.open(api, 10);
	await ledger.add(batch, size);
	await soon(() => callsOf('createJob').length > 70);
	for (const worker of cluster.workers) await worker.kill();
	for (const { open } of held) open();
	await addWorker();
	await ledger.settle(batch);
	await api.deactivate(ledger.workflow.id);

	const { created, setAside, doubled, lost } = await ledger.count(batch, sandbox);
	expect({ doubled, lost }).toEqual({ doubled: 0, lost: [] });
	expect(created + setAside).toBe(size);
	// The killed worker leaves behind at most the rows that it had marked.
	expect(setAside).toBeGreaterThan(0);
	expect(setAside).toBeLessThanOrEqual(CHUNK);
}, 300_000);
