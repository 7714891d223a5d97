import type { WorkflowFile, WorkflowNode } from '../../host/api';
import { inARow, jobNode, manualTrigger } from '../../host/workflow';
import { CLUSTER, clusterById } from '../support/fixture';

/** Returns the node that creates a job in these workflows. */
export const createJob = (parameters: WorkflowNode['parameters'] = {}) =>
	jobNode('Create job', {
		...{ workflowUid: 'report', displayName: 'Report', workCluster: clusterById(CLUSTER) },
		...parameters,
	});

/** The trigger that the button Execute Workflow starts. */
const start = manualTrigger('Start');

/** Returns a workflow that begins with Start, which outputs these items, followed by a chain of nodes. */
export function afterStart(
	name: string,
	nodes: WorkflowNode[],
	items: Array<Record<string, unknown>> = [{}],
): WorkflowFile {
	return {
		...inARow(name, [start, ...nodes]),
		pinData: { [start.name]: items.map((json) => ({ json })) },
	};
}
