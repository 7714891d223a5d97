import { choice, id, jsonList, records, text, type ValuesOf } from '../../fields/form';
import { idOf, toText } from '../../fields/checks';
import { FieldError } from '../../fields/expressions';
import type { JsonObject } from '../../json';

/** The values that are sent with an input or output of which only the ID and the value are given. */
export const RECORD_DEFAULTS = { anchors: [], displayName: '', controls: 'input', type: 'string' };

const idField = id('ID', 'id', {
	required: true,
	description: 'ID in the workflow template',
});

/**
 * Returns the two alternatives for entering inputs or outputs: a form and JSON. A language model sees a field's group
 * and label, so the group's name must distinguish inputs from outputs. n8n hides a field that is neither required nor
 * `showEvenWhenOptional`; n8n 1.x shows all fields.
 */
const fieldsFor = <const Group extends 'input' | 'output'>(
	group: Group,
	label: string,
	example: Record<'id' | 'displayName' | 'value', string>,
	valueDescription: string,
) => [
	records(
		`Job ${label}s`,
		`${group}s` as `${Group}s`,
		{
			displayName: label,
			name: group,
			values: [
				{ ...idField, placeholder: `e.g. ${example.id}` },
				text('Value', 'value', {
					typeOptions: { showEvenWhenOptional: true, acceptsJson: true },
					description: valueDescription,
				}),
				text('Display Name', 'displayName', { placeholder: `e.g. ${example.displayName}` }),
				text('Value Type', 'type', {
					default: RECORD_DEFAULTS.type,
					description: 'Leave "string" (text) unless the workflow template needs another type',
				}),
			],
		},
		{
			placeholder: `Add ${label}`,
			// With `show` for 'fields', n8n would drop the records of a workflow that was written by hand without the choice.
			displayOptions: { hide: { specifyParameters: ['json'] } },
		},
	),
	jsonList(`Job ${label}s (JSON)`, `${group}sJson` as `${Group}sJson`, {
		hint: `e.g. [{ "id": "${example.id}", "default": "${example.value}" }]`,
		description:
			'A list of objects, sent as they are. What is "Value" in the fields is "default" here, and sent as text.',
		displayOptions: { show: { specifyParameters: ['json'] } },
	}),
];

/** The choice of how a job's inputs and outputs are entered, and the fields for entering them. */
export const inputAndOutputFields = [
	choice('Specify Inputs and Outputs', 'specifyParameters', [
		{ name: 'Using Fields Below', value: 'fields' },
		{ name: 'Using JSON', value: 'json', description: 'Enter lists as JSON, or use expressions' },
	]),
	...fieldsFor(
		'input',
		'Input',
		{ id: 'threshold', displayName: 'Threshold', value: '0.5' },
		'Value of the input, as text. A list or an object is sent as JSON.',
	),
	...fieldsFor(
		'output',
		'Output',
		{ id: 'report', displayName: 'Report', value: '/reports/july.pdf' },
		'What the workflow template expects for this output, such as the path to write it to. Leave it empty if the template expects nothing.',
	),
];

/**
 * Returns an item's inputs and outputs as they are sent, from the form or from JSON.
 *
 * @throws FieldError
 */
export function inputsAndOutputsOf(values: ValuesOf<typeof inputAndOutputFields>) {
	return values.specifyParameters === 'json'
		? {
				inputs: fromJson(values.inputsJson, 'Job Inputs (JSON)'),
				outputs: fromJson(values.outputsJson, 'Job Outputs (JSON)'),
			}
		: { inputs: values.inputs.map(fromForm), outputs: values.outputs.map(fromForm) };
}

const fromForm = ({
	value,
	type,
	...record
}: Record<'id' | 'value' | 'displayName' | 'type', string>): JsonObject => ({
	...RECORD_DEFAULTS,
	...record,
	default: value,
	type: type || RECORD_DEFAULTS.type,
});

/**
 * Returns the records as they are given, because the service may know fields of a record that the form doesn't have.
 * Their values are converted to text, as the form's values are.
 */
const fromJson = (list: JsonObject[], field: string): JsonObject[] =>
	list.map((record, index) => {
		const label = `${field} ${index + 1}`;
		idOf(idField, { label: `${label} › ID`, value: record.id });
		const { default: value } = record;
		if (toText(value) !== '') return { ...record, default: toText(value) };
		if (!('value' in record)) return record;
		const advice = 'Rename it: the service knows the value of a parameter as "default".';
		throw new FieldError(label, 'has "value" instead of "default"', advice);
	});
