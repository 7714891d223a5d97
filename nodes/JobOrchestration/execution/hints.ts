import type { IExecuteFunctions } from 'n8n-workflow';

import type { ItemOutcomes } from './itemOutcome';
import { errorsIn, itemList, jobMayExist } from './itemOutcome';

/** Says above the output which items have failed, and whose job may exist. */
export function addHint(context: IExecuteFunctions, outcomes: ItemOutcomes): void {
	const errors = errorsIn(outcomes);
	if (errors.length === 0) return;
	const uncertain = errors.filter(jobMayExist);
	const failed =
		outcomes.length === 1
			? 'The item failed.'
			: `${errors.length} of ${outcomes.length} items failed: ${itemList(errors)} (counted from 0).`;
	const mayExist = `The job may exist for ${itemList(uncertain)}: look for it on the service before you run the item again.`;
	const message = uncertain.length === 0 ? failed : `${failed} ${mayExist}`;
	context.addExecutionHints({ message, type: 'warning', location: 'outputPane' });
}
