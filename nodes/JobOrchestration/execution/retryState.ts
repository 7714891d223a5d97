import type { INode } from 'n8n-workflow';

import type { JsonObject } from '../json';
import { isJsonObject } from '../json';
import { newApiError } from './errors';
import type { CreatedJob, ItemOutcome, ItemOutcomes } from './itemOutcome';
import { createdJobsIn } from './itemOutcome';

/**
 * What a failed run of the node leaves to the next run with the same items: which of them need not, or must not,
 * be run again. Plain data, since n8n stores it with the execution.
 */
export interface RetryState {
	/** Resource and operation. A run of another one ignores this state. */
	operation: string;
	/** By the item's position; null for those to be run again. */
	items: Array<SettledItem | null>;
	/** The jobs that were made and ended: an error still names them. */
	endedJobs: CreatedJob[];
}

/** What a run begins with. */
export interface RestoredRun {
	/** Undefined for each item to be run. */
	outcomes: ItemOutcomes;
	/** The jobs that earlier runs have made and ended. */
	endedJobs: CreatedJob[];
	/** What is known of items that this run isn't given: with Execute Once, n8n gives it the first only. */
	omitted: RetryState['items'];
}

/** An item that has its result, or whose job may exist. */
type SettledItem = { createdJobs: CreatedJob[] } & (
	| { output: JsonObject[] }
	| { error: { message: string; description: string; httpStatus: number | null } }
);

/** Added to the error of an item that is not run again. */
const NOT_SENT_AGAIN = 'It was sent in an earlier try, and was not sent again.';

/**
 * What to leave to the next run; undefined if all items are to be run again.
 *
 * That is so for an item that certainly failed, and for one whose jobs have been ended since.
 */
export function retryStateOf(
	operation: string,
	{ outcomes, endedJobs: endedBefore, omitted }: RestoredRun,
): RetryState | undefined {
	const given = outcomes.map((outcome) => (outcome === undefined ? null : settledItemOf(outcome)));
	const items = [...given, ...omitted];
	const endedJobs = [...endedBefore, ...createdJobsIn(outcomes).filter(isEnded)];
	const isEmpty = endedJobs.length === 0 && items.every((item) => item === null);
	return isEmpty ? undefined : { operation, items, endedJobs };
}

/** What an earlier run has left, for one of as many items. */
export function restore(
	earlier: RetryState | undefined,
	{ operation, count, node }: { operation: string; count: number; node: INode },
): RestoredRun {
	const isSame = earlier?.operation === operation;
	const items = isSame ? earlier.items : [];
	const endedJobs = isSame ? earlier.endedJobs : [];
	const outcomes = Array.from({ length: count }, (_, itemIndex): ItemOutcome | undefined => {
		const item = items[itemIndex] ?? undefined;
		if (item === undefined || 'output' in item) return item;
		return {
			createdJobs: item.createdJobs,
			error: newApiError(node, { ...item.error, jobMayExist: true }),
		};
	});
	return { outcomes, endedJobs, omitted: items.slice(count) };
}

/** Whether a value from n8n's database is what an earlier run has left. */
export function isRetryState(value: unknown): value is RetryState {
	return (
		isJsonObject(value) &&
		typeof value.operation === 'string' &&
		Array.isArray(value.items) &&
		value.items.every((item) => item === null || isSettledItem(item)) &&
		areObjects(value.endedJobs)
	);
}

function settledItemOf(outcome: ItemOutcome): SettledItem | null {
	const { createdJobs } = outcome;
	const running = createdJobs.filter((job) => !isEnded(job));
	if (createdJobs.length > 0 && running.length === 0) return null;
	if ('output' in outcome) return { createdJobs: running, output: outcome.output };

	const { message, description, context } = outcome.error;
	if (context.jobMayExist !== true && running.length === 0) return null;
	const { httpStatus } = context;
	return {
		createdJobs: running,
		error: {
			message,
			description: withNote(description ?? ''),
			httpStatus: typeof httpStatus === 'number' ? httpStatus : null,
		},
	};
}

function isEnded({ ending }: CreatedJob): boolean {
	return ending?.success === true;
}

function withNote(description: string): string {
	return description.endsWith(NOT_SENT_AGAIN)
		? description
		: `${description} ${NOT_SENT_AGAIN}`.trimStart();
}

function isSettledItem(value: unknown): boolean {
	if (!isJsonObject(value)) return false;
	const { createdJobs, output, error } = value;
	if (!areObjects(createdJobs)) return false;
	if (Array.isArray(output)) return areObjects(output);
	return (
		isJsonObject(error) &&
		typeof error.message === 'string' &&
		typeof error.description === 'string'
	);
}

function areObjects(value: unknown): boolean {
	return Array.isArray(value) && value.every(isJsonObject);
}
