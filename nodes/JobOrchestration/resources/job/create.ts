import type { INodeProperties } from 'n8n-workflow';

import type { JsonObject } from '../../json';
import type { GetField } from '../../parameters/itemParameters';
import { hasFailureFlag } from '../../service/calls/call';
import { createJob, type NewJob, uidOf } from '../../service/calls/jobs';
import type { ServiceClient } from '../../service/client';
import { truncate } from '../../texts';
import { callbackOptions, readCallback } from '../../waitUntilCalled/option';
import type { Operation, PreparedCall } from '../operation';
import { createUncertainAgainOption, optionsField } from '../options';
import { EMPTY_RECORD, inputAndOutputFields, readInputsAndOutputs } from './inputsAndOutputs';
import { besideJob, jobOutputFields, readJobOutput } from './jobOutput';
import { namespaceField, readNamespace } from './namespace';

const JOB_TYPE = 'normal';

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
		{ displayName: 'Metadata (JSON)', name: 'metadata', type: 'json', default: '{}' },
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
			default: JOB_TYPE,
			description: 'Type of the job. Only "normal" is documented.',
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
			description: 'Work group that the job belongs to, or empty',
		},
		additionalFields,
		...jobOutputFields,
		optionsField(createUncertainAgainOption, ...callbackOptions),
	],
	createsJobs: true,
	done: 'created',
	prepare(getField, newCallback) {
		const job = readJob(getField);
		const shape = readJobOutput(getField);
		const { inputId, callback } = readCallback(getField, job.inputs, newCallback) ?? {};
		if (callback !== undefined) {
			job.inputs = [...job.inputs, { ...EMPTY_RECORD, id: inputId, default: callback.url }];
		}
		const { namespace, displayName } = job;
		const send: PreparedCall['send'] = async (client, options) => {
			const created = await client.send(createJob(job), options);
			const uid = client.redact(uidOf(created) ?? '');
			const createdJob = { namespace, uid, displayName };
			const output = { ...shape(created), ...(callback && { callback: null }) };
			return { output: [output], createdJob, callback, hint: hintOf(created, client) };
		};
		return { job: { namespace, displayName }, send };
	},
};

/** Returns the hint for the user if the service has created the job, but says nevertheless that it failed. */
function hintOf(created: JsonObject, client: ServiceClient): string | undefined {
	if (!hasFailureFlag(created)) return undefined;
	const said = client.redact(JSON.stringify(besideJob(created)));
	return `The service has created the job, and says beside it: ${truncate(said, 500)}`;
}

function readJob(getField: GetField): NewJob {
	const additional = (name: string) => getField('additionalFields', name);
	const workspace = additional('workspace');
	return {
		namespace: readNamespace(getField),
		workflowUid: getField('workflowUid').id(),
		workCluster: getField('workCluster').id(),
		displayName: getField('displayName').requiredText(),
		group: getField('group').text(),
		...readInputsAndOutputs(getField),
		type: additional('type').text() || JOB_TYPE,
		metadata: additional('metadata').jsonObject(),
		priority: additional('priority').optionalNumber(),
		maxRetry: additional('maxRetry').optionalNumber({ min: 0, integer: true }),
		retryInterval: additional('retryInterval').optionalNumber({ min: 0 }),
		workspace: workspace.isBlank ? undefined : workspace.id(),
	};
}
