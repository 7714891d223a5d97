import type { INodeProperties } from 'n8n-workflow';

import type { JsonObject } from '../json';
import type { GetField } from '../parameters/itemParameters';
import type { ServiceClient } from '../service/client';
import type { RequestOptions } from '../service/request';
import type { NamedJob } from '../texts';
import type { Callback } from '../waitUntilCalled/callback';

export interface CreatedJob {
	namespace: string;
	/** The job's ID as errors and logs show it. Secrets are withheld, because the service could repeat one in the ID. */
	uid: string;
	displayName: string;
}

/** The result of a call for one item. */
export interface CallResult {
	/** The JSON of the item's output items. */
	output: JsonObject[];
	createdJob?: CreatedJob;
	/** A note for the user about the result, such as the reason why there is no output. */
	hint?: string | undefined;
	callback?: Callback | undefined;
}

/** A call that is ready to be made: everything that it needs has been read and checked. */
export interface PreparedCall {
	/** The job that the call is to create. */
	job?: NamedJob;
	send: (client: ServiceClient, options: RequestOptions) => Promise<CallResult>;
}

/** An operation of the node: how the editor shows it, and what it does. */
export interface Operation {
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
	fields: INodeProperties[];
	/**
	 * Whether running the operation twice has the same effect as running it once; by default, true unless the operation
	 * creates jobs. It decides whether Retry runs an item again after an unclear answer. Give it the same value as the
	 * `idempotent` of the operation's call, which decides whether the request is sent again.
	 */
	idempotent?: boolean;
	/** The participle that says what happens to an item's job, as in "2 of 4 jobs were stopped". */
	done?: string;
	/** Whether the operation creates jobs, which errors, error items and logs then report. */
	createsJobs?: boolean;
	/**
	 * Reads and checks the parameters of one item.
	 *
	 * @throws FieldError; `newCallback` throws it as well, unless the item is the only one
	 */
	prepare: (getField: GetField, newCallback: (limitMs: number) => Callback) => PreparedCall;
}
