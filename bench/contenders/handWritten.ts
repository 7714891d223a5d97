import type { IExecuteFunctions, INodeExecutionData, INodeType } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import type { WorkflowNode } from '../engine/run';

/** A node written for the benchmark, whose parameters are texts. */
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
