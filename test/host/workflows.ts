import type { SavedWorkflow, WorkflowFile, WorkflowNode } from '../../host/api';
import type { ExecutionResult } from '../../host/executionResult';
import type { Host } from '../../host/host';
import { inARow, jobNode, node, rows } from '../../host/workflow';
import { CLUSTER, clusterById } from '../support/fixture';
import { runToEnd } from './host';

/** An example as the host holds it. */
export function example({ examples }: Host, file: string): SavedWorkflow {
	const workflow = examples.get(file);
	if (workflow === undefined) throw new Error(`There is no examples/${file}`);
	return workflow;
}

/** A node that creates a job. @param parameters what differs from a usual one */
export const createNode = (
	displayName: string,
	parameters: WorkflowNode['parameters'] = {},
	more: Partial<WorkflowNode> = {},
) =>
	jobNode(
		more.name ?? 'Create',
		{ workflowUid: 'template-1', workCluster: clusterById(CLUSTER), displayName, ...parameters },
		more,
	);

/** Runs a workflow by one of its triggers, as the editor's button does, to its end. */
export async function run(host: Host, file: string, trigger?: string): Promise<ExecutionResult> {
	const { id, status } = await runToEnd(host, example(host, file).id, trigger);
	expect(status).toBe('success');
	return await host.api.executionResult(id);
}

/**
 * Fills in what a user has to. What was filled in before is gone.
 * @param parameters the name of a node to what is set in it
 */
export async function fillIn(
	host: Host,
	file: string,
	parameters: Record<string, WorkflowNode['parameters']>,
): Promise<SavedWorkflow> {
	const { id, name, nodes, connections } = example(host, file);
	const changed = nodes.map((node) => ({
		...node,
		parameters: { ...node.parameters, ...parameters[node.name] },
	}));
	return await host.api.changeWorkflow(id, { name, nodes: changed, connections });
}

/** The customers for whom the examples that continue create a job each, as their node holds them. */
export const customers = (names: string[]): WorkflowNode['parameters'] => ({
	assignments: {
		assignments: [
			{ id: 'customers', name: 'customers', value: JSON.stringify(names), type: 'array' },
		],
	},
});

/**
 * Loop Over Items: a node for one item after the other. What has come of all of them reaches the node Next.
 * @param list the items as JSON, each in the field `rows`
 */
export function inALoop(trigger: WorkflowNode, list: string, repeated: WorkflowNode): WorkflowFile {
	const loop = node('Loop', 'n8n-nodes-base.splitInBatches', {}, { typeVersion: 3 });
	const next = node('Next', 'n8n-nodes-base.noOp', {});
	const workflow = inARow('Loop', [trigger, ...rows(list), loop, repeated, next]);
	const to = (name: string) => [{ node: name, type: 'main', index: 0 }];
	workflow.connections['Loop'] = { main: [to('Next'), to(repeated.name)] };
	workflow.connections[repeated.name] = { main: [to('Loop')] };
	return workflow;
}
