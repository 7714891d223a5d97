/** What every contender sends for an item; only the display name differs between items. */
export const job = { workflowUid: 'wf-report', workCluster: 'wc-000001', namespace: 'default' };

export const createPath = `/api/v1/namespaces/${job.namespace}/jobs`;
export const listPath = '/api/v1/clusters';

/** The body of a create. */
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
