import type { INodeType, INodeTypeDescription } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { execute } from './execution/execute';
import { searchClusters } from './listSearch/searchClusters';
import { properties } from './resources';
import { receiveCallback, waitingNodeTooltip, webhooks } from './waitUntilCalled';

export class JobOrchestration implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Job Orchestration',
		name: 'jobOrchestration',
		icon: { light: 'file:jobOrchestration.svg', dark: 'file:jobOrchestration.dark.svg' },
		group: ['transform'],
		version: 1,
		// The subtitle names the job, because n8n already names the node after its action.
		subtitle: '={{ $parameter["displayName"] || $parameter["jobId"] || "" }}',
		description: 'Create, suspend, resume, stop and terminate jobs, and list work clusters',
		defaults: { name: 'Job Orchestration' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		webhooks,
		waitingNodeTooltip,
		credentials: [{ name: 'jobOrchestrationApi', required: true }],
		builderHint: {
			searchHint:
				'Runs jobs on an external job orchestration service and changes their state. The job ID is metadata.uid in the output of every job operation. A job needs a work cluster: choose it from the list, or get a running one with Cluster: Get Many, Limit 1 and the filter Phase "Running". No operation reads a job. Create waits for it only with Options › Wait Until Called, if its template calls n8n.',
		},
		properties,
	};

	methods = { listSearch: { searchClusters } };

	execute = execute;

	/** Receives a job's call to the address that Create with Wait Until Called gave it. n8n calls this method. */
	webhook = receiveCallback;
}
