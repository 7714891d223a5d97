import type { INodeProperties } from 'n8n-workflow';

import type { JsonObject } from '../../json';
import { FieldError } from '../../parameters/fieldError';
import { FieldValue } from '../../parameters/fieldValue';
import type { GetField } from '../../parameters/itemParameters';
import type { NewJob } from '../../service/calls/jobs';

/** The values that are sent with an input or output of which only the ID and the value are given. */
export const EMPTY_RECORD = { anchors: [], displayName: '', controls: 'input', type: 'string' };

type Example = Record<'id' | 'displayName' | 'value', string>;

const text = (
	displayName: string,
	name: string,
	more: Partial<INodeProperties>,
): INodeProperties => ({ displayName, name, type: 'string', default: '', ...more });

/**
 * Returns the fields of one input or output. n8n hides a field that is neither required nor `showEvenWhenOptional`; n8n
 * 1.x shows all fields.
 */
const recordFields = (group: 'input' | 'output', example: Example): INodeProperties[] => [
	text('ID', 'id', {
		required: true,
		placeholder: `e.g. ${example.id}`,
		description: `ID of the ${group} in the workflow template`,
	}),
	text('Value', 'value', {
		typeOptions: { showEvenWhenOptional: true },
		description: `Value of the ${group}, as text. A list or an object is sent as JSON.`,
	}),
	text('Display Name', 'displayName', { placeholder: `e.g. ${example.displayName}` }),
	text('Value Type', 'type', {
		default: EMPTY_RECORD.type,
		description: 'Leave "string" (text) unless the workflow template needs another type',
	}),
	text('Form Control', 'controls', {
		default: EMPTY_RECORD.controls,
		description: `Control that a form shows for the ${group}. Leave "input" unless the workflow template needs another.`,
	}),
	{
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
					text('Source', 'source', {
						placeholder: 'e.g. step-1',
						description: 'ID of what it is connected to, such as a step',
					}),
					text('Source Anchor', 'sourceAnchor', { placeholder: 'e.g. result' }),
				],
			},
		],
	},
];

/**
 * Returns the two alternatives for entering inputs or outputs: a form and JSON. A language model sees a field's group
 * and label, so the group's name must distinguish inputs from outputs.
 */
function fieldsFor(label: 'Input' | 'Output', example: Example): INodeProperties[] {
	const group = label === 'Input' ? 'input' : 'output';
	return [
		{
			displayName: `Job ${label}s`,
			name: `${group}s`,
			type: 'fixedCollection',
			typeOptions: {
				multipleValues: true,
				hideOptionalFields: true,
				addOptionalFieldButtonText: 'Add Field',
			},
			placeholder: `Add ${label}`,
			default: {},
			displayOptions: { show: { specifyParameters: ['fields'] } },
			options: [{ displayName: label, name: group, values: recordFields(group, example) }],
		},
		{
			displayName: `Job ${label}s (JSON)`,
			name: `${group}sJson`,
			type: 'json',
			default: '[]',
			hint: `e.g. [{ "id": "${example.id}", "default": "${example.value}" }]`,
			description:
				'A list of objects, sent as they are. What is "Value" in the fields is "default" here, and sent as text.',
			displayOptions: { show: { specifyParameters: ['json'] } },
		},
	];
}

/** The choice of how a job's inputs and outputs are entered, and the fields for entering them. */
export const inputAndOutputFields: INodeProperties[] = [
	{
		displayName: 'Specify Inputs and Outputs',
		name: 'specifyParameters',
		type: 'options',
		default: 'fields',
		options: [
			{ name: 'Using Fields Below', value: 'fields' },
			{ name: 'Using JSON', value: 'json', description: 'Enter lists as JSON, or use expressions' },
		],
	},
	...fieldsFor('Input', { id: 'threshold', displayName: 'Threshold', value: '0.5' }),
	...fieldsFor('Output', { id: 'report', displayName: 'Report', value: '/reports/july.pdf' }),
];

/**
 * Reads an item's inputs and outputs, from the form or from JSON.
 *
 * @throws FieldError
 */
export function readInputsAndOutputs(getField: GetField): Pick<NewJob, 'inputs' | 'outputs'> {
	return getField('specifyParameters').oneOf(['fields', 'json']) === 'json'
		? { inputs: readJson(getField('inputsJson')), outputs: readJson(getField('outputsJson')) }
		: {
				inputs: readForm(getField('inputs').records('input')),
				outputs: readForm(getField('outputs').records('output')),
			};
}

/**
 * Returns the records as they are given, because the service may know fields of a record that the form doesn't have.
 * Their values are converted to text, as the form's values are.
 */
function readJson(list: FieldValue): JsonObject[] {
	const objects = list.jsonObjects();
	refuseSameIds(new FieldValue(list.field, objects).elements());
	return objects.map((object, index) => {
		const value = new FieldValue(`${list.field} ${index + 1}`, object.default);
		if (!value.isMissing) return { ...object, default: value.textOrJson() };
		if (!('value' in object)) return object;
		const advice = 'Rename it: the service knows the value of a parameter as "default".';
		throw new FieldError(value.field, 'has "value" instead of "default"', advice);
	});
}

function readForm(records: FieldValue[]): JsonObject[] {
	refuseSameIds(records);
	return records.map(readRecord);
}

function refuseSameIds(records: FieldValue[]): void {
	const ids = new Set<string>();
	for (const record of records) {
		const field = partOf(record, 'id', 'ID');
		const id = field.id();
		if (ids.has(id)) {
			const advice = 'Remove one of the two, or give it another ID.';
			throw new FieldError(field.field, `is "${id}", which an earlier one has`, advice);
		}
		ids.add(id);
	}
}

function readRecord(record: FieldValue): JsonObject {
	return {
		id: partOf(record, 'id', 'ID').id(),
		anchors: partOf(record, 'anchors', 'Anchors').records('anchor').flatMap(readAnchor),
		displayName: definedPartOf(record, 'displayName', 'Display Name').text(),
		controls: definedPartOf(record, 'controls', 'Form Control').text() || EMPTY_RECORD.controls,
		default: definedPartOf(record, 'value', 'Value').textOrJson(),
		type: definedPartOf(record, 'type', 'Value Type').text() || EMPTY_RECORD.type,
	};
}

/**
 * Returns an anchor, or none if it was left empty.
 *
 * @throws FieldError if half of the anchor is missing
 */
function readAnchor(anchor: FieldValue): JsonObject[] {
	const source = partOf(anchor, 'source', 'Source');
	const sourceAnchor = partOf(anchor, 'sourceAnchor', 'Source Anchor');
	if ([source, sourceAnchor].every((part) => part.isBlank && !part.isUndefined)) return [];
	return [{ source: source.id(), sourceAnchor: sourceAnchor.id() }];
}

function partOf(record: FieldValue, name: string, label: string): FieldValue {
	return record.member(name, `${record.field} › ${label}`);
}

/**
 * Returns a part of a record. Refuses undefined, because with an empty value the job would do something other than what
 * was meant.
 */
function definedPartOf(record: FieldValue, name: string, label: string): FieldValue {
	return partOf(record, name, label).defined();
}
