import { join } from 'node:path';

import { saveCredential } from '../../host/examples';
import type { RunningN8n } from '../../host/n8n';
import { clusterSteps, startCluster, type Cluster } from '../../host/queue/cluster';
import { Steps } from '../../host/steps';
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
 * An n8n in queue mode, whose two workers share an account: one token, a cancel, and a retry reach the other worker;
 * one that is killed loses and doubles nothing. What exists is asked of the sandbox, not of n8n.
 */

/**
 * A worker says every second that it is alive, and is taken for dead after ten, while a test still looks. n8n's own
 * settings are ten seconds and sixty.
 */
const soonTakenForDead = {
	QUEUE_WORKER_LOCK_RENEW_TIME: '1000',
	QUEUE_WORKER_LOCK_DURATION: '10000',
	QUEUE_WORKER_STALLED_INTERVAL: '1000',
};

let cluster: Cluster;
let sandbox: Sandbox;

beforeAll(async () => {
	cluster = await startCluster({
		dataFolder: join(__dirname, '../../host/.data/queue'),
		workers: 2,
		env: soonTakenForDead,
		steps: new Steps(clusterSteps),
	});
}, 15 * 60_000);
afterAll(async () => await cluster.stop());
afterEach(async () => await sandbox.close());

/** Starts a sandbox for the rest of the test, and has the credential lead to it. */
async function useSandbox(options?: SandboxOptions): Promise<void> {
	sandbox = await startSandbox(options);
	await saveCredential(cluster.api, sandbox);
}

const jobNames = () => [...sandbox.store.jobs.values()].map(({ displayName }) => displayName);

const callsOf = (operation: string) => sandbox.calls.filter((call) => call.operation === operation);

test('a cancel ends an execution on its worker, and terminates its jobs where it is set so', async () => {
	await useSandbox();
	const { api, main } = cluster;
	const workflow = await publish(
		api,
		inARow('Cancelled', [
			webhook('cancelled'),
			...rows('[0, 1, 2, 3, 4, 5, 6]'),
			createNode('Cancelled', { options: { concurrency: 1, ifStopped: 'terminate' } }),
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
	const states = () => [...sandbox.store.jobs.values()].map(({ state }) => state);
	await waitFor(() => !states().includes('running') || undefined, soon);
	expect(states()).toEqual(new Array(5).fill('terminated'));
	const stopped = async () => (await api.executions(workflow.id, ['canceled'])).length;
	expect(await waitFor(async () => (await stopped()) || undefined, soon)).toBe(1);
	await api.deactivate(workflow.id);
	// The sixth waits for itself; the seventh is sent meanwhile, and turned away as well. Neither is sent again.
	expect(callsOf('createJob').length).toBeLessThanOrEqual(7);
});

test('an execution that waits for each of its jobs continues, on either worker, with what that job says', async () => {
	await useSandbox();
	const { api, main } = cluster;
	const parameters = {
		workflowUid: 'call-when-done',
		// Each job calls again while the execution waits for the next one.
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

test('executions whose logins end the token before share it: few logins, no job twice', async () => {
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
	// Both workers have their hands full.
	const answers = await post(`${cluster.main.url}/webhook/nightly`, total, 20);
	const lives = Math.ceil((performance.now() - startedAt) / 1000 / tokenLifetime);

	expect(answers.filter((status) => status !== 200 && status !== 0)).toEqual([]);
	// n8n's main process misses, about once in a thousand quick executions, that a worker has brought one to its end:
	// the job is made, the worker's log has the end, and the caller waits for ever.
	expect(answers.filter((status) => status === 0).length).toBeLessThanOrEqual(2);
	expect(jobNames()).toHaveLength(total);
	expect(new Set(jobNames()).size).toBe(total);
	expect(callsOf('login').length).toBeLessThanOrEqual(4 * lives);
	expect(await cluster.api.executions(nightly.id, ['error', 'crashed'])).toEqual([]);
}, 300_000);

/** Waits until executions have ended well. */
async function endWell(workflowId: string, ...ids: string[]): Promise<void> {
	for (const id of ids) {
		expect(await endOf(cluster.api, workflowId, id)).toMatchObject({ status: 'success' });
	}
}

/** Conditions that no row meets. */
const never = { conditions: [{ keyName: 'state', condition: 'eq', keyValue: 'none' }] };

test('four executions that begin at once never take the same row', async () => {
	await useSandbox({ latency: 20 });
	const { api } = cluster;
	const size = 400;
	const batch = 'at once';
	// Nothing keeps them apart but the step of the database that marks the rows.
	const ledger = await Ledger.open(cluster.api, 600, {
		'Only if none is being sent': { filters: never },
	});
	await api.deactivate(ledger.workflow.id);
	await ledger.add(batch, size);
	const runs = await Promise.all(
		[1, 2, 3, 4].map(async () => await api.run(ledger.workflow.id, 'Every minute')),
	);
	await endWell(ledger.workflow.id, ...runs);
	// One that finds its rows taken ends, and leaves the rest to the next.
	await endWell(ledger.workflow.id, await api.run(ledger.workflow.id, 'Every minute'));

	const count = await ledger.count(batch, sandbox);
	expect(sandbox.store.jobs.size).toBe(size);
	expect(count).toMatchObject({ created: size, doubled: 0, lost: [] });
});

/** The worker that has begun this execution. */
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

/** A create that is held, so that something can be killed just then. */
interface Held {
	/** Resolves with the call when it is held. */
	reached: Promise<PlannedCall>;
	/** Lets the call go on. */
	release(): void;
}

/** Which create is held, counted from now, and what happens to it when it is let go. */
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

/** At which creates a worker is killed, each in rows that are marked together. */
const kills: Hold[] = [
	[30, 'made, not answered'],
	[110, 'never made'],
];

test('a batch that writes down what it does loses and doubles nothing when workers are killed', async () => {
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
	// Each death leaves what was marked then; a create whose connection breaks is set aside by itself.
	expect(count.leftBehind.length).toBeLessThanOrEqual(kills.length);
	expect(Math.max(0, ...count.leftBehind)).toBeLessThanOrEqual(CHUNK);
	const broken = kills.filter(([, then]) => then === 'never made');
	const left = count.leftBehind.reduce((sum, rows) => sum + rows, 0);
	expect(count.setAside - left).toBeLessThanOrEqual(broken.length);
	for (const id of killed) {
		expect((await endOf(api, ledger.workflow.id, id))?.status).toBe('error');
	}
}, 300_000);

// The last of these, since only one worker is left after it: that which was started last.
test("n8n's Retry by another worker makes what is missing, once", async () => {
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
