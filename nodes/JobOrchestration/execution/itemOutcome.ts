import type { NodeApiError, NodeOperationError } from 'n8n-workflow';

import type { CallResult, JobIdentity } from '../resources/operation';

/** An error as n8n shows it: with title, description and item. */
export type NodeError = NodeApiError | NodeOperationError;

export interface CreatedJob extends JobIdentity {
	itemIndex: number;
	cleanup?:
		| { operation: string; success: true }
		| { operation: string; success: false; message: string };
}

/** What a call has given to an item. */
export type ItemResult = Omit<CallResult, 'createdJob'> & { createdJob?: CreatedJob | undefined };

export type ItemOutcome = ItemResult | { error: NodeError };

/** The outcomes of all items in their order; undefined for those that were not run, or were stopped before anything was sent. */
export type ItemOutcomes = Array<ItemOutcome | undefined>;

export interface FailedItem {
	itemIndex: number;
	error: NodeError;
	/** Whether the error's message says which items it is about. */
	namesItems?: boolean;
	/** Whether every item would meet it, such as a wrong password. */
	isAboutAllItems?: boolean;
}

export function errorsIn(outcomes: ItemOutcomes): FailedItem[] {
	return outcomes.flatMap((outcome, itemIndex) =>
		outcome !== undefined && 'error' in outcome ? [{ itemIndex, error: outcome.error }] : [],
	);
}

/** Whether the service may have created a job without this node having learned of it. */
export function jobMayExist({ error }: FailedItem): boolean {
	return error.context.jobMayExist === true;
}

export function createdJobsIn(
	items: ReadonlyArray<ItemResult | { error: unknown } | null | undefined>,
): CreatedJob[] {
	return items.flatMap((item) => (item && 'output' in item ? (item.createdJob ?? []) : []));
}

/** As many numbers as fit into one sentence. */
const MAX_NAMED = 10;

/** Items by their numbers, from 0: "item 4", "items 4 and 14", "items 0, 1, … and 20 more". */
export function itemList(items: readonly FailedItem[]): string {
	const names = items.slice(0, MAX_NAMED).map(({ itemIndex }) => String(itemIndex));
	if (items.length > MAX_NAMED) names.push(`${items.length - MAX_NAMED} more`);
	const last = names.pop();
	return names.length === 0 ? `item ${last}` : `items ${names.join(', ')} and ${last}`;
}
