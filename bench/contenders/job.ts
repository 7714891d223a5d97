/** The fields of all jobs that the contenders create. Only the display name differs between the items. */
export const job = { workflowUid: 'wf-report', workCluster: 'wc-000001', namespace: 'default' };

export const createPath = `/api/v1/namespaces/${job.namespace}/jobs`;
export const listPath = '/api/v1/clusters';

/** Returns the body of the request that creates a job. */
export function bodyFor(displayName: string, { workflowUid, workCluster, namespace } = job) {
	return {
		namespace,
		job: {
			metadata: {},
			namespace,
			displayName,
			group: '',
			type: 'normal',
			workCluster,
			workflow: { uid: workflowUid },
			inputs: [],
			outputs: [],
		},
	};
}
