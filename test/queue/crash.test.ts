import type { RunningN8n } from '../../host/n8n';
import { waitFor } from '../../host/wait';
import type { Fault, PlannedCall, Sandbox } from '../../sandbox';
import { endOf } from '../host/host';
import { CHUNK, Ledger } from './ledger';
import { begunBy } from './load';
import { useCluster } from './useCluster';

/*
 * A worker is killed in the middle of a batch that writes down what it does: nothing is lost or doubled. What exists
 * is asked of the sandbox.
 */

/**
 * A worker says every second that it is alive, and is taken for dead after three. n8n's own settings are ten
 * seconds and sixty.
 */
const soonTakenForDead = {
	QUEUE_WORKER_LOCK_RENEW_TIME: '1000',
	QUEUE_WORKER_LOCK_DURATION: '3000',
	QUEUE_WORKER_STALLED_INTERVAL: '1000',
};

const cluster = useCluster('queue-crash', { workers: 2, env: soonTakenForDead });

/** The worker that has begun this execution. */
async function workerWith(executionId: string): Promise<RunningN8n> {
	const found = await waitFor(
		async () => {
			for (const worker of cluster().workers) {
				if ((await begunBy(worker)).includes(executionId)) return worker;
			}
			return undefined;
		},
		{ timeout: 60_000 },
	);
	if (found === undefined) throw new Error(`No worker has begun execution ${executionId}`);
	return found;
}

/** Waits until executions have ended well. */
async function endWell(workflowId: string, ...ids: string[]): Promise<void> {
	for (const id of ids) {
		expect(await endOf(cluster().api, workflowId, id)).toMatchObject({ status: 'success' });
	}
}

/** Conditions that no row meets. */
const never = { conditions: [{ keyName: 'state', condition: 'eq', keyValue: 'none' }] };

/** A create that is held, so that something can be killed just then. */
interface Held {
	/** Resolves with the call when it is held. */
	reached: Promise<PlannedCall>;
	/** Lets the call go on. */
	release(): void;
}

/** Which create is held, counted from now, and what happens to it when it is let go. */
type Hold = [which: number, then: 'made, not answered' | 'never made'];

/** Holds creates of a sandbox, instead of what was held before. */
function holdCreates({ faults }: Sandbox, holds: Hold[]): Held[] {
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
	faults.plan((call) => {
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
	[190, 'made, not answered'],
];

test('a batch that writes down what it does loses and doubles nothing when workers are killed', async () => {
	const sandbox = await cluster().useSandbox({ latency: 100 });
	const { api, addWorker } = cluster();
	const size = 300;
	const batch = '2026-11';
	const holds = holdCreates(sandbox, kills);
	const ledger = await Ledger.open(cluster(), 10);
	await ledger.add(batch, size);

	for (const { reached, release } of holds) {
		const { body } = await reached;
		const { displayName } = (body as { job: { displayName: string } }).job;
		await (await workerWith(String(await ledger.execution(batch, displayName)))).kill();
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
}, 300_000);

test('four executions that begin at once never take the same row', async () => {
	const sandbox = await cluster().useSandbox({ latency: 20 });
	const { api } = cluster();
	const size = 400;
	const batch = 'at once';
	// Nothing keeps them apart but the step of the database that marks the rows.
	const ledger = await Ledger.open(cluster(), 600, {
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
