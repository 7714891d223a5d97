import type {
	IConnections,
	INode,
	INodeParameters,
	OnError,
	WorkflowParameters,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import type { LoadedPackage } from './packageUnderTest';
import { CREDENTIAL, ITEMS_NODE_TYPE, NODE_TYPE, TOOL_TYPE } from './packageUnderTest';

/** What a workflow's node under test is given. */
export interface NodeOptions {
	parameters: INodeParameters;
	/** Whether it is run as the tool that n8n makes of it. */
	asTool?: boolean;
	/** What n8n's setting "On Error" says; the node stops the workflow by default. */
	onError?: OnError;
	settings?: Partial<INode>;
	/** How often it is run with the same items, as in a loop: once by default. */
	runs?: number;
}

/** A workflow of nodes in a row, the first of which gets a test's items. */
export function workflowOf(
	nodes: NodeOptions[],
	{ nodeTypes }: Pick<LoadedPackage, 'nodeTypes'>,
): WorkflowParameters {
	const source: INode = {
		id: '0',
		name: 'Items',
		type: ITEMS_NODE_TYPE,
		typeVersion: 1,
		position: [0, 0],
		parameters: {},
	};
	const connections: IConnections = {};
	const chain = nodes.map(({ parameters, asTool, onError, settings, runs = 1 }, index): INode => {
		const name = `Node ${index + 1}`;
		const before = index === 0 ? source.name : `Node ${index}`;
		const connection = { node: name, type: NodeConnectionTypes.Main, index: 0 };
		connections[before] = { main: [new Array<typeof connection>(runs).fill(connection)] };
		return {
			id: String(index + 1),
			name,
			type: asTool === true ? TOOL_TYPE : NODE_TYPE,
			typeVersion: 1,
			position: [200 * (index + 1), 0],
			parameters,
			credentials: { [CREDENTIAL]: { id: '1', name: 'Sandbox' } },
			...(onError === undefined ? {} : { onError }),
			...settings,
		};
	});
	return {
		id: '1',
		name: 'Test',
		nodes: [source, ...chain],
		connections,
		active: false,
		nodeTypes,
		settings: { executionOrder: 'v1' },
	};
}
