import type { SavedWorkflow } from '../../host/api';
import { waitFor } from '../../host/wait';
import { inARow, rows, webhook } from '../../host/workflow';
import type { Fault, Sandbox } from '../../sandbox';
import { endOf } from '../host/host';
import { createNode, inALoop } from '../host/workflows';
import { brokenAfter, itemOf, refused } from '../reliability/batch';
import { begunBy, byWebhook, post, publish } from './load';
import { useCluster } from './useCluster';

/*
 * Two workers share an account: one token, a cancel, and a retry reach the other worker. What exists is asked of the
 * sandbox, not of n8n.
 */

const cluster = useCluster('queue-load', { workers: 2 });

/** How many calls of a webhook are made at once: both workers have their hands full. */
const atOnce = 20;

let nightly: SavedWorkflow;
const nightlyUrl = () => `${cluster().main.url}/webhook/nightly`;

beforeAll(async () => {
	const workflow = byWebhook(cluster().example('nightly-job.json'), 'nightly');
	nightly = await publish(cluster().api, workflow);
});

/** Calls the nightly job's webhook a number of times. */
async function callNightly(times: number): Promise<number[]> {
	return await post(nightlyUrl(), times, atOnce);
}

/**
 * Expects that every call went well. n8n's main process misses, about once in a thousand quick executions, that a
 * worker has brought one to its end: the job is made, the worker's log has the end, and the caller waits for ever.
 */
function expectAnswered(statuses: number[]): void {
	expect(statuses.filter((status) => status !== 200 && status !== 0)).toEqual([]);
	expect(statuses.filter((status) => status === 0).length).toBeLessThanOrEqual(2);
}

function jobsOf({ store }: Sandbox) {
	const jobs = [...store.jobs.values()];
	return {
		uids: jobs.map(({ uid }) => String(uid)),
		names: jobs.map(({ displayName }) => displayName),
	};
}

const callsOf = ({ calls }: Sandbox, operation: string) =>
	calls.filter((call) => call.operation === operation);

test('a cancel ends an execution on its worker, and terminates its jobs where it is set so', async () => {
	const sandbox = await cluster().useSandbox();
	const { api, main } = cluster();
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
		() => callsOf(sandbox, 'createJob').some(({ status }) => status === 429) || undefined,
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
	expect(callsOf(sandbox, 'createJob').length).toBeLessThanOrEqual(7);
});

test('an execution that waits for each of its jobs continues, on either worker, with what that job says', async () => {
	const sandbox = await cluster().useSandbox();
	const { api, main } = cluster();
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
	expect(callsOf(sandbox, 'createJob')).toHaveLength(12);
	await api.deactivate(workflow.id);
}, 150_000);

test('executions whose logins end the token before share it: few logins, no job twice', async () => {
	const tokenLifetime = 3;
	const total = 200;
	const sandbox = await cluster().useSandbox({ tokenLifetime, oneSession: true });
	const startedAt = performance.now();
	const answers = await callNightly(total);
	const lives = Math.ceil((performance.now() - startedAt) / 1000 / tokenLifetime);

	const { uids, names } = jobsOf(sandbox);
	expectAnswered(answers);
	expect(uids).toHaveLength(total);
	expect(new Set(names).size).toBe(total);
	expect(callsOf(sandbox, 'login').length).toBeLessThanOrEqual(4 * lives);
	expect(await cluster().api.executions(nightly.id, ['error', 'crashed'])).toEqual([]);
}, 300_000);

// The last of these, since only one worker is left after it.
test("n8n's Retry by another worker makes what is missing, once", async () => {
	const sandbox = await cluster().useSandbox();
	const { api, main, workers, addWorker } = cluster();
	const [first, ...others] = workers;
	if (first === undefined) throw new Error('There is no worker');
	for (const worker of others) await worker.stop();
	const workflow = await publish(
		api,
		inARow('Retried', [
			webhook('retried'),
			...rows(JSON.stringify([0, 1, 2, 3].map((n) => ({ n })))),
			createNode('=Job {{ $json.n }}', { options: { concurrency: 1 } }),
		]),
	);
	const jobs = () => jobsOf(sandbox).names;
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
		const path = `/rest/executions/${id}/retry`;
		const retried = await api.call<{ id: string }>('POST', path, { loadWorkflow });
		await endOf(api, workflow.id, retried.id);
		return { id: retried.id, ...(await api.executionResult(retried.id)) };
	};

	const missing = await failWith(refused);
	expect(jobs()).toEqual(['Job 0', 'Job 1']);
	const uncertain = await failWith(brokenAfter);
	expect(jobs().slice(2)).toEqual(['Job 0', 'Job 1', 'Job 2']);
	expect(await begunBy(first)).toEqual(expect.arrayContaining([missing, uncertain]));
	const other = await addWorker();
	await first.stop();

	const made = await retry(missing, false);
	expect(made.error).toBeUndefined();
	expect(jobs().slice(5)).toEqual(['Job 2', 'Job 3']);
	const { id, error } = await retry(uncertain, true);
	expect(error).toMatch(/the job may exist/);
	expect(jobs().slice(7)).toEqual(['Job 3']);
	expect(await begunBy(other)).toEqual([made.id, id]);
});
