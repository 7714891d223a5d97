import { FieldError } from '../fields/fieldError';
import { type Added, id, number } from '../fields/form';
import type { JsonObject } from '../json';
import type { Callback } from './callback';

const ADDRESS_INPUT = 'callbackUrl';
const LIMIT_MINUTES = 60;

/**
 * The options that make Create wait until the job's template calls n8n. They are not offered to agents, because an
 * agent's tools can't wait.
 */
export const callbackOptions = [
	number('Wait Limit', 'waitLimit', {
		// A year is the maximum, because n8n would wait for ever for a date that it can't store, after the job has been
		// created.
		typeOptions: { minValue: 0, maxValue: 365 * 24 * 60 },
		default: LIMIT_MINUTES,
		hint: 'In minutes',
		description:
			'How long Wait Until Called waits for the call; an hour without this option. It has no effect without Wait Until Called.',
		displayOptions: { hide: { '@tool': [true] } },
	}),
	id('Wait Until Called', 'waitUntilCalled', {
		default: ADDRESS_INPUT,
		hint: 'The workflow template must POST its result to the address in this input. The output "callback" is null if no call comes within Wait Limit.',
		description:
			'ID of the job\'s input that receives an address of n8n. The execution waits until the job calls it. Takes one item per execution. The output is the job with the call\'s body as "callback".',
		displayOptions: { hide: { '@tool': [true] } },
	}),
];

/**
 * The text that n8n's editor shows while the execution waits, as an expression. The editor interprets the text as HTML.
 */
export const waitingNodeTooltip = `={{ ((job, { waitUntilCalled: input, waitLimit: limit }) => "Waiting for job '" + String(job).replaceAll('<', '‹') + "' to POST its result to the address in its input '" + (String(input ?? '').trim() || '${ADDRESS_INPUT}').replaceAll('<', '‹') + "', for " + Number(limit ?? ${LIMIT_MINUTES}) + " minutes at most.")($parameter.displayName, $parameter.options) }}`;

/**
 * Returns the ID of the job's input that receives the address, and the callback with the address.
 *
 * @returns undefined if the option is not added
 * @throws FieldError
 */
export function callbackOf(
	{ waitUntilCalled, waitLimit = LIMIT_MINUTES }: Added<typeof callbackOptions>,
	inputs: JsonObject[],
	newCallback: (limitMs: number) => Callback,
): { inputId: string; callback: Callback } | undefined {
	if (waitUntilCalled === undefined) return undefined;
	const inputId = waitUntilCalled || ADDRESS_INPUT;
	if (inputs.some((other) => String(other.id).trim() === inputId)) {
		const problem = `is "${inputId}", which is already an input of the job`;
		const advice = 'Remove that input, or enter the ID of another one.';
		throw new FieldError('Wait Until Called', problem, advice);
	}
	return { inputId, callback: newCallback(waitLimit * 60_000) };
}
