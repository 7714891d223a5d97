import { type Added, collection, type Field, number, toggle } from '../fields/form';

/** The values of the options that a user has not added. Without a Concurrency, the node finds its own pace. */
export const DEFAULTS = { maxRetries: 3, timeout: 60_000 };

/**
 * The option by which a user says that an uncertain job doesn't exist. It is not offered to agents, because they have
 * no Retry.
 */
export const createUncertainAgainOption = toggle(
	'Create Again If Uncertain',
	'createUncertainAgain',
	{
		description:
			"Whether n8n's Retry also creates the jobs that a failed execution may have created. Turn it on only after you have looked on the service, and found no such job. An expression can choose among the items.",
		displayOptions: { hide: { '@tool': [true] } },
	},
);

/** The options that all operations have. */
const REQUEST_OPTIONS = [
	number('Concurrency', 'concurrency', {
		typeOptions: { minValue: 1, numberPrecision: 0 },
		default: 10,
		description:
			'Max number of requests in flight at once, up to 100. It replaces the limit that the node finds by itself. Rate limits and outages of the service still delay requests.',
	}),
	number('Max Request Retries', 'maxRetries', {
		typeOptions: { minValue: 0, numberPrecision: 0 },
		default: DEFAULTS.maxRetries,
		description:
			"Max number of times to resend a failed request; 0 for none. A create request is only resent if the service can't have created the job. Rate-limited requests don't count: they are resent even with 0.",
	}),
	number('Timeout', 'timeout', {
		typeOptions: { minValue: 1 },
		default: DEFAULTS.timeout,
		hint: 'In milliseconds: 60000 is one minute',
		description: 'How long to wait for the response to one request',
	}),
];

/** The field Options, of which the run reads the options of all operations. */
export type OptionsField = Field<
	'options',
	Added<[...typeof REQUEST_OPTIONS, typeof createUncertainAgainOption]>
>;

/**
 * Returns the field Options. It has the options of all operations and those of one operation, in alphabetical order.
 *
 * @param own the options of the one operation
 */
export function optionsField<const Own extends Field[]>(...own: Own) {
	const options: Array<(typeof REQUEST_OPTIONS)[number] | Own[number]> = [
		...REQUEST_OPTIONS,
		...own,
	];
	options.sort((a, b) => (a.displayName < b.displayName ? -1 : 1));
	return collection('Options', 'options', options, { placeholder: 'Add Option' });
}
