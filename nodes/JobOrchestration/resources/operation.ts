import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { Given } from '../parameters/given';
import type { Service } from '../service/service';

/** What the item at hand gives for a field, or for a field of a collection. */
export type Give = (field: string, member?: string) => Given;

/** A call that is ready to be made: all that it needs has been read and checked. */
export type PreparedCall = (service: Service) => Promise<IDataObject[]>;

/** One operation of the node: what the editor shows of it, and what it does. */
export interface Operation {
	/** As workflows store it. */
	value: string;
	/** As the drop-down of operations shows it. */
	name: string;
	/** As the panel of nodes shows it. */
	action: string;
	description: string;
	/** The operation's fields, in their order. When they are shown is added by the resource. */
	fields: INodeProperties[];
	/** Whether each output item is a job that was made: no error may let it get out of sight. */
	makesJobs?: boolean;
	/**
	 * Reads and checks what one item gives.
	 *
	 * @returns the call, which gives the JSON of the item's output items
	 * @throws FieldError
	 */
	prepare: (give: Give) => PreparedCall;
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
