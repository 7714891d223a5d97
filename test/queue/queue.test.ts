import { join } from 'node:path';

import type { RunningN8n } from '../../host/n8n';
import { stopAll } from '../../host/process';
import { startCluster, type Cluster } from '../../host/queue/cluster';
import { waitFor } from '../../host/wait';
import { inARow, jobNode, rows, webhook } from '../../host/workflow';
import {
	startSandbox,
	type Fault,
	type PlannedCall,
	type Sandbox,
	type SandboxOptions,
} from '../../sandbox';
import { endOf, pressRetry } from '../host/host';
import { createNode, inALoop } from '../host/workflows';
import { brokenAfter, itemOf, refused } from '../reliability/batch';
import { CHUNK, Ledger } from './ledger';
import { begunBy, post, publish } from './load';

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

const jobNames = () => [...sandbox.store.jobs.values()].map(({ displayName }) => displayName);

const callsOf = (operation: string) => sandbox.calls.filter((call) => call.operation === operation);

test('a cancel ends an execution on its worker, and no further create is sent', async () => {
	await useSandbox();
	const { api, main } = cluster;
	const workflow = await publish(
		api,
		inARow('Cancelled', [
			webhook('cancelled'),
			...rows('[0, 1, 2, 3, 4, 5, 6]'),
			createNode('Cancelled', { options: { concurrency: 1 } }),
		]),
	);
	sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'createJob' && nOfOperation > 5
			? { kind: 'rateLimit', retryAfter: 15 }
			: undefined,
	);
	await post(`${main.url}/webhook/cancelled`, 1, 1);
	const soon = { timeout: 30_000 };
	const isTurnedAway = await waitFor(
		() => callsOf('createJob').some(({ status }) => status === 429) || undefined,
		soon,
	);
	expect(isTurnedAway).toBe(true);
	const [execution] = await api.executions(workflow.id);
	await api.call('POST', `/rest/executions/${execution?.id}/stop`);
	const stopped = async () => (await api.executions(workflow.id, ['canceled'])).length;
	expect(await waitFor(async () => (await stopped()) || undefined, soon)).toBe(1);
	expect(sandbox.store.jobs.size).toBe(5);
	await api.deactivate(workflow.id);
	// The sixth create waits before it is sent again. The seventh is sent in the meantime, and is throttled, too.
	// Neither is sent again.
	expect(callsOf('createJob').length).toBeLessThanOrEqual(7);
});

test('an execution that waits for each of its jobs continues on either worker with the call of that job', async () => {
	await useSandbox();
	const { api, main } = cluster;
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
	await post(`${main.url}/webhook/waiting`, 4, 4);
	const ended = await waitFor(
		async () => {
			const executions = await api.executions(workflow.id, ['success', 'error', 'crashed']);
			return executions.length === 4 ? executions : undefined;
		},
		{ timeout: 90_000 },
	);
	for (const { id } of ended ?? []) {
		const { output } = await api.executionResult(id);
		expect(output['Next']).toMatchObject(
			names.map((displayName) => ({ displayName, callback: { displayName } })),
		);
	}
	expect(ended).toHaveLength(4);
	expect(callsOf('createJob')).toHaveLength(12);
	await api.deactivate(workflow.id);
}, 150_000);

test('executions share a token even if each login ends the previous one: few logins, and no job twice', async () => {
	const tokenLifetime = 3;
	const total = 120;
	await useSandbox({ tokenLifetime, oneSession: true });
	const clusters = jobNode('Clusters', { resource: 'cluster', operation: 'getAll', limit: 1 });
	const create = createNode('=Job of execution {{ $execution.id }}');
	const nightly = await publish(
		cluster.api,
		inARow('Nightly', [webhook('nightly', 'lastNode'), clusters, create]),
	);
	const startedAt = performance.now();
	// Both workers are fully loaded.
	const answers = await post(`${cluster.main.url}/webhook/nightly`, total, 20);
	const lives = Math.ceil((performance.now() - startedAt) / 1000 / tokenLifetime);

	expect(answers.filter((status) => status !== 200 && status !== 0)).toEqual([]);
	// About once in a thousand short executions, n8n's main process misses that a worker has finished one: the job is
	// created and the worker logs the end, but the caller never gets a response.
	expect(answers.filter((status) => status === 0).length).toBeLessThanOrEqual(2);
	expect(jobNames()).toHaveLength(total);
	expect(new Set(jobNames()).size).toBe(total);
	expect(callsOf('login').length).toBeLessThanOrEqual(4 * lives);
	expect(await cluster.api.executions(nightly.id, ['error', 'crashed'])).toEqual([]);
}, 300_000);

/** Waits until executions have ended, and expects that they have succeeded. */
async function endWell(workflowId: string, ...ids: string[]): Promise<void> {
	for (const id of ids) {
		expect(await endOf(cluster.api, workflowId, id)).toMatchObject({ status: 'success' });
	}
}

/** Conditions that no row meets. */
const never = { conditions: [{ keyName: 'state', condition: 'eq', keyValue: 'none' }] };

