import { asPlainText, FROM_ZERO, itemList } from '../texts';
import { type ListedJob, MAX_LISTED, type Summary, summaryOf } from './outcomes';
import type { Run } from './run';

/** The maximum number of warnings. More would push the output off the screen. */
const MAX_HINTS = 5;

/**
 * Adds hints above the output. They say which items have failed, which fields were left out, which jobs are not in the
 * output, and what the calls report, such as why a list is empty.
 */
export function addHints(run: Run): void {
	const { context, outcomes, leftOut } = run;
	const summary = summaryOf(run);
	const given = context.getInputData().length;
	const notGiven = summary.created.filter(({ itemIndex }) => itemIndex >= given);
	const ofCalls = outcomes.map((outcome) => outcome?.hint);
	const ofRun = [hintOfFailures(summary), hintOfLeftOut(leftOut), hintOfJobs(notGiven)];
	const hints = new Set([...ofRun, ...ofCalls]);
	for (const hint of [...hints].filter((text) => text !== undefined).slice(0, MAX_HINTS)) {
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
			: `${failed.length} of ${count} items failed: ${itemList(failed)} ${FROM_ZERO}.`;
	if (uncertain.length === 0) return what;
	const items = itemList(uncertain.map(({ itemIndex }) => itemIndex));
	return `${what} The job may exist for ${items}: look for it on the service before you run the item again.`;
}

function hintOfLeftOut(leftOut: Run['leftOut']): string | undefined {
	if (leftOut.size === 0) return undefined;
	const fields = [...leftOut].map(([field, items]) => `'${field}' of ${itemList(items)}`);
	return `Left out, since the field's expression gives nothing (undefined): ${fields.join(', ')} ${FROM_ZERO}.`;
}

function hintOfJobs(jobs: ListedJob[]): string | undefined {
	if (jobs.length === 0) return undefined;
	const names = jobs.slice(0, MAX_LISTED).map(({ itemIndex, uid }) => `item ${itemIndex}: ${uid}`);
	if (jobs.length > MAX_LISTED) names.push(`and ${jobs.length - MAX_LISTED} more`);
	return `Jobs of items that this run wasn't given (Execute Once): ${names.join(', ')}.`;
}
