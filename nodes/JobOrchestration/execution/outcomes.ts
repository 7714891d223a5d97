import type { CallResult, CreatedJob } from '../resources/operation';
import type { Problem } from '../service/errors/problem';
import { type NamedJob, withShortNames } from '../texts';

/** What became of all items, as far as a run knows it: plain data, since n8n stores it with the execution for the next run. */
export interface RunState {
	/**
	 * By the item's position; undefined, and null once it was stored, for an item that wasn't run, or was stopped before
	 * anything was sent. Items that this run isn't given (with Execute Once, n8n gives it the first only) stand at the end.
	 */
	outcomes: Array<ItemOutcome | undefined>;
	/** The jobs that earlier runs have made and ended: an error still names them. */
	endedJobs: ListedJob[];
}

/** What became of an item, and with which account (`ServiceClient.account`). */
export interface ItemOutcome extends Partial<CallResult> {
	problem?: Problem;
	account?: string | undefined;
	/** Whether an earlier execution, which n8n retries, has left the problem. */
	isOfEarlierExecution?: boolean;
}

/** A created job with its item, by which errors and logs list it. */
export type ListedJob = CreatedJob & { itemIndex: number };

/** The most jobs that a text lists; an error's `context.createdJobs` has all of them. */
export const MAX_LISTED = 100;

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
		const { problem, createdJob } = outcome ?? {};
		(problem ? failed : outcome ? succeeded : notBegun).push(itemIndex);
		if (createdJob) created.push({ itemIndex, ...withShortNames(createdJob) });
		if (problem?.uncertainJob) uncertain.push({ itemIndex, ...problem.uncertainJob });
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
