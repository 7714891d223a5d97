import { CREDENTIAL, NODE_TYPE } from '../../../test/engine/packageUnderTest';
import { Workbench } from '../engine/workbench';
import type { Contender, CreateTask, ListTask } from './contender';
import { job, numbered } from './job';

/** The node of this package, as it was built. */
export const thisNode: Contender = {
	title: '**this node**',
	about: 'The node of this package; the display name is an expression.',
	load: loadWith('=Report {{ $json.n }}'),
};

/** The same where no field holds an expression. */
export const thisNodeFixed: Contender = {
	title: 'this node, no expression',
	about: 'The same where all items make a job of the same name: no field holds an expression.',
	load: loadWith('Report'),
};

function loadWith(displayName: string): Contender['load'] {
	return async () => {
		const workbench = await Workbench.load();
		return async (task, service) => {
			workbench.saveCredential(service);
			const parameters = task.kind === 'create' ? creating(displayName, task) : listing(task);
			const items = task.kind === 'create' ? numbered(task.count) : [{ json: {} }];
			return await workbench.run({ type: NODE_TYPE, credential: CREDENTIAL, parameters }, items);
		};
	};
}

function creating(displayName: string, { concurrency, paced }: CreateTask) {
	return {
		resource: 'job',
		operation: 'create',
		namespace: job.namespace,
		workflowUid: job.workflowUid,
		workCluster: { __rl: true, mode: 'id', value: job.workCluster },
		displayName,
		options: paced ? {} : { concurrency },
	};
}

function listing({ pageSize }: ListTask) {
	return { resource: 'cluster', operation: 'getAll', returnAll: true, options: { pageSize } };
}
