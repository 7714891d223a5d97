import type { INodeProperties } from 'n8n-workflow';

import type { JsonObject } from '../../json';
import type { NewJob } from '../../service/calls/shapes';
import type { GetField } from '../../parameters/itemParameters';
import type { Operation } from '../operation';
import { ifStoppedOption, optionsField } from '../options';
import { inputAndOutputFields, readInputsAndOutputs } from './inputsAndOutputs';
import { jobOutputFields, readJobOutput } from './jobOutput';
import { readWaitUntilCalled, waitUntilCalledOption } from './waitUntilCalled';
import { namespaceField } from './namespace';

const additionalFields: INodeProperties = {
	displayName: 'Additional Fields',
	name: 'additionalFields',
	type: 'collection',
	placeholder: 'Add Field',
	default: {},
	options: [
		{
			displayName: 'Job Retry Interval',
			name: 'retryInterval',
			type: 'number',
			typeOptions: { minValue: 0 },
			default: 3000,
			hint: 'In milliseconds: 3000 is 3 seconds',
			description: 'How long the service waits before it runs a failed job again',
		},
		{
			displayName: 'Max Job Retries',
			name: 'maxRetry',
			type: 'number',
			typeOptions: { minValue: 0 },
			default: 0,
			description: 'How many times the service runs the job again if it fails',
		},
		{
			displayName: 'Metadata (JSON)',
			name: 'metadata',
			type: 'json',
			default: '{}',
			description: 'Metadata of the job, as a JSON object',
		},
		{
			displayName: 'Priority',
			name: 'priority',
			type: 'number',
			default: 0,
			description: 'Priority of the job. Whether a higher number comes first is up to the service.',
		},
		{
			displayName: 'Type',
			name: 'type',
			type: 'string',
			default: 'normal',
			description: 'Type of the job. The only one that is documented is "normal".',
		},
		{
			displayName: 'Workspace',
			name: 'workspace',
			type: 'string',
			default: '',
			placeholder: 'e.g. default',
			description: 'ID of the workspace that the job uses',
		},
	],
};

export const create: Operation = {
	value: 'create',
	name: 'Create',
	action: 'Create job',
	description: 'Run a workflow template as a new job on a work cluster',
	fields: [
		{
			displayName: 'Workflow UID',
			name: 'workflowUid',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. 7c9e6679-7425-40de-944b-e07fc1f90ae7',
			hint: 'A workflow template on the service, not this n8n workflow',
			description: 'UID of the workflow template to run, as the service shows it',
		},
		{
			displayName: 'Display Name',
			name: 'displayName',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. Nightly report',
			description: "Name to show for the job. It doesn't have to be unique.",
		},
		{
			displayName: 'Work Cluster',
			name: 'workCluster',
			type: 'resourceLocator',
			required: true,
			default: { mode: 'list', value: '' },
			description: 'Work cluster to run the job on',
			modes: [
				{
					displayName: 'From List',
					name: 'list',
					type: 'list',
					placeholder: 'Select a work cluster...',
					typeOptions: { searchListMethod: 'searchClusters', searchable: true },
				},
				{
					displayName: 'By ID',
					name: 'id',
					type: 'string',
					placeholder: 'e.g. wc-000002',
					hint: 'After Get Many: {{ $json.metadata.uid }}',
				},
			],
		},
		namespaceField,
		...inputAndOutputFields,
		{
			displayName: 'Group',
			name: 'group',
			type: 'string',
			default: '',
			placeholder: 'e.g. reports',
			description: 'Work group that the job belongs to. Leave it empty if there is none.',
		},
		additionalFields,
		...jobOutputFields,
		optionsField(ifStoppedOption, waitUntilCalledOption),
	],
	makesJobs: true,
	prepare(getField, resumeUrl) {
		const job = readJob(getField);
		const shape = readJobOutput(getField);
		const wait = readWaitUntilCalled(getField);
		if (wait === undefined) return async (client) => [shape(await client.createJob(job))];
		job.inputs = [
			...job.inputs,
			{
				id: wait.input,
				anchors: [],
				displayName: '',
				controls: 'input',
				default: resumeUrl(),
				type: 'string',
			},
		] as JsonObject[];
		return async (client) => [{ ...shape(await client.createJob(job)), callback: null }];
	},
};

function readJob(getField: GetField): NewJob {
	const priority = getField('additionalFields', 'priority').optionalNumber();
	const maxRetry = getField('additionalFields', 'maxRetry').optionalNumber({
		min: 0,
		integer: true,
	});
	const retryInterval = getField('additionalFields', 'retryInterval').optionalNumber({ min: 0 });
	const workspace = getField('additionalFields', 'workspace').text();
	return {
		namespace: getField('namespace').pathId(),
		workflowUid: getField('workflowUid').id(),
		workCluster: getField('workCluster').id(),
		displayName: getField('displayName').requiredText(),
		group: getField('group').text(),
		...readInputsAndOutputs(getField),
		type: getField('additionalFields', 'type').text() || 'normal',
		metadata: getField('additionalFields', 'metadata').jsonObject(),
		...(priority === undefined ? {} : { priority }),
		...(maxRetry === undefined ? {} : { maxRetry }),
		...(retryInterval === undefined ? {} : { retryInterval }),
		...(workspace === '' ? {} : { workspace }),
	};
}
