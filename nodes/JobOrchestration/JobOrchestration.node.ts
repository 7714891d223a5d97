import type {
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { execute } from './execution/execute';
import { searchClusters } from './listSearch/searchClusters';
import { properties } from './resources';

export class JobOrchestration implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Job Orchestration',
		name: 'jobOrchestration',
		icon: { light: 'file:jobOrchestration.svg', dark: 'file:jobOrchestration.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
		description: 'Create, suspend, resume, stop and terminate jobs, and list work clusters',
		defaults: { name: 'Job Orchestration' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'jobOrchestrationApi', required: true }],
		properties,
	};

	methods = { listSearch: { searchClusters } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await execute(this);
	}
}
