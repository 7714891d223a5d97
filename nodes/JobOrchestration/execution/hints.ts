import type { IExecuteFunctions } from 'n8n-workflow';

import { asPlainText } from '../service/errors/serviceError';
import type { CreatedJob, ItemOutcomes } from './itemOutcome';
import { createdJobsIn, errorsIn, itemList, uncertainIn } from './itemOutcome';

/** More would push the output off the screen. */
const MAX_HINTS = 5;

/** As many jobs as an error lists. */
const MAX_JOBS = 100;

/** Says above the output which items have failed, which jobs aren't in it, and why a list is empty. */
export function addHints(context: IExecuteFunctions, outcomes: ItemOutcomes): void {
	const ofCalls = outcomes.map((outcome) => outcome && 'hint' in outcome && outcome.hint);
	const notGiven = createdJobsIn(outcomes.slice(context.getInputData().length));
	const hints = new Set([hintOfFailures(outcomes), hintOfJobs(notGiven), ...ofCalls]);
	for (const hint of [...hints].filter((text) => typeof text === 'string').slice(0, MAX_HINTS)) {
		const message = asPlainText(hint);
		context.addExecutionHints({ message, type: 'warning', location: 'outputPane' });
	}
}

function hintOfFailures(outcomes: ItemOutcomes): string | undefined {
	const errors = errorsIn(outcomes);
	if (errors.length === 0) return undefined;
	const uncertain = uncertainIn(outcomes);
	const failed =
		outcomes.length === 1
			? 'The item failed.'
			: `${errors.length} of ${outcomes.length} items failed: ${itemList(errors)} (counted from 0).`;
	if (uncertain.length === 0) return failed;
	return `${failed} The job may exist for ${itemList(uncertain)}: look for it on the service before you run the item again.`;
}

function hintOfJobs(jobs: CreatedJob[]): string | undefined {
	if (jobs.length === 0) return undefined;
	const names = jobs
		.slice(0, MAX_JOBS)
		.map(({ itemIndex, shownUid }) => `item ${itemIndex}: ${shownUid}`);
	if (jobs.length > MAX_JOBS) names.push(`and ${jobs.length - MAX_JOBS} more`);
	return `Jobs of items that this run wasn't given (Execute Once): ${names.join(', ')}.`;
}