test('four executions that start at the same time never process the same row', async () => {
	await useSandbox({ latency: 20 });
	const { api } = cluster;
	const size = 400;
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
async function workerWith(executionId: string): Promise<RunningN8n> {
	const found = await waitFor(
		async () => {
			for (const worker of cluster.workers) {
				if ((await begunBy(worker)).includes(executionId)) return worker;
			}
			return undefined;
		},
		{ timeout: 60_000 },
	);
	if (found === undefined) throw new Error(`No worker has begun execution ${executionId}`);
	return found;
}

/** A create that is delayed, so that a test can kill a worker at this moment. */
interface Held {
	/** Resolves with the call as soon as it is delayed. */
	reached: Promise<PlannedCall>;
	/** Ends the delay. */
	release(): void;
}

/** The number of the create that is delayed, counted from now, and what happens to it afterwards. */
type Hold = [which: number, then: 'made, not answered' | 'never made'];

function holdCreates(holds: Hold[]): Held[] {
	const reach = new Map<number, (call: PlannedCall) => void>();
	const plans = new Map<number, Fault[]>();
	const held = holds.map(([which, then]) => {
		let release = (): void => {};
		const until = new Promise<void>((resolve) => (release = resolve));
		const reached = new Promise<PlannedCall>((resolve) => reach.set(which, resolve));
		const when = then === 'never made' ? 'beforeActing' : 'afterActing';
		const wait: Fault = { kind: 'wait', when, until };
		plans.set(which, then === 'never made' ? [wait, { kind: 'break', when }] : [wait]);
		return { reached, release: () => release() };
	});
	sandbox.faults.plan((call) => {
		if (call.operation !== 'createJob') return undefined;
		reach.get(call.nOfOperation)?.(call);
		return plans.get(call.nOfOperation);
	});
	return held;
}

/** The creates at which a worker is killed. They are in different groups of rows that are marked together. */
const kills: Hold[] = [
	[30, 'made, not answered'],
	[110, 'never made'],
];

test('a crash-safe batch loses no job and creates none twice if workers are killed', async () => {
	await useSandbox({ latency: 100 });
	const { api, addWorker } = cluster;
	const size = 200;
	const batch = '2026-11';
	const holds = holdCreates(kills);
	const ledger = await Ledger.open(cluster.api, 10);
	await ledger.add(batch, size);

	const killed: string[] = [];
	for (const { reached, release } of holds) {
		const { body } = await reached;
		const { displayName } = (body as { job: { displayName: string } }).job;
		const execution = String(await ledger.execution(batch, displayName));
		await (await workerWith(execution)).kill();
		killed.push(execution);
		release();
		await addWorker();
	}
	expect(await ledger.settle(batch)).toBe(true);
	await api.deactivate(ledger.workflow.id);

	const count = await ledger.count(batch, sandbox);
	expect(count).toMatchObject({ doubled: 0, lost: [] });
	expect(count.created + count.setAside).toBe(size);
	// Each killed worker leaves behind the rows that it had marked. A create whose connection breaks is set aside
	// separately.
	expect(count.leftBehind.length).toBeLessThanOrEqual(kills.length);
	expect(Math.max(0, ...count.leftBehind)).toBeLessThanOrEqual(CHUNK);
	const broken = kills.filter(([, then]) => then === 'never made');
	const left = count.leftBehind.reduce((sum, rows) => sum + rows, 0);
	expect(count.setAside - left).toBeLessThanOrEqual(broken.length);
	for (const id of killed) {
		expect((await endOf(api, ledger.workflow.id, id))?.status).toBe('error');
	}
}, 300_000);

// This must be the last test, because it leaves only the worker that was started last.
test("n8n's Retry on another worker creates the missing jobs once", async () => {
	await useSandbox();
	const { api, main, workers, addWorker } = cluster;
	const [first = await addWorker(), ...others] = workers.toReversed();
	for (const worker of others) await worker.stop();
	const workflow = await publish(
		api,
		inARow('Retried', [
			webhook('retried'),
			...rows(JSON.stringify([0, 1, 2, 3].map((n) => ({ n })))),
			createNode('=Job {{ $json.n }}', { options: { concurrency: 1 } }),
		]),
	);
	const failWith = async (fault: Fault) => {
		sandbox.faults.plan((call) =>
			call.operation === 'createJob' && itemOf(call) === 2 ? fault : undefined,
		);
		await post(`${main.url}/webhook/retried`, 1, 1);
		const [execution] = await api.executions(workflow.id);
		const id = String(execution?.id);
		expect(await endOf(api, workflow.id, id)).toMatchObject({ status: 'error' });
		return id;
	};
	const retry = async (id: string, loadWorkflow: boolean) => {
		sandbox.faults.clear();
		const retried = await pressRetry(api, id, loadWorkflow);
		await endOf(api, workflow.id, retried);
		return { id: retried, ...(await api.executionResult(retried)) };
	};

	const missing = await failWith(refused);
	expect(jobNames()).toEqual(['Job 0', 'Job 1']);
	const uncertain = await failWith(brokenAfter);
	expect(jobNames().slice(2)).toEqual(['Job 0', 'Job 1', 'Job 2']);
	expect(await begunBy(first)).toEqual(expect.arrayContaining([missing, uncertain]));
	const other = await addWorker();
	await first.stop();

	const made = await retry(missing, false);
	expect(made.error).toBeUndefined();
	expect(jobNames().slice(5)).toEqual(['Job 2', 'Job 3']);
	const { id, error } = await retry(uncertain, true);
	expect(error).toMatch(/the job may exist/);
	expect(jobNames().slice(7)).toEqual(['Job 3']);
	expect(await begunBy(other)).toEqual([made.id, id]);
});
