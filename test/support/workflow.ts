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

/** The options of a node under test in a workflow. */
export interface NodeOptions {
	parameters: INodeParameters;
	/** Whether the node runs as the tool that n8n creates from it. */
	asTool?: boolean;
	/** The value of n8n's setting "On Error". By default, an error stops the workflow. */
	onError?: OnError;
	settings?: Partial<INode>;
	/** How often the node runs with the same items, as in a loop. The default is once. */
	runs?: number;
}

/** Returns a workflow that is a chain of nodes. The first one gets the items of the test. */
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
