import type { CreatedJob, Outcome } from '../resources/operation';
import { type NamedJob, withShortNames } from '../texts';

/** A created job with its item's position, by which errors and logs list the job. */
export type ListedJob = CreatedJob & { itemIndex: number };

/** The maximum number of jobs that a text lists. An error's `context.createdJobs` has all jobs. */
export const MAX_LISTED = 100;

/**
 * A summary of a run's items and jobs, from which all texts about them are made. Items are identified by their numbers.
 */
export type Summary = ReturnType<typeof summaryOf>;

export function summaryOf({ outcomes }: { outcomes: Array<Outcome | undefined> }) {
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
