import type { Field, ValuesOf } from '../fields/form';
import type { JsonObject } from '../json';
import type { Call } from '../service/calls/call';
import type { ServiceClient } from '../service/client';
import type { Problem } from '../service/errors/problem';
import type { RequestOptions } from '../service/request';
import type { NamedJob } from '../texts';
import type { Callback } from '../waitUntilCalled/callback';
import type { OptionsField } from './options';

export interface CreatedJob extends NamedJob {
	/** The job's ID as errors and logs show it. Secrets are withheld, because the service could repeat one in the ID. */
	uid: string;
}

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

/** A call that is ready to be made: everything that it needs has been read and checked. */
export interface PreparedCall {
	/** The call, or the first one if there are several. */
	call: Pick<Call<unknown>, 'idempotent' | 'job'>;
	send: (client: ServiceClient, options: RequestOptions) => Promise<Outcome>;
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
	/** The participle that says what happens to an item's job, as in "2 of 4 jobs were stopped". */
	done?: string;
	/** Whether the operation creates jobs, which errors, error items and logs then report. */
	createsJobs?: boolean;
	/**
	 * Arranges the values of one item, which are already checked.
	 *
	 * @throws FieldError; `newCallback` throws it as well, unless the item is the only one
	 */
	prepare(
		values: ValuesOf<[...Fields, Options]>,
		newCallback: (limitMs: number) => Callback,
	): PreparedCall;
}

/** Returns an operation whose `prepare` gets the values of its fields with their types. */
export const operation = <const Fields extends readonly Field[], Options extends OptionsField>(
	described: Operation<Fields, Options>,
): Operation => described;
