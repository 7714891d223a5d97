import { CREDENTIAL, NODE_TYPE } from '../../test/support/packageUnderTest';
import type { CreateTask, Task } from '../case';
import type { WorkflowNode } from '../engine/run';
import { job } from './job';

/** Returns the node of this package, as it was last built. */
export function thisNode(task: Task): WorkflowNode {
	return {
		type: NODE_TYPE,
		credential: CREDENTIAL,
		onError: 'continueRegularOutput',
		parameters:
			task.kind === 'create'
				? creating(task)
				: {
						resource: 'cluster',
						operation: 'getAll',
						returnAll: true,
						options: { pageSize: task.pageSize },
					},
	};
}

function creating({ namespaces, timeout }: CreateTask) {
	return {
		resource: 'job',
		operation: 'create',
		namespace: namespaces === undefined ? job.namespace : '={{ $json.namespace }}',
		workflowUid: job.workflowUid,
		workCluster: { __rl: true, mode: 'id', value: job.workCluster },
		displayName: '=Report {{ $json.n }}',
		options: timeout === undefined ? {} : { timeout },
	};
}
