import type { INodeProperties } from 'n8n-workflow';

import type { Given } from '../../parameters/given';
import type { NewJob, ParameterRecord } from '../../service/shapes';
import type { Give, Operation } from '../operation';
import { optionsField } from '../options';
import { namespaceField } from './namespace';

/** The fields of a parameter, with examples of what may be in them. */
const fieldsOfRecord = (example: { id: string; displayName: string }): INodeProperties[] => [
	{
		displayName: 'ID',
		name: 'id',
		type: 'string',
		required: true,
		default: '',
		placeholder: `e.g. ${example.id}`,
		description: 'What the workflow template calls the parameter',
	},
	{
		displayName: 'Display Name',
		name: 'displayName',
		type: 'string',
		default: '',
		placeholder: `e.g. ${example.displayName}`,
		description: 'Name of the parameter as people see it',
	},
	{
		displayName: 'Default Value',
		name: 'default',
		type: 'string',
		default: '',
		description: 'Value of the parameter, as text. It may hold JSON.',
	},
	{
		displayName: 'Type',
		name: 'type',
		type: 'string',
		default: 'string',
		description: 'Type of the value. The only one that is documented is "string".',
	},
	{
		displayName: 'Controls',
		name: 'controls',
		type: 'string',
		default: 'input',
		description:
			'Form control for the parameter. The only one that is documented is "input", for outputs too.',
	},
	{
		displayName: 'Anchors',
		name: 'anchors',
		type: 'fixedCollection',
		typeOptions: { multipleValues: true },
		placeholder: 'Add Anchor',
		default: {},
		description: 'Connections of the parameter to the workflow template',
		options: [
			{
				displayName: 'Anchor',
				name: 'anchor',
				values: [
					{
						displayName: 'Source',
						name: 'source',
						type: 'string',
						default: '',
						placeholder: 'e.g. step-1',
						description: 'What the parameter is tied to, such as the ID of a step of the template',
					},
					{
						displayName: 'Source Anchor',
						name: 'sourceAnchor',
						type: 'string',
						default: '',
						placeholder: 'e.g. result',
						description: 'Which anchor of the source it is tied to',
					},
				],
			},
		],
	},
];

/** The two ways to give the inputs, or the outputs, of a job. */
function recordFields(
	name: 'inputs' | 'outputs',
	displayName: string,
	example: { id: string; displayName: string },
): INodeProperties[] {
	const oneOfThem = displayName.slice(0, -1);
	return [
		{
			displayName,
			name,
			type: 'fixedCollection',
			typeOptions: { multipleValues: true },
			placeholder: 'Add Parameter',
			default: {},
			description: `${oneOfThem} parameters of the job`,
			displayOptions: { show: { specifyParameters: ['fields'] } },
			options: [{ displayName: 'Parameter', name: 'parameter', values: fieldsOfRecord(example) }],
		},
		{
			displayName: `${displayName} (JSON)`,
			name: `${name}Json`,
			type: 'json',
			default: '[]',
			description: `${oneOfThem} parameters of the job: a list of parameter records as the service has them, sent as given`,
			displayOptions: { show: { specifyParameters: ['json'] } },
		},
	];
}

