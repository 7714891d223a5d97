import type { IExecuteFunctions, INodeExecutionData, INodeType } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import type { WorkflowNode } from '../engine/run';

/**
 * Returns a node that runs the given function.
 * @param parameters the node's parameters and their values, which are strings
 * @param credential the type of the credential that the node uses; undefined if it uses none
 */
export function handWritten(
	parameters: Record<string, string>,
	execute: (this: IExecuteFunctions) => Promise<INodeExecutionData[][]>,
	credential?: string,
): WorkflowNode {
	const implementation: INodeType = {
		description: {
			displayName: 'Hand-written',
			name: 'handWritten',
			group: ['transform'],
			version: 1,
			description: 'Written for the benchmark',
			defaults: { name: 'Hand-written' },
			inputs: [NodeConnectionTypes.Main],
			outputs: [NodeConnectionTypes.Main],
			...(credential !== undefined && { credentials: [{ name: credential, required: true }] }),
			properties: Object.keys(parameters).map((name) => ({
				displayName: name,
				name,
				type: 'string',
				default: '',
			})),
		},
		execute,
	};
	return { type: 'bench.handWritten', implementation, parameters, credential };
}
