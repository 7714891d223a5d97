import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { Workbench } from '../engine/workbench';
import { cannot, type Contender } from './contender';
import { handWritten, textField } from './handWritten';
import { createPath, job, numbered } from './job';
import { PlainCredential } from './plainCredential';

const TYPE = 'bench.oneAtATime';

/** A node as most are: a loop over the items that reads the parameters, sends, and waits. */
export const oneAtATime: Contender = {
	title: 'one at a time',
	about:
		'A node as most are: a loop over the items that reads their parameters, sends a request and waits for it. A plain expirable credential.',
	load: async () => {
		const credential = new PlainCredential();
		const workbench = await Workbench.load({ [TYPE]: nodeType }, [credential]);
		return async (task, service) => {
			if (task.kind !== 'create') return cannot(task);
			workbench.saveCredential(service);
			const parameters = {
				...job,
				displayName: '=Report {{ $json.n }}',
				group: '',
				type: 'normal',
			};
			const node = { type: TYPE, credential: credential.name, parameters };
			return await workbench.run(node, numbered(task.count));
		};
	},
};

const nodeType = handWritten({
	name: 'oneAtATime',
	credential: 'plainApi',
	properties: [
		...['namespace', 'workflowUid', 'workCluster', 'displayName', 'group', 'type'].map(textField),
		{ displayName: 'inputs', name: 'inputs', type: 'json', default: '[]' },
		{ displayName: 'outputs', name: 'outputs', type: 'json', default: '[]' },
		{ displayName: 'more', name: 'additionalFields', type: 'collection', default: {}, options: [] },
	],
	async execute() {
		const results: INodeExecutionData[] = [];
		const { baseUrl } = await this.getCredentials('plainApi');
		for (const item of this.getInputData().keys()) {
			const read = (name: string) => this.getNodeParameter(name, item) as string;
			const namespace = read('namespace');
			const body = {
				namespace,
				job: {
					metadata: {},
					namespace,
					displayName: read('displayName'),
					group: read('group'),
					type: read('type'),
					workCluster: read('workCluster'),
					workflow: { uid: read('workflowUid') },
					inputs: JSON.parse(read('inputs')) as IDataObject[],
					outputs: JSON.parse(read('outputs')) as IDataObject[],
					...(this.getNodeParameter('additionalFields', item) as IDataObject),
				},
			};
			const json = (await this.helpers.httpRequestWithAuthentication.call(this, 'plainApi', {
				method: 'POST',
				url: String(baseUrl) + createPath,
				body,
				json: true,
			})) as IDataObject;
			results.push({ json, pairedItem: { item } });
		}
		return [results];
	},
});
