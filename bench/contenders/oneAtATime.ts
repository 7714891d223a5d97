import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { Task } from '../case';
import type { WorkflowNode } from '../engine/run';
import { PLAIN_CREDENTIAL } from '../engine/plainCredential';
import { handWritten } from './handWritten';
import { bodyFor, createPath, job } from './job';

/**
 * Returns a node that works like most nodes: for each item, it reads the parameters, sends a request, and waits for the
 * response.
 */
export function oneAtATime({ kind }: Task): WorkflowNode {
	if (kind !== 'create') throw new Error(`It has no way to ${kind}`);
	const parameters = { ...job, group: '', type: 'normal', displayName: '=Report {{ $json.n }}' };
	return handWritten(parameters, createOneAtATime, PLAIN_CREDENTIAL);
}

async function createOneAtATime(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const results: INodeExecutionData[] = [];
	const { baseUrl } = await this.getCredentials(PLAIN_CREDENTIAL);
	const { httpRequestWithAuthentication } = this.helpers;
	for (const item of this.getInputData().keys()) {
		const read = (name: string) => this.getNodeParameter(name, item) as string;
		const [workflowUid, workCluster] = [read('workflowUid'), read('workCluster')];
		const fixed = { workflowUid, workCluster, namespace: read('namespace') };
		const { job: sent, namespace } = bodyFor(read('displayName'), fixed);
		const body = { namespace, job: { ...sent, group: read('group'), type: read('type') } };
		const json = (await httpRequestWithAuthentication.call(this, PLAIN_CREDENTIAL, {
			method: 'POST',
			url: String(baseUrl) + createPath,
			body,
			json: true,
		})) as IDataObject;
		results.push({ json, pairedItem: { item } });
	}
	return [results];
}
