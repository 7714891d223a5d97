import type { IExecuteFunctions } from 'n8n-workflow';

import { asPlainText } from '../service/errors/serviceError';
import type { ItemOutcomes } from './itemOutcome';
import { errorsIn, itemList, jobMayExist } from './itemOutcome';

/** More would push the output off the screen. */
const MAX_HINTS = 5;

/** Says above the output which items have failed, and why a list is empty. */
export function addHints(context: IExecuteFunctions, outcomes: ItemOutcomes): void {
	const ofCalls = outcomes.map((outcome) => outcome && 'hint' in outcome && outcome.hint);
	const hints = new Set([hintOfFailures(outcomes), ...ofCalls]);
	for (const hint of [...hints].filter((text) => typeof text === 'string').slice(0, MAX_HINTS)) {
		const message = asPlainText(hint);
		context.addExecutionHints({ message, type: 'warning', location: 'outputPane' });
	}
}

function hintOfFailures(outcomes: ItemOutcomes): string | undefined {
	const errors = errorsIn(outcomes);
	if (errors.length === 0) return undefined;
	const uncertain = errors.filter(jobMayExist);
	const failed =
		outcomes.length === 1
			? 'The item failed.'
			: `${errors.length} of ${outcomes.length} items failed: ${itemList(errors)} (counted from 0).`;
	if (uncertain.length === 0) return failed;
	return `${failed} The job may exist for ${itemList(uncertain)}: look for it on the service before you run the item again.`;
}
