import type { WorkflowFile, WorkflowNode } from './api';
import { credentialType, sandboxCredential } from './credential';

const nodeType = 'n8n-nodes-job-orchestration.jobOrchestration';

/** Returns a trigger that is started in the editor or by `N8nApi.run`. */
export function manualTrigger(name = 'Run by hand'): WorkflowNode {
	return node(name, 'n8n-nodes-base.manualTrigger', {});
}

/**
 * Returns a trigger that a POST request to `<n8n>/webhook/<path>` starts.
 * @param responseMode whether n8n responds when it has received the request, or when the last node has ended
 */
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

/** Returns this project's node with the credential for the sandbox. */
export function jobNode(
	name: string,
	parameters: Record<string, unknown>,
	more: Record<string, unknown> = {},
): WorkflowNode {
	const credentials = { [credentialType]: sandboxCredential };
	return node(name, nodeType, parameters, { credentials, ...more });
}

/** Returns a node of any type. */
export function node(
	name: string,
	type: string,
	parameters: Record<string, unknown>,
	more: Record<string, unknown> = {},
): WorkflowNode {
	return { id: name, name, type, typeVersion: 1, position: [0, 0], parameters, ...more };
}

/** Returns a workflow in which each node is connected to the next. */
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

/**
 * Returns nodes that output one item for each element of a list.
 * @param list a JSON array, or an expression (which begins with `=`) whose value is an object with the array in `rows`
 */
export function rows(list: string): WorkflowNode[] {
	const jsonOutput = list.startsWith('=') ? list : `{ "rows": ${list} }`;
	return [
		node('Rows', 'n8n-nodes-base.set', { mode: 'raw', jsonOutput }, { typeVersion: 3.4 }),
		node('Split', 'n8n-nodes-base.splitOut', { fieldToSplitOut: 'rows' }),
	];
}
