import type { CallResult, CreatedJob } from '../resources/operation';
import type { Problem } from '../service/errors/problem';
import { type NamedJob, withShortNames } from '../texts';

/**
 * The outcomes of all items, as far as a run knows them. This is plain data, because n8n stores it with the execution
 * for the next run.
 */
export interface RunState {
	/**
	 * The outcomes by the item's position. An item that was not run, or that was stopped before anything was sent, has
	 * undefined, which becomes null when n8n stores it. Items that this run is not given come last: with Execute Once,
	 * n8n gives it only the first item.
	 */
	outcomes: Array<ItemOutcome | undefined>;
}

/** The outcome of an item, with the account that was used (`ServiceClient.account`). */
export interface ItemOutcome extends Partial<CallResult> {
	problem?: Problem;
	account?: string | undefined;
	/** Whether the problem comes from an earlier execution, which n8n retries. */
	isOfEarlierExecution?: boolean;
}

/** A created job with its item's position, by which errors and logs list the job. */
export type ListedJob = CreatedJob & { itemIndex: number };

/** The maximum number of jobs that a text lists. An error's `context.createdJobs` has all jobs. */
export const MAX_LISTED = 100;

/**
 * A summary of a run's items and jobs, from which all texts about them are made. Items are identified by their numbers.
 */
export type Summary = ReturnType<typeof summaryOf>;

export function summaryOf({ outcomes }: RunState) {
	/** The numbers of the items. An item without an outcome was not begun. */
	const succeeded: number[] = [];
	const failed: number[] = [];
	const notBegun: number[] = [];
	/** The jobs that all tries have created. */
	const created: ListedJob[] = [];
	/** The items whose job may exist. */
	const uncertain: Array<{ itemIndex: number } & NamedJob> = [];
	/** The items that certainly have no job. */
	const withoutJob: number[] = [];
	for (const [itemIndex, outcome] of outcomes.entries()) {
		const { problem, createdJob } = outcome ?? {};
		(problem ? failed : outcome ? succeeded : notBegun).push(itemIndex);
		if (createdJob) created.push({ itemIndex, ...withShortNames(createdJob) });
		if (problem?.uncertainJob) uncertain.push({ itemIndex, ...problem.uncertainJob });
		else if (createdJob === undefined) withoutJob.push(itemIndex);
	}
	const items = { count: outcomes.length, succeeded, failed, notBegun };
	return { ...items, created, uncertain, withoutJob };
}
