import { WorkflowExecute } from 'n8n-core';
import type { INode, INodeExecutionData, INodeType } from 'n8n-workflow';
import { createEmptyRunExecutionData, NodeConnectionTypes, Workflow } from 'n8n-workflow';

import { ITEMS_NODE_TYPE } from '../../test/support/packageUnderTest';
import type { Engine } from '../../test/support/run';
import type { Flow, FlowNode } from './flow';

const itemsNode: FlowNode = { type: ITEMS_NODE_TYPE, parameters: {} };

/**
 * Runs a workflow with these items in n8n's engine.
 * @throws the error that the workflow ended with
 */
export async function runFlow(
	engine: Engine,
	{ nodes, connections, last }: Flow,
	items: INodeExecutionData[],
): Promise<INodeExecutionData[]> {
	const getByName = (type: string): INodeType =>
		Object.values(nodes).find((node) => node.type === type)?.implementation ??
		engine.loaded.nodeTypes.getByNameAndVersion(type);
	const workflow = new Workflow({
		id: '1',
		name: 'Bench',
		nodes: Object.entries({ Items: itemsNode, ...nodes }).map(stored),
		connections: Object.fromEntries(
			Object.entries(connections).map(([name, outputs]) => [name, { main: outputs.map(links) }]),
		),
		active: false,
		nodeTypes: { getByName, getByNameAndVersion: getByName, getKnownTypes: () => ({}) },
		settings: { executionOrder: 'v1' },
	});
	const startNode = workflow.getNode('Items');
	if (startNode === null) throw new Error('The workflow has lost its first node');
	const execute = new WorkflowExecute(
		engine.additionalData(),
		'trigger',
		createEmptyRunExecutionData(),
	);
	const { data } = await execute.run({ workflow, startNode, pinData: { Items: items } });
	const { runData, error } = data.resultData;
	if (error !== undefined) throw error;
	return runData[last]?.at(-1)?.data?.main?.[0] ?? [];
}

function stored([name, node]: [string, FlowNode]): INode {
	const { type, typeVersion = 1, parameters, credential, onError } = node;
	return {
		id: name,
		name,
		position: [0, 0],
		type,
		typeVersion,
		parameters,
		...(onError && { onError }),
		...(credential !== undefined && {
			credentials: { [credential]: { id: '1', name: 'Sandbox' } },
		}),
	};
}

function links(nodes: string[]) {
	return nodes.map((node) => ({ node, type: NodeConnectionTypes.Main, index: 0 }));
}
