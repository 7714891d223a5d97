import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { N8NPropertiesBuilder } from '@devlikeapro/n8n-openapi-node';
import type { INodeProperties, INodeType } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { parse } from 'yaml';

import { Workbench } from '../engine/workbench';
import { cannot, type Contender } from './contender';
import { bodyFor, job, numbered } from './job';
import { PlainCredential } from './plainCredential';

const TYPE = 'bench.generated';
const CONTRACT = join(__dirname, '../../../contract/openapi.yaml');

/** A declarative node as a generator makes it from the contract. */
export const generatedNode: Contender = {
	title: 'a generated declarative node',
	about:
		'A declarative node that `@devlikeapro/n8n-openapi-node` generates from `contract/openapi.yaml`, with a plain expirable credential and one expression (the job).',
	load: async () => {
		const credential = new PlainCredential();
		const workbench = await Workbench.load({ [TYPE]: generate() }, [credential]);
		return async (task, service) => {
			if (task.kind !== 'create') return cannot(task);
			workbench.saveCredential(service);
			const parameters = {
				resource: 'Jobs',
				operation: 'Create Job',
				namespace: job.namespace,
				job: `=${JSON.stringify(bodyFor('Report {{ $json.n }}').job, null, 2)}`,
			};
			const node = { type: TYPE, credential: credential.name, parameters };
			return await workbench.run(node, numbered(task.count));
		};
	},
};

/** The node as the generator's manual has it. */
function generate(): INodeType {
	const contract: unknown = parse(readFileSync(CONTRACT, 'utf8'));
	return {
		description: {
			displayName: 'Generated',
			name: 'generated',
			group: ['transform'],
			version: 1,
			description: 'Generated from the contract',
			defaults: { name: 'Generated' },
			inputs: [NodeConnectionTypes.Main],
			outputs: [NodeConnectionTypes.Main],
			credentials: [{ name: 'plainApi', required: true }],
			requestDefaults: {
				headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
				baseURL: '={{$credentials.baseUrl}}',
			},
			properties: new N8NPropertiesBuilder(contract, {}).build() as INodeProperties[],
		},
	};
}
