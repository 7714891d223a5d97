import type { WorkflowFile } from '../../host/api';
import { waitFor } from '../../host/wait';
import { inARow, jobNode, rows, webhook } from '../../host/workflow';
import { post, publish } from '../queue/load';
import { hasEnded, pressRetry } from './host';
import { LONGEST_MS, useOwnHost } from './ownHost';
import { createNode, createsIn, inALoop } from './workflows';

/*
 * If n8n is killed while it creates jobs, Retry of the crashed execution in the restarted n8n creates no job twice.
 */

const host = useOwnHost('crash', { latency: 300 });
beforeAll(() =>
	host.sandbox.faults.plan(({ operation }) =>
		operation === 'listClusters' ? { kind: 'stall', when: 'beforeActing' } : undefined,
	),
);

const items = JSON.stringify(Array.from({ length: 40 }, (_, n) => ({ n })));
const create = (name: string, n = '$json.n') => createNode(`=${name} {{ ${n} }}`, {}, { name });
/** A node whose request the service never answers. */
const list = jobNode('List', { resource: 'cluster', operation: 'getAll' });
const batch = (...nodes: Array<ReturnType<typeof jobNode>>) =>
	inARow('Crash', [webhook('crash'), ...rows(items), ...nodes]);

const displayNames = () => createsIn(host.sandbox).map(({ displayName }) => displayName);

/**
 * Runs a workflow, kills n8n as soon as the service has received this many calls, and starts n8n again.
 *
 * @returns the crashed execution
 */
async function crashAfter(calls: number, workflow: WorkflowFile) {
	const { sandbox } = host;
	sandbox.clearCalls();
	const { id: workflowId } = await publish(host.api, workflow);
	await post(`${host.n8n.url}/webhook/crash`, 1, 1);
	const made = () => sandbox.calls.filter(({ operation }) => operation !== 'login').length;
	await waitFor(async () => await Promise.resolve(made() >= calls || undefined), {
		timeout: LONGEST_MS,
	});
	await host.restart({ kill: true });
	const crashed = await waitFor(
		async () => (await host.api.executions(workflowId, ['crashed'])).at(0),
		{ timeout: LONGEST_MS },
	);
	// This frees the path of the webhook for the next workflow.
	await host.api.call('POST', `/rest/workflows/${workflowId}/deactivate`, {});
	return { id: crashed?.id ?? '', workflowId };
}

/** Retries an execution with the currently saved workflow, and waits until it has ended. */
async function retry({ id, workflowId }: { id: string; workflowId: string }) {
	const { api } = host;
	const retried = await pressRetry(api, id, true);
	const end = async () => (await api.executions(workflowId)).every(hasEnded) || undefined;
	await waitFor(end, { timeout: LONGEST_MS });
	return { id: retried, workflowId, ...(await api.executionResult(retried)) };
}

test.each<[string, calls: number, WorkflowFile]>([
	['in the node', 12, batch(create('Job'))],
	['in the node after it', 41, batch(create('Job'), list)],
	['in the second of two Create nodes', 52, batch(create('Job'), create('Other', '$itemIndex'))],
	['in the third round of a loop', 3, inALoop(webhook('crash'), items, create('Job'))],
])(
	'after n8n was killed %s, Retry creates no job twice, and says that the jobs may exist',
	async (_, calls, workflow) => {
		const { id, workflowId } = await crashAfter(calls, workflow);
		const { error } = await retry({ id, workflowId });
		expect(error).toMatch(
			/n8n was stopped while an earlier execution ran this node; the job may exist/,
		);
		const names = displayNames();
		expect(new Set(names).size).toBe(names.length);
	},
);

test('after the user has looked for the jobs, Create Again If Uncertain creates the missing ones', async () => {
	const workflow = batch(create('Looked'));
	const crashed = await crashAfter(12, workflow);
	const retried = await retry(crashed);
	expect(retried.error).toMatch(/0 of 40 jobs were created, 40 more may exist/);

	const exist = displayNames().map((name) => Number(name.replace('Looked ', '')));
	const missing = `={{ ![${exist.join()}].includes($itemIndex) }}`;
	const { nodes } = batch(
		createNode(
			'=Looked {{ $json.n }}',
			{ options: { createUncertainAgain: missing } },
			{ name: 'Looked', onError: 'continueRegularOutput' },
		),
	);
	await host.api.changeWorkflow(crashed.workflowId, { nodes });
	await retry(retried);
	expect(displayNames().sort()).toEqual(Array.from({ length: 40 }, (_, n) => `Looked ${n}`).sort());
});
