import type { WorkflowFile, WorkflowNode } from '../../host/api';
import { credentialName } from '../../host/examples';

const nodeType = 'n8n-nodes-job-orchestration.jobOrchestration';

/** The trigger that a click on the button Execute Workflow starts. */
const start: WorkflowNode = node('Start', 'n8n-nodes-base.manualTrigger', {});

/** A node with the sandbox's credential. */
export function jobNode(
	name: string,
	parameters: Record<string, unknown>,
	more: Record<string, unknown> = {},
): WorkflowNode {
	const credentials = { jobOrchestrationApi: { id: '', name: credentialName } };
	return { ...node(name, nodeType, parameters), credentials, ...more };
}

/** A node of any type. */
export function node(
	name: string,
	type: string,
	parameters: Record<string, unknown>,
	more: Record<string, unknown> = {},
): WorkflowNode {
	return { id: name, name, type, typeVersion: 1, position: [0, 0], parameters, ...more };
}

/** A workflow that begins with Start, whose items are those given, followed by the nodes in a row. */
export function inARow(
	name: string,
	nodes: WorkflowNode[],
	items: Array<Record<string, unknown>> = [{}],
): WorkflowFile {
	const all = [start, ...nodes].map((each, index) => ({ ...each, position: [index * 220, 0] }));
	const connections = all
		.slice(1)
		.map((next, index) => [all[index]?.name, { main: [[mainInputOf(next.name)]] }] as const);
	return {
		name,
		nodes: all,
		connections: Object.fromEntries(connections),
		pinData: { [start.name]: items.map((json) => ({ json })) },
		settings: { executionOrder: 'v1' },
	};
}

/** Where a connection to a node's input ends. */
function mainInputOf(name: string): { node: string; type: 'main'; index: number } {
	return { node: name, type: 'main', index: 0 };
}
