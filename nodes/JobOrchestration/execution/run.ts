import type { IExecuteFunctions } from 'n8n-workflow';

import type { Operation, PreparedCall } from '../resources/operation';
import type { ItemOptions } from '../resources/options';
import type { ServiceClient } from '../service/client';
import type { Clients } from '../service/clients';
import type { Problem } from '../service/errors/problem';
import type { RunState } from './outcomes';

/*
 * One run of the node has four steps: read and check all items (`prepare.ts`), make the calls, end the jobs if the node is set to
 * (`endJobs.ts`), and report. Each returns what it found, and the next one takes it.
 */

/** A run as it begins, with what an earlier run has left: the outcomes are completed on the way. */
export interface Run extends RunState {
	context: IExecuteFunctions;
	operation: Operation;
	/** Whether n8n died while an earlier execution ran this node, so that nobody knows what that has done. */
	wasCutOff: boolean;
}

/** What reading and checking the items has given. */
export interface PreparedRun {
	/** The calls to be made. */
	calls: PreparedItem[];
	clients: Clients;
	/** Of the first item whose options can be read. */
	options: ItemOptions | undefined;
	/** Items in progress at most, if a Concurrency counts for several accounts; else the account's limiter counts requests. */
	itemsAtOnce: number | undefined;
	/** The fields that were left out of items, since their expressions gave nothing (undefined): by label, with the items. */
	leftOut: Map<string, number[]>;
	/** The error that ends the execution before the first call. */
	fatal: FatalProblem | undefined;
}

export interface PreparedItem {
	itemIndex: number;
	call: PreparedCall;
	options: ItemOptions;
	client: ServiceClient;
}

/** A problem that ends the execution, unless the node continues on errors. */
export interface FatalProblem {
	itemIndex: number;
	problem: Problem;
	/** What was thrown, if anything was. */
	cause?: unknown;
}

/** Whether the operation does the same if it is done twice. */
export function isRepeatable({ idempotent, createsJobs }: Operation): boolean {
	return idempotent ?? createsJobs !== true;
}

/** Whether an agent or an MCP client calls the node: n8n names the node's type as a tool so. */
export function isTool(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('Tool');
}

export function isCancelled(context: IExecuteFunctions): boolean {
	return context.getExecutionCancelSignal()?.aborted === true;
}
