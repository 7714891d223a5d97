import type { IExecuteFunctions } from 'n8n-workflow';

import {
	type Added,
	collection,
	type Field,
	id,
	number,
	toggle,
	type ValuesOf,
} from '../fields/form';
import type { JsonObject } from '../json';
import type { ServiceClient } from '../service/client';
import type { Problem } from '../service/errors/problem';
import type { RequestOptions, ServiceRequest } from '../service/request';
import type { CreatedJob } from '../texts';
import type { Callback } from '../waitUntilCalled';

/** What became of an item. This is plain data, because n8n stores it with the execution for the next run. */
export interface Outcome {
	/** The JSON of the item's output items. */
	output?: JsonObject[];
	createdJob?: CreatedJob;
	/** A note for the user about the result, such as the reason why there is no output. */
	hint?: string | undefined;
	/** The call by the created job that the execution waits for. */
	callback?: Callback | undefined;
	/** Why the item failed. */
	problem?: Problem;
	/** Whether the problem comes from an earlier execution, which n8n retries. */
	isOfEarlierExecution?: boolean;
}

/** An operation of the node: how the editor shows it, and what it does. */
export interface Operation<
	Fields extends readonly Field[] = readonly Field[],
	Options extends OptionsField = OptionsField,
> {
	value: string;
	/** The operation's name in the drop-down of operations. */
	name: string;
	/** The operation's name in n8n's list of actions. n8n also names a new node after it, and wants no articles in it. */
	action: string;
	description: string;
	/**
	 * The operation's fields, in their order. `resources/index.ts` adds the condition that shows them for this
	 * operation.
	 */
	fields: Fields;
	/** The field Options, which comes last. */
	options: Options;
	/**
	 * What is done to an item's job, as in "2 of 4 jobs were stopped". If it is `created`, each call has the job that it
	 * creates, and errors, error items and logs say which jobs exist or may exist.
	 */
	done?: string;
	/**
	 * Arranges the values of one item, which are already checked.
	 *
	 * @returns the call, or the first one if there are several, and a function that makes all calls
	 * @throws FieldError
	 */
	prepare(
		values: ValuesOf<[...Fields, Options]>,
		context: IExecuteFunctions,
	): {
		call: Pick<ServiceRequest<unknown>, 'idempotent' | 'job'>;
		/** Returns the outcome of the item; undefined if the execution was stopped before anything was sent for it. */
		send: (client: ServiceClient, options: RequestOptions) => Promise<Outcome | undefined>;
	};
}

/** Returns an operation whose `prepare` gets the values of its fields with their types. */
export const operation = <const Fields extends readonly Field[], Options extends OptionsField>(
	described: Operation<Fields, Options>,
): Operation => described;

/** The values of the options that a user has not added. Without a Concurrency, the node finds its own pace. */
export const DEFAULTS = { maxRetries: 3, timeout: 60_000 };

/** The field Namespace, which all operations on jobs have. */
export const namespaceField = id('Namespace', 'namespace', {
	required: true,
	default: 'default',
	placeholder: 'e.g. default',
	description:
		'ID of the namespace that the job belongs to: a part of the service that has its own jobs. Leave "default" unless you were given another one.',
});

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
	const options = [...REQUEST_OPTIONS, ...own];
	options.sort((a, b) => (a.displayName < b.displayName ? -1 : 1));
	return collection('Options', 'options', options, { placeholder: 'Add Option' });
}
