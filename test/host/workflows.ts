import type { SavedWorkflow, WorkflowFile, WorkflowNode } from '../../host/api';
import { inARow, jobNode, node, rows } from '../../host/workflow';
import type { Fault, NewJob, Sandbox } from '../../sandbox';
import { CLUSTER, clusterById } from '../support/fixture';
import { ends, execution, publish, runToEnd, soon, type Ended, type HostUnderTest } from './host';

/** The parameters of a node. */
type Fields = WorkflowNode['parameters'];

/**
 * Returns a node that creates a job.
 *
 * @param parameters parameters that differ from the default ones
 */
export const createNode = (
	displayName: string,
	parameters: Fields = {},
	more: Partial<WorkflowNode> = {},
) =>
	jobNode(
		more.name ?? 'Create',
		{ workflowUid: 'template-1', workCluster: clusterById(CLUSTER), displayName, ...parameters },
		more,
	);

/** Runs an example by one of its triggers, expects that it succeeds, and returns the output of its nodes. */
export async function run(host: HostUnderTest, file: string, trigger?: string) {
	const { status, output } = await runToEnd(host, (await host.example(file)).id, trigger);
	expect(status).toBe('success');
	return output;
}

/** Waits until a workflow has this many executions and all have ended, and returns them, the latest first. */
export async function endedOf(
	{ api }: HostUnderTest,
	workflowId: string,
	count = 1,
): Promise<Ended[]> {
	const ended = await soon(async () => {
		const executions = await api.executions(workflowId);
		return (
			executions.length >= count &&
			executions.every(({ status }) => ends.includes(status)) &&
			executions
		);
	});
	expect(ended).toHaveLength(count);
	return await Promise.all(ended.map(async ({ id }) => await execution(api, workflowId, id).end()));
}

/**
 * Returns a workflow with changed parameters.
 *
 * @param parameters changed parameters, by the name of the node
 */
export function changed(
	{ name, nodes, connections, settings }: WorkflowFile,
	parameters: Record<string, Fields>,
): WorkflowFile {
	const others = nodes.map((each) => ({
		...each,
		parameters: { ...each.parameters, ...parameters[each.name] },
	}));
	return { name, nodes: others, connections, ...(settings && { settings }) };
}

/** Fills in the parameters of an example that a user has to fill in. Earlier values are lost. */
export async function fillIn(
	host: HostUnderTest,
	file: string,
	parameters: Record<string, Fields>,
): Promise<SavedWorkflow> {
	const workflow = await host.example(file);
	return await host.api.changeWorkflow(workflow.id, changed(workflow, parameters));
}

/**
 * Returns a workflow with Loop Over Items, which runs a node for one item at a time. The node Next gets all results.
 *
 * @param list items as JSON, each of which becomes the field `rows`
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

/**
 * Publishes a sub-workflow, in which each node is connected to the next. It gets the items of its parent.
 *
 * @param connections connections that replace those to the next node
 * @returns the ID of the sub-workflow, and a node that runs it and returns its output
 */
export async function subWorkflow(
	{ api }: Pick<HostUnderTest, 'api'>,
	nodes: WorkflowNode[],
	connections: WorkflowFile['connections'] = {},
): Promise<{ id: string; execute: WorkflowNode }> {
	const start = node(
		'Start',
		'n8n-nodes-base.executeWorkflowTrigger',
		{ inputSource: 'passthrough' },
		{ typeVersion: 1.1 },
	);
	const workflow = inARow('Sub', [start, ...nodes]);
	Object.assign(workflow.connections, connections);
	const { id } = await publish(api, workflow);
	const execute = node(
		'Execute',
		'n8n-nodes-base.executeWorkflow',
		{ workflowId: { __rl: true, mode: 'id', value: id } },
		{ typeVersion: 1.2 },
	);
	return { id, execute };
}

/** Returns the jobs that a sandbox was asked to create. */
export const createsIn = ({ calls }: Sandbox): NewJob[] =>
	calls
		.filter(({ operation }) => operation === 'createJob')
		.map(({ body }) => (body as { job: NewJob }).job);

/**
 * Plans faults for creates, and no other faults.
 *
 * @param planned each fault under the name of its job, or under the number of its create, counted from 1
 */
export function planCreates({ faults }: Sandbox, planned: Record<string | number, Fault>): void {
	faults.plan(({ operation, nOfOperation, body }) => {
		if (operation !== 'createJob') return undefined;
		return planned[nOfOperation] ?? planned[(body as { job: NewJob }).job.displayName];
	});
}

/** Returns the address that a job should call. */
export const addressIn = ({ inputs = [] }: NewJob): string | undefined =>
	inputs.find(({ id }) => id === 'callbackUrl')?.default;

export type Call = NonNullable<Parameters<typeof fetch>[1]>;

export const json = (body: unknown): Call => ({
	headers: { 'content-type': 'application/json' },
	body: JSON.stringify(body),
});

/**
 * Calls n8n once.
 *
 * @returns the status of the response
 */
export async function call(
	address: string,
	request: Call = json({ from: 'job' }),
): Promise<number> {
	const { status } = await fetch(address, { method: 'POST', ...request });
	return status;
}

/**
 * Sends a message to the Chat Trigger of a workflow.
 *
 * @returns the body of the response
 */
export async function say(
	{ url }: Pick<HostUnderTest, 'url'>,
	{ nodes }: WorkflowFile,
	chatInput: string,
): Promise<string> {
	const trigger = nodes.find(({ type }) => type.endsWith('.chatTrigger'));
	const said = json({ action: 'sendMessage', sessionId: 'test', chatInput });
	const response = await fetch(`${url}/webhook/${String(trigger?.['webhookId'])}/chat`, {
		method: 'POST',
		...said,
	});
	return await response.text();
}

/** Calls n8n until it accepts the call, as a job does. n8n refuses a call while the execution is about to wait. */
export async function callUntilTaken(address: string, request?: Call): Promise<void> {
	await soon(async () => (await call(address, request)) === 202);
}
