import type { Execution, WorkflowNode } from '../../host/api';
import type { RunningN8n } from '../../host/n8n';
import { waitFor } from '../../host/wait';
import type { Fault, PlannedCall, Sandbox } from '../../sandbox';
import { begunBy, publish } from './load';
import { useCluster } from './useCluster';

/*
 * Workers that are killed in the middle of a batch: what n8n does with the execution, and a workflow that
 * loses and doubles nothing nevertheless. What exists is asked of the sandbox.
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

const lines: string[] = [];

afterAll(() => {
	process.stdout.write(`\n${lines.join('\n')}\n`);
});

const patience = { timeout: 60_000 };

/** Waits until there is something to see. */
async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
	const seen = await waitFor(look, patience);
	if (seen === undefined) throw new Error(`In vain: ${what}`);
	return seen;
}

/** The worker that has begun this execution. */
async function workerOf(executionId: string): Promise<RunningN8n> {
	return await until(`a worker with execution ${executionId}`, async () => {
		for (const worker of cluster().workers) {
			if ((await begunBy(worker)).includes(executionId)) return worker;
		}
		return undefined;
	});
}

/** A create that is held, so that a worker can be killed just then. */
interface Held {
	/** Resolves with the call when it is held. */
	reached: Promise<PlannedCall>;
	/** Lets the call go on. */
	release(): void;
}

/** Which create is held, counted from now, and what happens when it is let go. */
type Hold = [which: number, then: 'made, not answered' | 'never made'];

/** A promise, and what fulfils it. */
function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
	let resolve: (value: T) => void = () => undefined;
	const promise = new Promise<T>((fulfil) => (resolve = fulfil));
	return { promise, resolve };
}

/** Holds creates of a sandbox, in place of what was held before. */
function holdCreates(sandbox: Sandbox, ...holds: Hold[]): Held[] {
	const held = holds.map(([which, then]) => {
		const reached = deferred<PlannedCall>();
		const released = deferred<undefined>();
		const wait = { kind: 'wait', until: released.promise } as const;
		const faults: Fault[] =
			then === 'never made'
				? [
						{ ...wait, when: 'beforeActing' },
						{ kind: 'break', when: 'beforeActing' },
					]
				: [{ ...wait, when: 'afterActing' }];
		return { which, faults, reached, released };
	});
	sandbox.faults.plan((call) => {
		if (call.operation !== 'createJob') return undefined;
		const hold = held.find(({ which }) => which === call.nOfOperation);
		hold?.reached.resolve(call);
		return hold?.faults;
	});
	return held.map(({ reached, released }) => ({
		reached: reached.promise,
		release: () => released.resolve(undefined),
	}));
}

const jobsNamed = ({ store }: Sandbox) => [...store.jobs.values()].map((job) => job.displayName);

/** How many are there more than once. */
const doubled = (names: string[]) => names.length - new Set(names).size;

test('an execution whose worker was killed ends with an error, is not run again, and knows nothing of its jobs', async () => {
	const sandbox = await cluster().useSandbox();
	const { api, example, addWorker } = cluster();
	const batch = example('batch-with-error-branch.json');
	const [hold] = holdCreates(sandbox, [3, 'made, not answered']);
	const id = await api.run(batch.id, 'Run by hand');
	await hold?.reached;
	await until('three jobs', async () => sandbox.store.jobs.size >= 3 || undefined);
	const made = sandbox.store.jobs.size;

	const worker = await workerOf(id);
	const killedAt = performance.now();
	await worker.kill();
	hold?.release();
	const ended: Execution = await until('the end of the execution', async () =>
		(await api.executions(batch.id)).find(
			(execution) => execution.id === id && execution.stoppedAt,
		),
	);
	const seconds = (performance.now() - killedAt) / 1000;
	const { error, output } = await api.executionResult(id);
	lines.push(
		`Killed in mid-batch: ${made} jobs made; the execution ends as '${ended.status}' after ` +
			`${seconds.toFixed(1)} s, with: ${error}. It has the output of: ${Object.keys(output).join() || 'no node'}.`,
	);
	expect(ended.status).toBe('error');
	expect(output).not.toHaveProperty('Create a job');
	expect(await api.executions(batch.id)).toHaveLength(1);
	expect(sandbox.store.jobs.size).toBe(made);

	// Whoever runs it again makes those jobs again: n8n has kept nothing of them.
	const again = await api.run(batch.id, 'Run by hand');
	await until('the second run', async () =>
		(await api.executions(batch.id)).find(
			(execution) => execution.id === again && execution.stoppedAt,
		),
	);
	lines.push(`Run once more, it makes ${doubled(jobsNamed(sandbox))} jobs twice.`);
	expect(doubled(jobsNamed(sandbox))).toBe(made);
	await addWorker();
});

