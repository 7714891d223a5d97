import type { INodeProperties } from 'n8n-workflow';

import type { JsonObject } from '../json';
import { FieldError } from '../parameters/fieldError';
import type { GetField } from '../parameters/itemParameters';
import type { Callback } from './callback';

const ADDRESS_INPUT = 'callbackUrl';
const LIMIT_MINUTES = 60;

/**
 * The bounds of Wait Limit. A year is the maximum, because n8n would wait for ever for a date that it can't store,
 * after the job has been created.
 */
const BOUNDS_MINUTES = { min: 0, max: 365 * 24 * 60 };

/**
 * The options that make Create wait until the job's template calls n8n. They are not offered to agents, because an
 * agent's tools can't wait.
 */
export const callbackOptions: INodeProperties[] = [
	{
		displayName: 'Wait Limit',
		name: 'waitLimit',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: LIMIT_MINUTES,
		hint: 'In minutes',
		description: 'How long Wait Until Called waits for the call; an hour without this option',
		displayOptions: { hide: { '@tool': [true] } },
	},
	{
		displayName: 'Wait Until Called',
		name: 'waitUntilCalled',
		type: 'string',
		default: ADDRESS_INPUT,
		hint: 'The workflow template must POST its result to the address in this input',
		description:
			'ID of the job\'s input that receives an address of n8n. The execution waits until the job calls it. Takes one item per execution. The output is the job with the call\'s body as "callback", which is null if no call comes within Wait Limit.',
		displayOptions: { hide: { '@tool': [true] } },
	},
];

/**
 * The text that n8n's editor shows while the execution waits, as an expression. The editor interprets the text as HTML.
 */
export const waitingNodeTooltip = `={{ ((job, { waitUntilCalled: input, waitLimit: limit }) => "Waiting for job '" + String(job).replaceAll('<', '‹') + "' to POST its result to the address in its input '" + (String(input ?? '').trim() || '${ADDRESS_INPUT}').replaceAll('<', '‹') + "', for " + Number(limit ?? ${LIMIT_MINUTES}) + " minutes at most.")($parameter.displayName, $parameter.options) }}`;

/**
 * Reads the ID of the job's input that receives the address, and creates the callback.
 *
 * @returns undefined if the option is not added
 * @throws FieldError
 */
export function readCallback(
	getField: GetField,
	inputs: JsonObject[],
	newCallback: (limitMs: number) => Callback,
): { inputId: string; callback: Callback } | undefined {
	if (!getField('options').has('waitUntilCalled')) return undefined;
	const input = getField('options', 'waitUntilCalled');
	const inputId = input.isBlank ? ADDRESS_INPUT : input.id();
	const limit = getField('options', 'waitLimit').optionalNumber(BOUNDS_MINUTES) ?? LIMIT_MINUTES;
	if (inputs.some((other) => String(other.id).trim() === inputId)) {
		const problem = `is "${inputId}", which is already an input of the job`;
		throw new FieldError(
			input.field,
			problem,
			'Remove that input, or enter the ID of another one.',
		);
	}
	return { inputId, callback: newCallback(limit * 60_000) };
}
