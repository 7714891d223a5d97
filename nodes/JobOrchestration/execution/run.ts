import type { IExecuteFunctions } from 'n8n-workflow';

import type { Operation, Outcome, PreparedCall } from '../resources/operation';
import type { ServiceClient } from '../service/client';
import type { Problem } from '../service/errors/problem';
import type { RequestOptions } from '../service/request';

/*
 * A run of the node has three steps: it reads and checks all items (`prepare.ts`), makes the calls, and reports. The
 * steps record the outcomes of the items in the run, and return everything else that a later step needs.
 */

/** A run of the node. It begins with the state that an earlier run has left, and its steps complete the outcomes. */
export interface Run {
	context: IExecuteFunctions;
	operation: Operation;
	/**
	 * The outcomes by the item's position. An item that was not run, or that was stopped before anything was sent, has
	 * undefined, which becomes null when n8n stores it. Items that this run is not given come last: with Execute Once,
	 * n8n gives it only the first item.
	 */
	outcomes: Array<Outcome | undefined>;
	/** The account that all items are sent as (`ServiceClient.account`), once it is known. */
	account: string | undefined;
	/**
	 * The items from which a field was left out because its expression evaluated to undefined. The key is the field's
	 * label, the value the numbers of the items.
	 */
	leftOut: Map<string, number[]>;
	/** Whether n8n died while an earlier execution ran this node, so that the effects of that execution are unknown. */
	wasCutOff: boolean;
}

/** An item that is to be run, with everything that its call needs. */
export interface PreparedItem {
	itemIndex: number;
	prepared: PreparedCall;
	options: RequestOptions;
	client: ServiceClient;
}

/** A problem that ends the execution, unless the node is set to continue on errors. */
export interface FatalProblem {
	itemIndex: number;
	problem: Problem;
	/** The value that was thrown, if any. */
	cause?: unknown;
}

/**
 * Returns whether an agent or an MCP client calls the node. n8n appends "Tool" to the type of a node that is a tool.
 */
export function isTool(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('Tool');
}

export function isCancelled(context: IExecuteFunctions): boolean {
	return context.getExecutionCancelSignal()?.aborted === true;
}