test('an execution whose worker was the last one goes on forever, as it seems, until there is a worker again', async () => {
	const sandbox = await cluster().useSandbox();
	const { api, example, addWorker, workers } = cluster();
	const batch = example('batch-with-error-branch.json');
	const [hold] = holdCreates(sandbox, [1, 'never made']);
	const id = await api.run(batch.id, 'Run by hand');
	await hold?.reached;
	for (const worker of workers) await worker.kill();
	hold?.release();
	const status = async () =>
		(await api.executions(batch.id)).find((execution) => execution.id === id)?.status;
	// Three times as long as a worker is given.
	const ended = await waitFor(
		async () => ((await status()) === 'running' ? undefined : await status()),
		{ timeout: 9_000 },
	);
	expect(ended).toBeUndefined();
	await addWorker();
	const after = await until('its end', async () => {
		const now = await status();
		return now === 'running' ? undefined : now;
	});
	lines.push(`With no worker left it stays 'running'; with a new one it ends as '${after}'.`);
	expect(after).toBe('error');
	await addWorker();
});

test('a batch that writes down what it does loses and doubles nothing, however often a worker is killed', async () => {
	const sandbox = await cluster().useSandbox({ latency: 100 });
	const { api, example, addWorker } = cluster();
	const size = 60;
	const rows = Array.from({ length: size }, (_, index) => ({
		key: `2026-11 ${String(index).padStart(3, '0')}`,
		customer: `Customer ${index}`,
		cluster: 'wc-000001',
	}));
	const secondsLeft = 15;
	const changes: Record<string, WorkflowNode['parameters']> = {
		Rows: { jsonOutput: JSON.stringify({ rows }) },
		'Every minute': { rule: { interval: [{ field: 'seconds', secondsInterval: 2 }] } },
		'Set aside what was left': {
			filters: {
				conditions: [
					{ keyName: 'state', condition: 'eq', keyValue: 'sending' },
					{
						keyName: 'updatedAt',
						condition: 'lt',
						keyValue: `={{ $now.minus({ seconds: ${secondsLeft} }).toISO() }}`,
					},
				],
			},
		},
	};
	const { name, nodes, connections, settings } = example('crash-safe-batch.json');
	const workflow = await publish(api, {
		name: `${name}, every two seconds`,
		nodes: nodes.map((node) => ({
			...node,
			parameters: { ...node.parameters, ...changes[node.name] },
		})),
		connections,
		...(settings && { settings }),
	});
	const ledger = async () => await api.dataTableRows('Job ledger');

	const filled = await api.run(workflow.id, 'Fill the ledger by hand');
	const { status } = await until('the end of the filling', async () =>
		(await api.executions(workflow.id)).find(({ id, stoppedAt }) => id === filled && stoppedAt),
	);
	const { error } = await api.executionResult(filled);
	expect({ status, error }).toEqual({ status: 'success', error: undefined });
	expect(await ledger()).toHaveLength(size);

	const killed = new Set<RunningN8n>();
	const holds = holdCreates(
		sandbox,
		[8, 'made, not answered'],
		[20, 'never made'],
		[35, 'made, not answered'],
	);
	for (const { reached, release } of holds) {
		const { body } = await reached;
		const { displayName } = (body as { job: { displayName: string } }).job;
		const row = (await ledger()).find(({ key }) => displayName === `Invoice ${String(key)}`);
		const worker = await workerOf(String(row?.['execution']));
		await worker.kill();
		release();
		if (!killed.has(worker)) await addWorker();
		killed.add(worker);
	}

	const rest = await until('the end of the batch', async () => {
		const now = await ledger();
		return now.some(({ state }) => state === 'waiting' || state === 'sending') ? undefined : now;
	});
	await api.deactivate(workflow.id);

	const created = rest.filter(({ state }) => state === 'created');
	const setAside = rest.filter(({ state }) => state === 'may exist');
	const made = jobsNamed(sandbox);
	const recorded = new Set(created.map(({ jobId }) => jobId));
	const nameOf = ({ key }: Record<string, unknown>) => `Invoice ${String(key)}`;
	const setAsideNames = new Set(setAside.map(nameOf));
	const jobs = [...sandbox.store.jobs.values()];
	const lost = jobs.filter(
		({ uid, displayName }) => !recorded.has(uid) && !setAsideNames.has(displayName),
	);
	const neverMade = created.filter(({ jobId }) => !sandbox.store.jobs.has(String(jobId)));
	lines.push(
		`The batch that writes down what it does, ${size} rows, ${killed.size} workers killed in mid-create: ` +
			`${made.length} jobs, ${doubled(made)} doubled, ${lost.length} lost; ${created.length} rows created, ` +
			`${setAside.length} set aside, of which ${setAside.filter((row) => made.includes(nameOf(row))).length} exist.`,
	);
	expect(doubled(made)).toBe(0);
	expect(lost).toEqual([]);
	expect(neverMade).toEqual([]);
	expect(created.length + setAside.length).toBe(size);
	expect(setAside.length).toBeGreaterThanOrEqual(killed.size);
}, 180_000);
