import type { WorkflowFile, WorkflowNode } from './api';
import { credentialName } from './examples';

const nodeType = 'n8n-nodes-job-orchestration.jobOrchestration';

/** A trigger that is started by hand, or by `N8nApi.run`. */
export function manualTrigger(name = 'Run by hand'): WorkflowNode {
	return node(name, 'n8n-nodes-base.manualTrigger', {});
}

/** A trigger that a call of `<n8n>/webhook/<path>` starts, and that answers it at once or at the end. */
export function webhook(
	path: string,
	responseMode: 'onReceived' | 'lastNode' = 'onReceived',
): WorkflowNode {
	return node(
		'Webhook',
		'n8n-nodes-base.webhook',
		{ httpMethod: 'POST', path, responseMode, options: {} },
		{ typeVersion: 2, webhookId: path },
	);
}

/** This project's node with the sandbox's credential, which n8n finds by its name. */
export function jobNode(
	name: string,
	parameters: Record<string, unknown>,
	more: Record<string, unknown> = {},
): WorkflowNode {
	const credentials = { jobOrchestrationApi: { id: '', name: credentialName } };
	return node(name, nodeType, parameters, { credentials, ...more });
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

/** A workflow of nodes in a row, each connected to the next. */
export function inARow(name: string, nodes: WorkflowNode[]): WorkflowFile {
	return {
		name,
		nodes: nodes.map((each, index) => ({ ...each, position: [index * 220, 0] })),
		connections: Object.fromEntries(
			nodes
				.slice(1)
				.map((next, index) => [
					nodes[index]?.name,
					{ main: [[{ node: next.name, type: 'main', index: 0 }]] },
				]),
		),
		settings: { executionOrder: 'v1' },
	};
}

/** Rows for what follows: one item for each element of a list, which is JSON or an expression. */
export function rows(list: string): WorkflowNode[] {
	const jsonOutput = list.startsWith('=') ? list : `{ "rows": ${list} }`;
	return [
		node('Rows', 'n8n-nodes-base.set', { mode: 'raw', jsonOutput }, { typeVersion: 3.4 }),
		node('Split', 'n8n-nodes-base.splitOut', { fieldToSplitOut: 'rows' }),
	];
}
