import { collection, id, jsonObject, number, text, toggle } from '../../fields/form';
import { createJob, uidOf } from '../../service/calls/jobs';
import { callbackOptions, newCallback } from '../../waitUntilCalled';
import { createUncertainAgainOption, namespaceField, operation, optionsField } from '../operation';
import { RECORD_DEFAULTS, inputAndOutputFields, inputsAndOutputsOf } from './inputsAndOutputs';

/**
 * The fields that a simplified job lacks: those that the request already contained, and the one that the engine behind
 * the service made of the request.
 */
const OMITTED = ['type', 'inputs', 'outputs', 'retryOption', 'engineWorkflow'];

const JOB_TYPE = 'normal';

const additionalFields = [
	number('Job Retry Interval', 'retryInterval', {
		typeOptions: { minValue: 0 },
		default: 3000,
		hint: 'In milliseconds: 3000 is 3 seconds',
		description: 'How long the service waits before it runs a failed job again',
	}),
	number('Max Job Retries', 'maxRetry', {
		typeOptions: { minValue: 0, numberPrecision: 0 },
		description: 'How many times the service runs the job again if it fails',
	}),
	jsonObject('Metadata (JSON)', 'metadata'),
	number('Priority', 'priority', {
		description: 'Priority of the job. Whether a higher number comes first is up to the service.',
	}),
	text('Type', 'type', {
		default: JOB_TYPE,
		description: 'Type of the job. Only "normal" is documented.',
	}),
	id('Workspace', 'workspace', {
		placeholder: 'e.g. default',
		description: 'ID of the workspace that the job uses',
	}),
];

export const create = operation({
	value: 'create',
	name: 'Create',
	action: 'Create job',
	description: 'Run a workflow template as a new job on a work cluster',
	fields: [
		id('Workflow UID', 'workflowUid', {
			required: true,
			placeholder: 'e.g. 7c9e6679-7425-40de-944b-e07fc1f90ae7',
			hint: 'A workflow template on the service, not this n8n workflow',
			description: 'UID of the workflow template to run, as the service shows it',
		}),
		text('Display Name', 'displayName', {
			required: true,
			placeholder: 'e.g. Nightly report',
			description: "Name to show for the job. It doesn't have to be unique.",
		}),
		id('Work Cluster', 'workCluster', {
			type: 'resourceLocator',
			default: { mode: 'list', value: '' },
			required: true,
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
		}),
		namespaceField,
		...inputAndOutputFields,
		text('Group', 'group', {
			placeholder: 'e.g. reports',
			description: 'Work group that the job belongs to, or empty',
		}),
		collection('Additional Fields', 'additionalFields', additionalFields, {
			placeholder: 'Add Field',
		}),
		toggle('Simplify', 'simplify', {
			default: true,
			description: 'Whether to return a simplified version of the response instead of the raw data',
		}),
	],
	options: optionsField(createUncertainAgainOption, ...callbackOptions),
	done: 'created',
	prepare(values, context) {
		const { namespace, workflowUid, workCluster, displayName, group } = values;
		const { type, workspace, ...more } = values.additionalFields;
		const { inputs, outputs } = inputsAndOutputsOf(values);
		const callback = newCallback(context, values.options, inputs);
		if (callback) inputs.push({ ...RECORD_DEFAULTS, id: callback.inputId, default: callback.url });
		const call = createJob({
			namespace,
			workflowUid,
			workCluster,
			displayName,
			group,
			inputs,
			outputs,
			metadata: {},
			...more,
			type: type || JOB_TYPE,
			workspace: workspace || undefined,
		});
		return {
			call,
			send: async (client, requestOptions) => {
				const end = await client.send(call, requestOptions);
				if (end === undefined || 'problem' in end) return end;
				const { body: created } = end;
				const uid = uidOf(created) ?? '';
				const createdJob = { namespace, uid, shownUid: client.redact(uid), displayName };
				const isWanted = (field: string) => !values.simplify || !OMITTED.includes(field);
				const wanted = Object.entries(created).filter(([field]) => isWanted(field));
				const output = { ...Object.fromEntries(wanted), ...(callback && { callback: null }) };
				return { output: [output], createdJob, callback };
			},
		};
	},
});
