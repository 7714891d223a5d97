import type { INodeProperties } from 'n8n-workflow';

import type { GetField } from '../parameters/itemParameters';

const MAX_RETRIES = 3;
const TIMEOUT_MS = 60_000;

/**
 * The option by which a user says that an uncertain job doesn't exist. It is not offered to agents, because they have
 * no Retry.
 */
export const createUncertainAgainOption: INodeProperties = {
	displayName: 'Create Again If Uncertain',
	name: 'createUncertainAgain',
	type: 'boolean',
	default: false,
	description:
		"Whether n8n's Retry also creates the jobs that a failed execution may have created. Turn it on only after you have looked on the service, and found no such job. An expression can choose among the items.",
	displayOptions: { hide: { '@tool': [true] } },
};

/**
 * Returns the field Options. It has the options of all operations and those of one operation, in alphabetical order.
 *
 * @param own the options of the one operation
 */
export function optionsField(...own: INodeProperties[]): INodeProperties {
	const options: INodeProperties[] = [
		{
			displayName: 'Concurrency',
			name: 'concurrency',
			type: 'number',
			typeOptions: { minValue: 1, maxValue: 100 },
			default: 10,
			description:
				'Max number of requests in flight at once, up to 100. It replaces the limit that the node finds by itself. Rate limits and outages of the service still delay requests. If it differs between items, the lowest number applies to all of them.',
		},
		{
			displayName: 'Max Request Retries',
			name: 'maxRetries',
			type: 'number',
			typeOptions: { minValue: 0 },
			default: MAX_RETRIES,
			description:
				"Max number of times to resend a failed request; 0 for none. A create request is only resent if the service can't have created the job. Rate-limited requests don't count: they are resent even with 0.",
		},
		{
			displayName: 'Timeout',
			name: 'timeout',
			type: 'number',
			typeOptions: { minValue: 1 },
			default: TIMEOUT_MS,
			hint: 'In milliseconds: 60000 is one minute',
			description: 'How long to wait for the response to one request',
		},
		...own,
	];
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: options.sort((a, b) => (a.displayName < b.displayName ? -1 : 1)),
	};
}

/** The values that an item sets in the field Options. */
export type ItemOptions = ReturnType<typeof readOptions>;

/**
 * Reads the field Options of an item.
 *
 * @throws FieldError
 */
export function readOptions(getField: GetField) {
	const option = (name: string) => getField('options', name);
	return {
		/**
		 * The maximum number of requests in flight, or undefined if the limit follows the service's own pace. The
		 * limiter caps the number at MAX_LIMIT.
		 */
		concurrency: option('concurrency').optionalNumber({ min: 1, integer: true }),
		maxRetries: option('maxRetries').optionalNumber({ min: 0, integer: true }) ?? MAX_RETRIES,
		/** The time limit for one request, in milliseconds. */
		timeout: option('timeout').optionalNumber({ min: 1 }) ?? TIMEOUT_MS,
		/** Whether the item's job is created again if an earlier execution left the item uncertain. */
		createUncertainAgain: option(createUncertainAgainOption.name).boolean(),
	};
}
