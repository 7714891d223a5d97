import type { IExecuteFunctions } from 'n8n-workflow';

import { asPlainText } from '../service/errors/serviceError';
import type { ItemOutcomes } from './itemOutcome';
import { errorsIn, itemList, jobMayExist } from './itemOutcome';

/** More would push the output off the screen. */
const MAX_HINTS = 5;

/** Says above the output which items have failed, and what the calls have to say of an empty result. */
export function addHints(context: IExecuteFunctions, outcomes: ItemOutcomes): void {
	const ofCalls = outcomes.flatMap((outcome) =>
		outcome !== undefined && 'hint' in outcome ? (outcome.hint ?? []) : [],
	);
	const messages = [...new Set([...failuresIn(outcomes), ...ofCalls])];
	for (const message of messages.slice(0, MAX_HINTS)) {
		context.addExecutionHints({
			message: asPlainText(message),
			type: 'warning',
			location: 'outputPane',
		});
	}
}

function failuresIn(outcomes: ItemOutcomes): string[] {
	const errors = errorsIn(outcomes);
	if (errors.length === 0) return [];
	const failed =
		outcomes.length === 1
			? 'The item failed.'
			: `${errors.length} of ${outcomes.length} items failed: ${itemList(errors)} (counted from 0).`;
	const uncertain = errors.filter(jobMayExist);
	if (uncertain.length === 0) return [failed];
	const look = 'look for it on the service before you run the item again.';
	return [`${failed} The job may exist for ${itemList(uncertain)}: ${look}`];
}
