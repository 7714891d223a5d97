import type { INodeExecutionData, INodeType } from 'n8n-workflow';

import { resultOf, type Engine } from '../../test/support/run';
import { workflowOf, type NodeOptions } from '../../test/support/workflow';

/** A node of a workflow, as the editor would store it. */
export interface WorkflowNode extends Pick<NodeOptions, 'parameters' | 'onError'> {
	/** As n8n names it: package and node. */
	type: string;
	typeVersion?: number;
	/** Left out for the node of this package. */
	implementation?: INodeType;
	/** The type of its credential. */
	credential?: string | undefined;
}

/**
 * Runs a node with these items in n8n's engine.
 * @throws the error that the workflow ended with
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
