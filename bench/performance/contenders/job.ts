import type { INodeExecutionData } from 'n8n-workflow';

/** What all contenders send: each item makes a job of its own name. */
export const job = { workflowUid: 'wf-report', workCluster: 'wc-000001', namespace: 'default' };

/** The path that a job is created at. */
export const createPath = `/api/v1/namespaces/${job.namespace}/jobs`;

export const listPath = '/api/v1/clusters';

/** The body of the request, the same from all. */
export function bodyFor(displayName: string) {
	return {
		namespace: job.namespace,
		job: {
			metadata: {},
			namespace: job.namespace,
			displayName,
			group: '',
			type: 'normal',
			workCluster: job.workCluster,
			workflow: { uid: job.workflowUid },
			inputs: [],
			outputs: [],
		},
	};
}

/** So many items, numbered from 0. */
export function numbered(count: number): INodeExecutionData[] {
	return Array.from({ length: count }, (_, n) => ({ json: { n }, pairedItem: { item: n } }));
}
