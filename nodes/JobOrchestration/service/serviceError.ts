import { ExecutionBaseError } from 'n8n-workflow';

import type { Words } from './explain/words';
import type { Failure } from './failure';

/**
 * An error that is a Failure with words for a person.
 *
 * It extends n8n's own base class because NodeApiError takes over the `context` of such an error when it
 * wraps it, in every n8n release; the `cause` got lost in 1.x.
 */
export class ServiceError extends ExecutionBaseError {
	constructor(
		readonly failure: Failure,
		{ message, detail, advice }: Words,
	) {
		super(message, { level: 'warning' });
		this.description = [detail, advice].filter((text) => text !== '').join(' ');
		this.context = { failure };
	}
}
