import type { Execution } from '../../host/api';
import type { RunningN8n } from '../../host/n8n';
import { waitFor } from '../../host/wait';
import type { Sandbox } from '../../sandbox';
import { holdCreates, type Hold } from './holds';
import { CHUNK, Ledger, workerOf } from './ledger';
import { begunBy } from './load';
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
async function workerWith(executionId: string): Promise<RunningN8n> {
	return await until(
		`a worker with execution ${executionId}`,
		async () => await workerOf(cluster().workers, executionId, begunBy),
	);
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
	await hold.reached;
	await until('three jobs', async () => sandbox.store.jobs.size >= 3 || undefined);
	const made = sandbox.store.jobs.size;

	const worker = await workerWith(id);
	const killedAt = performance.now();
	await worker.kill();
	hold.release();
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
	await hold.reached;
	for (const worker of workers) await worker.kill();
	hold.release();
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

/** Waits until executions have ended well. @returns how long the last of them took, in seconds */
async function endOf(workflowId: string, ...ids: string[]): Promise<number> {
	const ended = await until('the end of the executions', async () => {
		const all = (await cluster().api.executions(workflowId)).filter(
			({ id, stoppedAt }) => ids.includes(id) && stoppedAt,
		);
		return all.length === ids.length ? all : undefined;
	});
	expect(ended.map(({ status }) => status)).toEqual(ids.map(() => 'success'));
	const [{ startedAt, stoppedAt } = { startedAt: '', stoppedAt: '' }] = ended;
	return (Date.parse(String(stoppedAt)) - Date.parse(startedAt)) / 1000;
}

/** Conditions that no row meets. */
const never = { conditions: [{ keyName: 'state', condition: 'eq', keyValue: 'none' }] };

/** What ends in the middle of the batch, and at which create, each in rows that are marked together. */
const kills: Array<[what: 'worker' | 'PostgreSQL' | 'Redis', hold: Hold]> = [
	['worker', [30, 'made, not answered']],
	['worker', [110, 'never made']],
	['PostgreSQL', [190, 'made, not answered']],
	['Redis', [270, 'never made']],
	['worker', [350, 'made, not answered']],
];

test('a batch that writes down what it does loses and doubles nothing, whatever is killed', async () => {
	const sandbox = await cluster().useSandbox({ latency: 100 });
	const { api, addWorker, workers, postgres, redis } = cluster();
	const size = 500;
	const batch = '2026-11';
	const startedAt = performance.now();
	await redis.keepOnDisk();
	const holds = holdCreates(sandbox, ...kills.map(([, hold]) => hold));
	const ledger = await Ledger.open(cluster(), 10);
	await ledger.add(batch, size);

	for (const [index, { reached, release }] of holds.entries()) {
		const { body } = await reached;
		const what = kills[index]?.[0];
		if (what === 'worker') {
			const { displayName } = (body as { job: { displayName: string } }).job;
			await (await workerWith(String(await ledger.execution(batch, displayName)))).kill();
			release();
			await addWorker();
		} else {
			const killed = what === 'PostgreSQL' ? postgres : redis;
			await killed.kill();
			release();
			await killed.startAgain();
		}
	}
	expect(await ledger.settle(batch)).toBe(true);
	await api.deactivate(ledger.workflow.id);
	await redis.forget();

	const count = await ledger.count(batch, size, sandbox);
	const seconds = (performance.now() - startedAt) / 1000;
	lines.push(
		`The batch that writes down what it does, ${size} rows, killed in mid-create: ` +
			`${kills.map(([what]) => what).join(', ')}. ${sandbox.store.jobs.size} jobs, ${count.doubled} doubled, ` +
			`${count.lost.length} lost; ${count.created} rows created, ${count.setAside} set aside ` +
			`(left behind: ${count.leftBehind.join(', ')}); ` +
			`${seconds.toFixed(0)} s, ${workers.length} workers.`,
	);
	expect(count).toMatchObject({ doubled: 0, lost: [], neverMade: [], missing: [] });
	expect(count.created + count.setAside).toBe(size);
	// Each death leaves what was marked then; a create whose connection breaks is set aside by itself.
	expect(count.leftBehind.length).toBeLessThanOrEqual(kills.length);
	expect(Math.max(0, ...count.leftBehind)).toBeLessThanOrEqual(CHUNK);
	const broken = kills.filter(([, [, then]]) => then === 'never made');
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
	await endOf(ledger.workflow.id, ...runs);
	// One that finds its rows taken ends, and leaves the rest to the next.
	await endOf(ledger.workflow.id, await api.run(ledger.workflow.id, 'Every minute'));

	const count = await ledger.count(batch, size, sandbox);
	expect(sandbox.store.jobs.size).toBe(size);
	expect(count).toMatchObject({ created: size, doubled: 0, lost: [], neverMade: [], missing: [] });
});

test('it creates at least half as many jobs a second as a batch that writes nothing down', async () => {
	await cluster().useSandbox({ latency: 50 });
	const { api, example } = cluster();
	const size = 500;
	const rounds = 2;
	const rows = Array.from({ length: size }, (_, index) => ({
		customer: `Customer ${index}`,
		workflow: 'monthly-invoice',
		cluster: 'wc-000001',
	}));
	const { name, nodes, connections, settings } = example('batch-with-error-branch.json');
	const plain = await api.createWorkflow({
		name: `${name}, ${size} rows`,
		nodes: nodes.map((node) =>
			node.name === 'Rows'
				? { ...node, parameters: { ...node.parameters, jsonOutput: JSON.stringify({ rows }) } }
				: node,
		),
		connections,
		...(settings && { settings }),
	});
	const ledger = await Ledger.open(cluster(), 600);
	await api.deactivate(ledger.workflow.id);

	const seconds = { plain: 0, ledger: 0 };
	for (let round = 0; round < rounds; round += 1) {
		seconds.plain += await endOf(plain.id, await api.run(plain.id, 'Run by hand'));
		await ledger.add(`round ${round}`, size);
		const run = await api.run(ledger.workflow.id, 'Every minute');
		seconds.ledger += await endOf(ledger.workflow.id, run);
		expect((await ledger.rows(`round ${round}`)).map(({ state }) => state)).toEqual(
			new Array(size).fill('created'),
		);
	}
	const perSecond = (spent: number) => (rounds * size) / spent;
	const ratio = seconds.plain / seconds.ledger;
	lines.push(
		`Jobs a second: ${perSecond(seconds.ledger).toFixed(0)} with a ledger, ` +
			`${perSecond(seconds.plain).toFixed(0)} without, ${ratio.toFixed(2)} of it.`,
	);
	expect(ratio).toBeGreaterThan(0.5);
});
