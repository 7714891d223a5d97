import type { INodeExecutionData, INodeType } from 'n8n-workflow';

import { resultOf, type Engine } from '../../test/support/run';
import { workflowOf, type NodeOptions } from '../../test/support/workflow';

/** A node of a workflow, and its implementation. */
export interface WorkflowNode extends Pick<NodeOptions, 'parameters' | 'onError'> {
	/** The type of the node in n8n: the name of its package, a dot and the name of the node. */
	type: string;
	typeVersion?: number;
	/** Undefined for the node of this package. */
	implementation?: INodeType;
	/** The type of the credential that the node uses. */
	credential?: string | undefined;
}

/**
 * Runs a node with these items in n8n's engine, and returns its output.
 * @throws the error that ended the execution
 */
export async function runNode(
	engine: Engine,
	{ type, typeVersion = 1, implementation, credential, ...options }: WorkflowNode,
	items: INodeExecutionData[],
): Promise<INodeExecutionData[]> {
	const getByName = (wanted: string): INodeType =>
		(wanted === type ? implementation : undefined) ??
		engine.loaded.nodeTypes.getByNameAndVersion(wanted);
	const nodeTypes = { getByName, getByNameAndVersion: getByName, getKnownTypes: () => ({}) };
	const credentials =
		credential === undefined ? {} : { [credential]: { id: '1', name: 'Sandbox' } };
	const node = { ...options, settings: { type, typeVersion, credentials } };
	const run = await engine.runWorkflow(workflowOf([node], { nodeTypes }), {}, { Items: items });
	const { items: output, error } = resultOf(run, 'Node 1');
	if (error !== undefined) throw error;
	return output;
}
