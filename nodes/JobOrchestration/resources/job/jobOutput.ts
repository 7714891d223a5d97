import { choice, texts, toggle, type ValuesOf } from '../../fields/form';
import JOB_FIELDS from '../../__schema__/v1.0.0/job/fields.json';
import type { JsonObject } from '../../json';

/**
 * The fields that a simplified job lacks: those that the request already contained, and the one that the engine behind
 * the service made of the request.
 */
const OMITTED = ['type', 'inputs', 'outputs', 'retryOption', 'engineWorkflow'];

/** The fields that identify a job. Every output contains them. */
const ALWAYS_INCLUDED = ['metadata', 'displayName'];

/** Returns the label of a field: "Retry Option" for `retryOption`. */
const labelOf = (field: string) =>
	field.charAt(0).toUpperCase() + field.slice(1).replace(/[A-Z]/g, ' $&');

/**
 * The fields that set how much of the job is output. A tool has n8n's usual field Output in place of Simplify (n8n's UX
 * guidelines).
 */
export const jobOutputFields = [
	toggle('Simplify', 'simplify', {
		default: true,
		description: 'Whether to return a simplified version of the response instead of the raw data',
		displayOptions: { hide: { '@tool': [true] } },
	}),
	choice(
		'Output',
		'output',
		[
			{
				name: 'Simplified',
				value: 'simplified',
				description:
					'The job without its type, inputs, outputs, retry settings and generated workflow',
			},
			{ name: 'Raw', value: 'raw', description: 'Everything that the service sends' },
			{
				name: 'Selected Fields',
				value: 'selectedFields',
				description: "The fields that you choose, plus 'metadata' and 'displayName'",
			},
		],
		{
			description: 'How much of the job to return to the model',
			displayOptions: { show: { '@tool': [true] } },
		},
	),
	texts('Output Fields', 'outputFields', {
		type: 'multiOptions',
		typeOptions: {},
		description:
			"Fields to return. 'metadata', which holds the job ID, and 'displayName' are always returned.",
		displayOptions: { show: { '@tool': [true], output: ['selectedFields'] } },
		options: JOB_FIELDS.filter((field) => !ALWAYS_INCLUDED.includes(field))
			.sort()
			.map((field) => ({ name: labelOf(field), value: field })),
	}),
];

/** Returns the wanted part of a created job. A field that n8n hides has its default: `simplify` is true for a tool. */
export function wantedOf(
	{ simplify, output, outputFields }: ValuesOf<typeof jobOutputFields>,
	job: JsonObject,
): JsonObject {
	const isWanted = {
		raw: () => true,
		simplified: (field: string) => !OMITTED.includes(field),
		selectedFields: (field: string) => [...ALWAYS_INCLUDED, ...outputFields].includes(field),
	}[simplify ? output : 'raw'];
	return Object.fromEntries(Object.entries(job).filter(([field]) => isWanted(field)));
}
