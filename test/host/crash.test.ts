import type { WorkflowFile } from '../../host/api';
import { waitFor } from '../../host/wait';
import { inARow, jobNode, rows, webhook } from '../../host/workflow';
import { post, publish } from '../queue/load';
import { hasEnded, pressRetry } from './host';
import { LONGEST_MS, useOwnHost } from './ownHost';
import { createNode, createsIn, inALoop } from './workflows';

/*
 * An n8n that is killed while it creates jobs, and started again: its Retry of the crashed execution creates none twice.
 */

const host = useOwnHost('crash', { latency: 300 });
beforeAll(() =>
	host.sandbox.faults.plan(({ operation }) =>
		operation === 'listClusters' ? { kind: 'stall', when: 'beforeActing' } : undefined,
	),
);

const items = JSON.stringify(Array.from({ length: 40 }, (_, n) => ({ n })));
const create = (name: string, n = '$json.n') => createNode(`=${name} {{ ${n} }}`, {}, { name });
/** A node whose call the service doesn't answer. */
const list = jobNode('List', { resource: 'cluster', operation: 'getAll' });
const batch = (...nodes: Array<ReturnType<typeof jobNode>>) =>
	inARow('Crash', [webhook('crash'), ...rows(items), ...nodes]);

const displayNames = () => createsIn(host.sandbox).map(({ displayName }) => displayName);

/** Runs a workflow, kills n8n once this many calls were made, and starts it again. @returns the crashed execution */
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
	// Its path is free for the next workflow.
	await host.api.call('POST', `/rest/workflows/${workflowId}/deactivate`, {});
	return { id: crashed?.id ?? '', workflowId };
}

/** Presses Retry, with the currently saved workflow. */
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
	'n8n is killed %s: Retry creates no job twice, and says what to do',
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

test('once the user has looked, Create Again If Uncertain creates those that are missing', async () => {
	const workflow = batch(create('Looked'));
	const crashed = await crashAfter(12, workflow);
	const retried = await retry(crashed);
	expect(retried.error).toMatch(/0 of 40 jobs certainly exist, 40 may/);

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
