import type { INodeProperties } from 'n8n-workflow';

import type { JsonObject } from '../json';
import type { FieldValue } from '../parameters/fieldValue';
import type { ServiceClient } from '../service/calls/serviceClient';

/** Reads a field of the current item, or a field in one of its collections. */
export type GetField = (field: string, member?: string) => FieldValue;

/** A call that is ready to be made: all that it needs has been read and checked. */
export type PreparedCall = (client: ServiceClient) => Promise<JsonObject[]>;

/** The verb by which jobs are ended if an execution stops half-way. */
export type JobEnd = 'stop' | 'terminate';

/** One operation of the node: what the editor shows of it, and what it does. */
export interface Operation {
	/** As workflows store it. */
	value: string;
	/** As the drop-down of operations shows it. */
	name: string;
	/** As n8n's list of actions shows it, and the canvas below the node's name. n8n wants no articles in it. */
	action: string;
	description: string;
	/** The operation's fields, in their order. `resources/index.ts` adds that they are shown for this operation. */
	fields: INodeProperties[];
	/** Whether it creates jobs: then the log of a cancelled execution lists them. */
	makesJobs?: boolean;
	/**
	 * What to do with the jobs that were created if an error or a cancel ends the execution; undefined to keep
	 * them. The first item decides.
	 *
	 * @throws FieldError
	 */
	ifStopped?: (getField: GetField) => JobEnd | undefined;
	/**
	 * Reads and checks what one item gives.
	 *
	 * @returns the call, which gives the JSON of the item's output items
	 * @throws FieldError
	 */
	prepare: (getField: GetField) => PreparedCall;
}

/** A resource of the node with its operations. */
export interface Resource {
	value: string;
	name: string;
	description: string;
	/** The value of the operation that a new node begins with. */
	defaultOperation: string;
	operations: Operation[];
}
