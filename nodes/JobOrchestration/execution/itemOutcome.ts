import type { NodeApiError, NodeOperationError } from 'n8n-workflow';

import type { JsonObject } from '../json';

/** An error as n8n shows it: with title, description and item. */
export type NodeError = NodeApiError | NodeOperationError;

/** A job that an item has created. */
export interface CreatedJob {
	itemIndex: number;
	namespace: string;
	uid: string;
	/** The uid as errors and logs show it: the service may repeat a secret in it. */
	shownUid: string;
	displayName: string;
	/** What came of stopping or terminating it, where the node is set to do so. */
	ending?:
		| { operation: string; success: true }
		| { operation: string; success: false; message: string };
}

/** What has become of an item, and the jobs that it has created, even where it failed later. */
export type ItemOutcome = { createdJobs: CreatedJob[] } & (
	| { output: JsonObject[] }
	| { error: NodeError }
);

/** The outcomes of all items in their order; undefined for those that were not run, or were stopped before anything was sent. */
export type ItemOutcomes = Array<ItemOutcome | undefined>;

export interface FailedItem {
	itemIndex: number;
	error: NodeError;
}

/** The errors among the outcomes, in the order of the items. */
export function errorsIn(outcomes: ItemOutcomes): FailedItem[] {
	return outcomes.flatMap((outcome, itemIndex) =>
		outcome !== undefined && 'error' in outcome ? [{ itemIndex, error: outcome.error }] : [],
	);
}

/** Whether the service may have created a job without this node having learned of it. */
export function jobMayExist({ error }: FailedItem): boolean {
	return error.context.jobMayExist === true;
}

/** All jobs that were created, in the order of the items. */
export function createdJobsIn(
	items: ReadonlyArray<{ createdJobs: CreatedJob[] } | null | undefined>,
): CreatedJob[] {
	return items.flatMap((item) => item?.createdJobs ?? []);
}
