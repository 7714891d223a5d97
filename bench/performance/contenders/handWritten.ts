import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	INodeType,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

/** A node type written for the benchmark. */
export function handWritten({
	name,
	credential,
	properties,
	execute,
}: {
	name: string;
	credential?: string;
	properties: INodeProperties[];
	execute: (this: IExecuteFunctions) => Promise<INodeExecutionData[][]>;
}): INodeType {
	return {
		description: {
			displayName: name,
			name,
			group: ['transform'],
			version: 1,
			description: 'Written for the benchmark',
			defaults: { name },
			inputs: [NodeConnectionTypes.Main],
			outputs: [NodeConnectionTypes.Main],
			...(credential !== undefined && { credentials: [{ name: credential, required: true }] }),
			properties,
		},
		execute,
	};
}

/** A field of text. */
export function textField(name: string): INodeProperties {
	return { displayName: name, name, type: 'string', default: '' };
}
