import type { INodeProperties } from 'n8n-workflow';

import type { JsonObject } from '../json';
import type { GetField } from '../parameters/itemParameters';
import type { ServiceClient } from '../service/client';
import type { RequestOptions } from '../service/request';
import type { NamedJob } from '../texts';
import type { Callback } from '../waitUntilCalled/callback';

export interface CreatedJob {
	namespace: string;
	/** As errors and logs show it, without secrets: the service could repeat one in it. */
	uid: string;
	displayName: string;
	/** What became of it where the node is set to end its jobs. */
	cleanup?:
		| { operation: string; success: true }
		| { operation: string; success: false; message: string };
}

/** What a call has given to an item. */
export interface CallResult {
	/** The JSON of the item's output items. */
	output: JsonObject[];
	createdJob?: CreatedJob;
	/** Why there is no output, for the user. */
	hint?: string | undefined;
	callback?: Callback | undefined;
}

/** A call that is ready to be made: all that it needs has been read and checked. */
export interface PreparedCall {
	/** The job that it is to create. */
	job?: NamedJob;
	send: (client: ServiceClient, options: RequestOptions) => Promise<CallResult>;
}

/** One operation of the node: what the editor shows of it, and what it does. */
export interface Operation {
	value: string;
	/** As the drop-down of operations shows it. */
	name: string;
	/** As n8n's list of actions shows it, and the canvas below the node's name. n8n wants no articles in it. */
	action: string;
	description: string;
	/** The operation's fields, in their order. `resources/index.ts` adds that they are shown for this operation. */
	fields: INodeProperties[];
	/** Of a state change: whether sending it twice does the same as once. If not, an unclear answer ends it. */
	idempotent?: boolean;
	/** What becomes of an item's job, as in "2 of 4 jobs were stopped". */
	done?: string;
	/** Whether it creates jobs, which errors, error items and logs then tell of. */
	createsJobs?: boolean;
	/** Reads and checks what one item gives. @throws FieldError, as `newCallback` does unless the item is the only one */
	prepare: (getField: GetField, newCallback: (limitMs: number) => Callback) => PreparedCall;
}
