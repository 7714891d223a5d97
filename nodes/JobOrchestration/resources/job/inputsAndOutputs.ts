import type { INodeProperties } from 'n8n-workflow';

import type { FieldValue } from '../../parameters/fieldValue';
import type { Anchor, NewJob, ParameterRecord } from '../../service/calls/shapes';
import type { GetField } from '../../parameters/itemParameters';

/** What differs between the fields for inputs and those for outputs. */
interface Side {
	label: 'Input' | 'Output';
	/**
	 * The name of the collection's group. n8n describes a field to a language model by its group and its label:
	 * with one group name for both, the model could not tell inputs from outputs.
	 */
	group: 'input' | 'output';
	example: { id: string; displayName: string; value: string };
}

const INPUTS: Side = {
	label: 'Input',
	group: 'input',
	example: { id: 'threshold', displayName: 'Threshold', value: '0.5' },
};

const OUTPUTS: Side = {
	label: 'Output',
	group: 'output',
	example: { id: 'report', displayName: 'Report', value: '/reports/july.pdf' },
};

const anchorsField: INodeProperties = {
	displayName: 'Anchors',
	name: 'anchors',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Anchor',
	default: {},
	description: 'Connections of this input or output in the workflow template',
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
					description: 'ID of what it is connected to, such as a step',
				},
				{
					displayName: 'Source Anchor',
					name: 'sourceAnchor',
					type: 'string',
					default: '',
					placeholder: 'e.g. result',
					description: 'Anchor of the source',
				},
			],
		},
	],
};

/**
 * The fields of one parameter. ID and Value are always there, the others are added when wanted: n8n hides
 * what is neither required nor marked `showEvenWhenOptional`, and n8n 1.x shows all of them.
 */
const fieldsOf = ({ group, example }: Side): INodeProperties[] => [
	{
		displayName: 'ID',
		name: 'id',
		type: 'string',
		required: true,
		default: '',
		placeholder: `e.g. ${example.id}`,
		description: `ID of the ${group} in the workflow template`,
	},
	{
		displayName: 'Value',
		name: 'value',
		type: 'string',
		typeOptions: { showEvenWhenOptional: true },
		default: '',
		description: `Value of the ${group}, as text. A list or an object is sent as JSON.`,
	},
	{
		displayName: 'Display Name',
		name: 'displayName',
		type: 'string',
		default: '',
		placeholder: `e.g. ${example.displayName}`,
		description: `Name to show for the ${group}`,
	},
	{
		displayName: 'Value Type',
		name: 'type',
		type: 'string',
		default: 'string',
		description:
			'Type of the value. Leave "string" (text) unless the workflow template needs another type.',
	},
	{
		displayName: 'Form Control',
		name: 'controls',
		type: 'string',
		default: 'input',
		description: `Control that a form shows for the ${group}. Leave "input" unless the workflow template needs another.`,
	},
	anchorsField,
];

/** The two ways to give the inputs, or the outputs. */
function sideFields(side: Side): INodeProperties[] {
	const { label, group, example } = side;
	const displayName = `Job ${label}s`;
	const name = `${group}s`;
	return [
		{
			displayName,
			name,
			type: 'fixedCollection',
			typeOptions: {
				multipleValues: true,
				hideOptionalFields: true,
				addOptionalFieldButtonText: 'Add Field',
			},
			placeholder: `Add ${label}`,
			default: {},
			description: `${label} parameters of the job`,
			displayOptions: { show: { specifyParameters: ['fields'] } },
			options: [{ displayName: label, name: group, values: fieldsOf(side) }],
		},
		{
			displayName: `${displayName} (JSON)`,
			name: `${name}Json`,
			type: 'json',
			default: '[]',
			hint: `e.g. [{ "id": "${example.id}", "default": "${example.value}" }]`,
			description: `${label} parameters of the job: a list of objects, sent as they are. The value of a parameter goes into "default".`,
			displayOptions: { show: { specifyParameters: ['json'] } },
		},
	];
}

/** What errors call the fields of a parameter; the same for inputs and outputs. */
const LABELS = new Map(fieldsOf(INPUTS).map(({ name, displayName }) => [name, displayName]));

/** The fields for the inputs and outputs of a job. */
export const inputAndOutputFields: INodeProperties[] = [
	{
		displayName: 'Specify Parameters',
		name: 'specifyParameters',
		type: 'options',
		default: 'fields',
		description: 'How to specify the inputs and outputs of the job',
		options: [
			{
				name: 'Using Fields Below',
				value: 'fields',
				description: 'Fill in a form for each input and output',
			},
			{
				name: 'Using JSON',
				value: 'json',
				description: 'Enter lists as JSON, or use expressions',
			},
		],
	},
	...sideFields(INPUTS),
	...sideFields(OUTPUTS),
];

/** Reads an item's inputs and outputs, from the form or from JSON. @throws FieldError */
export function readInputsAndOutputs(getField: GetField): Pick<NewJob, 'inputs' | 'outputs'> {
	return getField('specifyParameters').oneOf(['fields', 'json']) === 'json'
		? {
				inputs: getField('inputsJson').jsonObjects(),
				outputs: getField('outputsJson').jsonObjects(),
			}
		: {
				inputs: getField('inputs').records(INPUTS.group).map(readRecord),
				outputs: getField('outputs').records(OUTPUTS.group).map(readRecord),
			};
}

function readRecord(record: FieldValue): ParameterRecord {
	const member = (name: string) => record.member(name, `${record.field} › ${LABELS.get(name)}`);
	return {
		id: member('id').requiredText(),
		anchors: member('anchors').records('anchor').flatMap(readAnchor),
		displayName: member('displayName').text(),
		controls: member('controls').text() || 'input',
		default: member('value').textOrJson(),
		type: member('type').text() || 'string',
	};
}

/** An anchor, or none if it is blank. @throws FieldError if half of it is missing */
function readAnchor(anchor: FieldValue): Anchor[] {
	const source = anchor.member('source', `${anchor.field} › Source`);
	const sourceAnchor = anchor.member('sourceAnchor', `${anchor.field} › Source Anchor`);
	if (source.isBlank && sourceAnchor.isBlank) return [];
	return [{ source: source.requiredText(), sourceAnchor: sourceAnchor.requiredText() }];
}