const additionalFields: INodeProperties = {
	displayName: 'Additional Fields',
	name: 'additionalFields',
	type: 'collection',
	placeholder: 'Add Field',
	default: {},
	options: [
		{
			displayName: 'Job Max Retry',
			name: 'maxRetry',
			type: 'number',
			typeOptions: { minValue: 0 },
			default: 0,
			description: 'How many times the service runs the job again if it fails',
		},
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
			displayName: 'Metadata (JSON)',
			name: 'metadata',
			type: 'json',
			default: '{}',
			description: 'Metadata of the job, as an object',
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
			description: 'Kind of the job. The only one that is documented is "normal".',
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
	action: 'Create a job',
	description: 'Run a workflow template as a new job on a work cluster',
	fields: [
		namespaceField,
		{
			displayName: 'Workflow UID',
			name: 'workflowUid',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. 7c9e6679-7425-40de-944b-e07fc1f90ae7',
			hint: 'A workflow template on the service, not this n8n workflow',
			description:
				'UID of the workflow template that the job is made from, as the service shows it',
		},
		{
			displayName: 'Work Cluster',
			name: 'workCluster',
			type: 'resourceLocator',
			required: true,
			default: { mode: 'list', value: '' },
			description: 'Work cluster that executes the job',
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
					hint: 'metadata.uid of a cluster. After Get Many: {{ $json.metadata.uid }}',
				},
			],
		},
		{
			displayName: 'Display Name',
			name: 'displayName',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. Nightly report',
			description: 'Name of the job as people see it. It need not be unique.',
		},
		{
			displayName: 'Group',
			name: 'group',
			type: 'string',
			default: '',
			placeholder: 'e.g. reports',
			description: 'Work group of the job. Leave it empty for none.',
		},
		{
			displayName: 'Specify Parameters',
			name: 'specifyParameters',
			type: 'options',
			default: 'fields',
			description: 'How the inputs and outputs of the job are given',
			options: [
				{
					name: 'Using Fields Below',
					value: 'fields',
					description: 'One form for each parameter',
				},
				{
					name: 'Using JSON',
					value: 'json',
					description: 'A list of parameters as JSON, or from an expression',
				},
			],
		},
		...recordFields('inputs', 'Inputs', { id: 'input-1', displayName: 'Threshold' }),
		...recordFields('outputs', 'Outputs', { id: 'output-1', displayName: 'Result' }),
		additionalFields,
		optionsField(),
	],
	makesJobs: true,
	prepare(give) {
		const job = readJob(give);
		return async (service) => [await service.createJob(job)];
	},
};

function readJob(give: Give): NewJob {
	const asJson = give('specifyParameters').text() === 'json';
	const priority = give('additionalFields', 'priority').optionalNumber();
	const maxRetry = give('additionalFields', 'maxRetry').optionalNumber({ least: 0, whole: true });
	const retryInterval = give('additionalFields', 'retryInterval').optionalNumber({ least: 0 });
	const workspace = give('additionalFields', 'workspace').text();
	return {
		namespace: give('namespace').id(),
		workflowUid: give('workflowUid').id(),
		workCluster: give('workCluster').id(),
		displayName: give('displayName').requiredText(),
		group: give('group').text(),
		inputs: asJson ? give('inputsJson').jsonRecords() : readRecords(give('inputs')),
		outputs: asJson ? give('outputsJson').jsonRecords() : readRecords(give('outputs')),
		type: give('additionalFields', 'type').text() || 'normal',
		metadata: give('additionalFields', 'metadata').jsonObject(),
		...(priority === undefined ? {} : { priority }),
		...(maxRetry === undefined ? {} : { maxRetry }),
		...(retryInterval === undefined ? {} : { retryInterval }),
		...(workspace === '' ? {} : { workspace }),
	};
}

function readRecords(collection: Given): ParameterRecord[] {
	return collection.records('parameter').map((record) => ({
		id: record.member('id', `${record.field} › ID`).requiredText(),
		anchors: record
			.member('anchors', `${record.field} › Anchors`)
			.records('anchor')
			.map((anchor) => ({
				source: anchor.member('source', `${anchor.field} › Source`).text(),
				sourceAnchor: anchor.member('sourceAnchor', `${anchor.field} › Source Anchor`).text(),
			})),
		displayName: record.member('displayName', `${record.field} › Display Name`).text(),
		controls: record.member('controls', `${record.field} › Controls`).text() || 'input',
		default: record.member('default', `${record.field} › Default Value`).textOrJson(),
		type: record.member('type', `${record.field} › Type`).text() || 'string',
	}));
}
