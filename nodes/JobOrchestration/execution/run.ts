import type { IExecuteFunctions } from 'n8n-workflow';

import type { CallResult, CreatedJob, Operation, PreparedCall } from '../resources/operation';
import type { ItemOptions } from '../resources/options';
import type { Clients } from '../service/clients';
import type { Problem } from '../service/errors/problem';
import type { ServiceClient } from '../service/client';
import { type NamedJob, withShortNames } from '../texts';

/** What a run leaves to the next one: plain data, since n8n stores it with the execution. */
export interface RunState {
	/** Version of this shape, resource and operation. A run by another version, or of another operation, ignores it. */
	madeBy: string;
	/**
	 * By the item's position; undefined, and null once it was stored, for an item that wasn't run, or was stopped before
	 * anything was sent. Items that this run isn't given (with Execute Once, n8n gives it the first only) stand at the end.
	 */
	outcomes: Array<ItemOutcome | undefined>;
	/** The jobs that earlier runs have made and ended: an error still names them. */
	endedJobs: ListedJob[];
}

/** What a run begins with. */
export interface Recalled extends RunState {
	/** Whether n8n died while an earlier execution ran this node, so that nobody knows what that has done. */
	wasCutOff: boolean;
}

/** One run of the node: what it begins with, what it is to do, and what became of it. */
export interface Run extends Recalled {
	context: IExecuteFunctions;
	operation: Operation;
	/** The fields that were left out of items, since their expressions gave nothing (undefined): by label, with the items. */
	leftOut: Map<string, number[]>;
	/** The calls to be made, once all items have been read and checked. */
	calls: PreparedItem[];
	clients: Clients;
	/** Those of the first item whose options can be read. */
	options?: ItemOptions;
	/** Items in progress at most, if a Concurrency counts for several accounts; else the account's limiter counts requests. */
	itemsAtOnce?: number;
}

export interface PreparedItem {
	itemIndex: number;
	call: PreparedCall;
	options: ItemOptions;
	client: ServiceClient;
}

/** What became of an item, and with which account (`ServiceClient.account`). Plain data: n8n stores it for Retry. */
export interface ItemOutcome extends Partial<CallResult> {
	error?: Problem;
	account?: string | undefined;
	/** Whether an earlier execution, which n8n retries, has left the error. */
	isOfEarlierExecution?: boolean;
}

/** An error that may end the execution. */
export interface FailedItem {
	itemIndex: number;
	error: Problem;
	cause?: unknown;
}

/** A created job with its item, by which errors and logs list it. */
export type ListedJob = CreatedJob & { itemIndex: number };

/** A run's items and jobs, counted: all that is said of them is made from this. Items are named by their numbers. */
export type Summary = ReturnType<typeof summaryOf>;

export function summaryOf({ outcomes, endedJobs }: RunState) {
	/** By the numbers of items. An item without an outcome was not begun. */
	const succeeded: number[] = [];
	const failed: number[] = [];
	const notBegun: number[] = [];
	/** The jobs of all tries. */
	const created = [...endedJobs];
	/** The items whose job may exist. */
	const uncertain: Array<{ itemIndex: number } & NamedJob> = [];
	/** The items that certainly have no job that runs. */
	const withoutJob: number[] = [];
	for (const [itemIndex, outcome] of outcomes.entries()) {
		const { error, createdJob } = outcome ?? {};
		(error ? failed : outcome ? succeeded : notBegun).push(itemIndex);
		if (createdJob) created.push({ itemIndex, ...withShortNames(createdJob) });
		if (error?.uncertainJob) uncertain.push({ itemIndex, ...error.uncertainJob });
		else if (createdJob === undefined || isEnded(createdJob)) withoutJob.push(itemIndex);
	}
	/** The jobs that this node hasn't ended. */
	const running = created.filter((job) => !isEnded(job));
	const items = { count: outcomes.length, succeeded, failed, notBegun };
	return { ...items, created, running, uncertain, withoutJob };
}

export function isEnded({ cleanup }: CreatedJob): boolean {
	return cleanup?.success === true;
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
