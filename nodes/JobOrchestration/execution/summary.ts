import type { Outcome } from '../resources/operation';
import { asPlainText, type CreatedJob, MAX, nameOf, type NamedJob, present } from '../texts';
import type { Run } from './run';

/*
 * What a run knows of its items and jobs, and how lists and hints say it.
 */

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
	const created: Array<{ itemIndex: number } & CreatedJob> = [];
	/** The items whose job may exist. */
	const uncertain: Array<{ itemIndex: number } & NamedJob> = [];
	for (const [itemIndex, outcome] of outcomes.entries()) {
		const { problem, createdJob } = outcome ?? {};
		(problem ? failed : outcome ? succeeded : notBegun).push(itemIndex);
		if (createdJob) created.push({ itemIndex, ...createdJob });
		if (problem?.uncertainJob) uncertain.push({ itemIndex, ...problem.uncertainJob });
	}
	const items = { count: outcomes.length, succeeded, failed, notBegun };
	return { ...items, created, uncertain };
}

/** Says once in a text how its items are counted, because users count rows from 1. */
export const COUNTED_FROM_0 = 'Items are counted from 0.';

/**
 * Returns a list of items by their numbers, counted from 0, in order: "item 4", "items 4 and 14", "items 2, 24 to 99
 * and 20 more".
 */
export function itemList(items: readonly number[]): string {
	const ranges: number[][] = [];
	for (const item of items) {
		const range = ranges.at(-1);
		if (range?.at(-1) === item - 1) range.push(item);
		else ranges.push([item]);
	}
	const names = ranges
		.slice(0, MAX.items)
		.map((range) => (range.length === 1 ? `${range[0]}` : `${range[0]} to ${range.at(-1)}`));
	const more = ranges.slice(MAX.items).flat().length;
	if (more > 0) names.push(`${more} more`);
	const list = names.join(', ').replace(/, ([^,]*)$/, ' and $1');
	return `${items.length === 1 ? 'item' : 'items'} ${list}`;
}

/**
 * Returns one text for each job of a list, at most `MAX.jobs`: "item 3: 4f0c2a5e ('Report' in namespace 'default')".
 *
 * @param place where all jobs are, if the list is longer
 */
export function jobList(
	jobs: Array<NamedJob & { itemIndex: number; shownUid?: string }>,
	place = '',
): string[] {
	const names = jobs.slice(0, MAX.jobs).map(({ itemIndex, shownUid: uid, ...job }) => {
		return `item ${itemIndex}: ${uid === undefined ? nameOf(job) : `${uid} (${nameOf(job)})`}`;
	});
	if (jobs.length > MAX.jobs) names.push(`and ${jobs.length - MAX.jobs} more${place}`);
	return names;
}

/**
 * Adds hints above the output. They say which items have failed, which jobs are not in the output, and what the calls
 * report, such as why a list is empty.
 */
export function addHints(run: Run): void {
	const { context, outcomes } = run;
	const summary = summaryOf(run);
	const ofCalls = outcomes.map((outcome) => outcome?.hint);
	const inputCount = context.getInputData().length;
	const withoutInput = summary.created.filter(({ itemIndex }) => itemIndex >= inputCount);
	const ofRun = [hintOfFailures(summary), hintOfJobs(withoutInput)];
	const hints = new Set(present([...ofRun, ...ofCalls]));
	for (const hint of [...hints].slice(0, MAX.hints)) {
		const message = asPlainText(hint);
		context.addExecutionHints({ message, type: 'warning', location: 'outputPane' });
	}
	const isWaiting = outcomes.some((outcome) => outcome?.callback);
	if (context.getMode() === 'manual' && summary.created.length > 0 && !isWaiting) {
		const message = 'Executing this step again creates another job for each item.';
		context.addExecutionHints({ message, type: 'info', location: 'outputPane' });
	}
}

function hintOfFailures({ count, failed, uncertain }: Summary): string | undefined {
	if (failed.length === 0) return undefined;
	const what =
		count === 1
			? 'The item failed.'
			: `${failed.length} of ${count} items failed: ${itemList(failed)}. ${COUNTED_FROM_0}`;
	if (uncertain.length === 0) return what;
	const items = itemList(uncertain.map(({ itemIndex }) => itemIndex));
	return `${what} The job may exist for ${items}: look for it on the service before you run the item again.`;
}

function hintOfJobs(jobs: Summary['created']): string | undefined {
	if (jobs.length === 0) return undefined;
	return `Jobs of items that this run wasn't given (Execute Once): ${jobList(jobs).join('; ')}.`;
}
