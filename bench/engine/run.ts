import { WorkflowExecute } from 'n8n-core';
import type { INode, INodeExecutionData, INodeType } from 'n8n-workflow';
import { createEmptyRunExecutionData, NodeConnectionTypes, Workflow } from 'n8n-workflow';

import { ITEMS_NODE_TYPE } from '../../test/support/packageUnderTest';
import type { Engine } from '../../test/support/run';
import type { WorkflowNode } from './node';

const itemsNode: WorkflowNode = { type: ITEMS_NODE_TYPE, parameters: {} };

/**
 * Runs a node with these items in n8n's engine.
 * @throws the error that the workflow ended with
 */
export async function runNode(
	engine: Engine,
	node: WorkflowNode,
	items: INodeExecutionData[],
): Promise<INodeExecutionData[]> {
	const getByName = (type: string): INodeType =>
		(type === node.type ? node.implementation : undefined) ??
		engine.loaded.nodeTypes.getByNameAndVersion(type);
	const workflow = new Workflow({
		id: '1',
		name: 'Bench',
		nodes: Object.entries({ Items: itemsNode, Node: node }).map(stored),
		connections: {
			Items: { main: [[{ node: 'Node', type: NodeConnectionTypes.Main, index: 0 }]] },
		},
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
	return runData.Node?.at(-1)?.data?.main?.[0] ?? [];
}

function stored([name, node]: [string, WorkflowNode]): INode {
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
