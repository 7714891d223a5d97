import type { INodeProperties } from 'n8n-workflow';

import type { JsonObject } from '../../json';
import type { GetField } from '../../parameters/itemParameters';

/**
 * The fields that a simplified job lacks: those that the request already contained, and the one that the engine behind
 * the service made of the request.
 */
const OMITTED = ['type', 'inputs', 'outputs', 'retryOption', 'engineWorkflow'];

/** The fields that identify a job. Every output contains them. */
const ALWAYS_INCLUDED = ['metadata', 'displayName'];

/**
 * The other fields of a job, as the interface document shows them. They are written down here, because the published
 * package doesn't contain the contract: a test compares the two.
 */
const OTHER_FIELDS = [
	{ name: 'Engine Workflow', value: 'engineWorkflow' },
	{ name: 'Group', value: 'group' },
	{ name: 'Inputs', value: 'inputs' },
	{ name: 'Name', value: 'name' },
	{ name: 'Outputs', value: 'outputs' },
	{ name: 'Priority', value: 'priority' },
	{ name: 'Retry Option', value: 'retryOption' },
	{ name: 'Status', value: 'status' },
	{ name: 'Type', value: 'type' },
	{ name: 'Work Cluster', value: 'workCluster' },
	{ name: 'Workflow', value: 'workflow' },
	{ name: 'Workspace', value: 'workspace' },
];

/**
 * The fields that set how much of the job is output. A tool has n8n's usual field Output in place of Simplify (n8n's UX
 * guidelines).
 */
export const jobOutputFields: INodeProperties[] = [
	{
		displayName: 'Simplify',
		name: 'simplify',
		type: 'boolean',
		default: true,
		description: 'Whether to return a simplified version of the response instead of the raw data',
		displayOptions: { hide: { '@tool': [true] } },
	},
	{
		displayName: 'Output',
		name: 'output',
		type: 'options',
		default: 'simplified',
		description: 'How much of the job to return to the model',
		displayOptions: { show: { '@tool': [true] } },
		options: [
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
	},
	{
		displayName: 'Output Fields',
		name: 'outputFields',
		type: 'multiOptions',
		default: [],
		description:
			"Fields to return. 'metadata', which holds the job ID, and 'displayName' are always returned.",
		displayOptions: { show: { '@tool': [true], output: ['selectedFields'] } },
		options: OTHER_FIELDS,
	},
];

/** Returns what an answer contains beside the job: all fields that no job has. */
export function besideJob(answer: JsonObject): JsonObject {
	const ofJob = [...ALWAYS_INCLUDED, ...OTHER_FIELDS.map(({ value }) => value)];
	const others = Object.entries(answer).filter(([name]) => !ofJob.includes(name));
	return Object.fromEntries(others);
}

/**
 * Reads which fields of the created job an item wants in its output.
 *
 * @returns a function that reduces a job to these fields
 * @throws FieldError
 */
export function readJobOutput(getField: GetField): (job: JsonObject) => JsonObject {
	const chosen = getField('outputFields').elements();
	const selected = [...ALWAYS_INCLUDED, ...chosen.map((field) => field.text())];
	const isWanted = {
		raw: () => true,
		simplified: (field: string) => !OMITTED.includes(field),
		selectedFields: (field: string) => selected.includes(field),
	}[readChoice(getField)];
	return (job) => Object.fromEntries(Object.entries(job).filter(([field]) => isWanted(field)));
}

function readChoice(getField: GetField): 'raw' | 'simplified' | 'selectedFields' {
	const output = getField('output');
	if (!output.isMissing) return output.oneOf(['simplified', 'raw', 'selectedFields']);
	const simplify = getField('simplify');
	return simplify.isMissing || simplify.boolean() ? 'simplified' : 'raw';
}
