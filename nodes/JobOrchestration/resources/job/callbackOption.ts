import type { INodeProperties, NodeHint } from 'n8n-workflow';

import { FieldError } from '../../parameters/fieldValue';
import type { GetField } from '../../parameters/itemParameters';
import type { NewJob, ParameterRecord } from '../../service/calls/shapes';
import type { Callback } from '../operation';

/** As workflows store it. A constant, because n8n's lint rules expect a number of results of a literal 'limit'. */
const LIMIT = 'limit';

/** A year. n8n would wait for ever for a date that it can't store, once the job is created. */
const MAX_LIMIT_MINUTES = 365 * 24 * 60;

/** The option that has Create wait until the job's template calls n8n. Not offered to agents: their tools can't wait. */
export const waitUntilCalledOption: INodeProperties = {
	displayName: 'Wait Until Called',
	name: 'waitUntilCalled',
	type: 'fixedCollection',
	default: { values: { input: 'callbackUrl', limit: 60 } },
	description:
		'Wait until the job calls n8n: its workflow template must POST a result as JSON to the address in the input below. Takes one item per execution. The output is the job with the call\'s body as "callback", which is null after the limit.',
	displayOptions: { hide: { '@tool': [true] } },
	options: [
		{
			displayName: 'Values',
			name: 'values',
			values: [
				{
					displayName: 'Address Input',
					name: 'input',
					type: 'string',
					default: 'callbackUrl',
					hint: 'The workflow template must POST its result to the address in this input',
					description: "ID of the job's input that receives the address to call",
				},
				{
					displayName: 'Limit in Minutes',
					name: LIMIT,
					type: 'number',
					typeOptions: { minValue: 1 },
					default: 60,
					description: 'How long to wait for the call',
				},
			],
		},
	],
};

/** What n8n's editor shows while the execution waits. It takes the text for HTML. */
export const waitingNodeTooltip = `={{ ((job, { input = 'callbackUrl', limit = 60 } = {}) => "Waiting for job '" + String(job).replaceAll('<', '‹') + "' to POST its result to the address in its input '" + String(input).replaceAll('<', '‹') + "', for " + Number(limit) + " minutes at most. A cancel ends the wait, not the job.")($parameter.displayName, $parameter.options.waitUntilCalled?.values) }}`;

/** n8n runs nothing when the limit is over, and a condition can't see the node's own output: hence "if". */
export const callbackHint: NodeHint = {
	message:
		"If 'callback' is null, the job didn't call within the limit, and may still run. It also runs on after a cancel: its ID is in n8n's log and in the browser's console.",
	type: 'info',
	location: 'outputPane',
	whenToDisplay: 'afterExecution',
	displayCondition: '={{ $parameter.options?.waitUntilCalled !== undefined }}',
};

/**
 * The job's input with the address to call, for which the execution then waits; undefined if the option isn't added.
 *
 * @throws FieldError
 */
export function readCallback(
	getField: GetField,
	inputs: NewJob['inputs'],
	newCallback: (limitMs: number) => Callback,
): { input: ParameterRecord; callback: Callback } | undefined {
	const option = getField('options', waitUntilCalledOption.name);
	if (option.isMissing) return undefined;
	// Without its group, which the form lets one delete, the option stands for its defaults.
	const values = option.member('values');
	const input = values.member('input', 'Address Input');
	const id = input.isBlank ? 'callbackUrl' : input.id();
	const bounds = { min: 0, max: MAX_LIMIT_MINUTES };
	const limit = values.member(LIMIT, 'Limit in Minutes').optionalNumber(bounds) ?? 60;
	if (inputs.some((other) => String(other.id).trim() === id)) {
		throw new FieldError(
			'Address Input',
			`is "${id}", which is already an input of the job`,
			'Remove that input, or enter the ID of another one.',
		);
	}
	const callback = newCallback(limit * 60_000);
	const record = { id, anchors: [], displayName: '', controls: 'input', type: 'string' };
	return { input: { ...record, default: callback.url }, callback };
}
