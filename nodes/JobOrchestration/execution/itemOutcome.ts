import type { NodeApiError, NodeOperationError } from 'n8n-workflow';

import type { Callback, CallResult, CreatedJob } from '../resources/operation';
import type { NamedJob } from '../service/errors/serviceError';

/** An error as n8n shows it: with title, description and item. */
export type NodeError = NodeApiError | NodeOperationError;

/** A created job with its item, by which errors and logs list it. */
export type ListedJob = CreatedJob & { itemIndex: number };

export interface ItemError {
	message: string;
	description: string;
	httpStatus: number | null;
	/** Whether the service may have created a job without this node having learned of it. */
	jobMayExist: boolean;
	/** Whether the service may have done what can't be repeated: then it isn't sent again. */
	mayHaveActed?: boolean | undefined;
	/** The job that was to be created. */
	job?: NamedJob | undefined;
	/** Whether an earlier execution, which n8n retries, has left it so. */
	isOfEarlierExecution?: boolean;
}

/** What became of an item, and with which account (`HttpClient.account`). Plain data: n8n stores it for Retry. */
export type ItemOutcome = (CallResult | { error: ItemError }) & { account?: string | undefined };

/**
 * The outcomes of all items in their order; undefined for those that were not run, or were stopped before anything was
 * sent. Items that this run isn't given (with Execute Once, n8n gives it the first only) stand at the end.
 */
export type ItemOutcomes = Array<ItemOutcome | undefined>;

/** An error that may end the execution. */
export interface FailedItem {
	itemIndex: number;
	error: NodeError;
	/** Whether the error's message says which items it is about. */
	namesItems?: boolean;
	/** Whether every item would meet it, such as a wrong password. */
	isAboutAllItems?: boolean;
}

/** What went wrong with which items. */
export function errorsIn(outcomes: ItemOutcomes): Array<{ itemIndex: number; error: ItemError }> {
	return outcomes.flatMap((outcome, itemIndex) => {
		return outcome && 'error' in outcome ? [{ itemIndex, error: outcome.error }] : [];
	});
}

/** The items whose job may exist. */
export function uncertainIn(outcomes: ItemOutcomes): ReturnType<typeof errorsIn> {
	return errorsIn(outcomes).filter(({ error }) => error.jobMayExist);
}

export function createdJobOf(outcome: ItemOutcome | undefined): CreatedJob | undefined {
	return outcome && 'output' in outcome ? outcome.createdJob : undefined;
}

export function createdJobsIn(outcomes: ItemOutcomes): ListedJob[] {
	return outcomes.flatMap((outcome, itemIndex) => {
		const job = createdJobOf(outcome);
		return job === undefined ? [] : [{ itemIndex, ...job }];
	});
}

/** What the execution waits for: only the first item can have a callback. */
export function callbackIn([outcome]: ItemOutcomes): Callback | undefined {
	return outcome && 'output' in outcome ? outcome.callback : undefined;
}

/** As many numbers as fit into one sentence. */
const MAX_NAMED = 10;

/** What a title says where it names items: users count rows from 1. */
export const FROM_ZERO = '(counted from 0)';

/** Items by their numbers, from 0: "item 4", "items 4 and 14", "items 0, 1, … and 20 more". */
export function itemList(items: ReadonlyArray<{ itemIndex: number }>): string {
	const names = items.slice(0, MAX_NAMED).map(({ itemIndex }) => String(itemIndex));
	if (items.length > MAX_NAMED) names.push(`${items.length - MAX_NAMED} more`);
	const last = names.pop();
	return names.length === 0 ? `item ${last}` : `items ${names.join(', ')} and ${last}`;
}
