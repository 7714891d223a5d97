import type { IExecuteFunctions } from 'n8n-workflow';

import type { Operation, PreparedCall } from '../resources/operation';
import type { ItemOptions } from '../resources/options';
import type { ServiceClient } from '../service/client';
import type { Problem } from '../service/errors/problem';
import type { RunState } from './outcomes';

/*
 * A run of the node has three steps: it reads and checks all items (`prepare.ts`), makes the calls, and reports. The
 * steps record the outcomes of the items in the run, and return everything else that a later step needs.
 */

/** A run of the node. It begins with the state that an earlier run has left, and its steps complete the outcomes. */
export interface Run extends RunState {
	context: IExecuteFunctions;
	operation: Operation;
	/** Whether n8n died while an earlier execution ran this node, so that the effects of that execution are unknown. */
	wasCutOff: boolean;
}

/** The result of reading and checking the items. */
export interface PreparedRun {
	/** The calls that are to be made. */
	calls: PreparedItem[];
	/**
	 * The maximum number of items in progress, set if a Concurrency applies to several accounts together. With one
	 * account, the account's limiter counts the requests instead.
	 */
	itemsAtOnce: number | undefined;
	/**
	 * The items from which a field was left out because its expression evaluated to undefined. The key is the field's
	 * label, the value the numbers of the items.
	 */
	leftOut: Map<string, number[]>;
	/** The problem that ends the execution before the first call. */
	fatal: FatalProblem | undefined;
}

export interface PreparedItem {
	itemIndex: number;
	call: PreparedCall;
	options: ItemOptions;
	client: ServiceClient;
}

/** A problem that ends the execution, unless the node is set to continue on errors. */
export interface FatalProblem {
	itemIndex: number;
	problem: Problem;
	/** The value that was thrown, if any. */
	cause?: unknown;
}

/** Returns whether running the operation twice has the same effect as running it once. */
export function isRepeatable({ idempotent, createsJobs }: Operation): boolean {
	return idempotent ?? createsJobs !== true;
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
