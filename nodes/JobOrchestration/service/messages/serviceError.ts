import { ExecutionBaseError } from 'n8n-workflow';

import type { ErrorMessage } from './message';
import { asPlainText } from './message';
import type { Failure } from '../request/failure';
import { contextOf, rootCauseOf } from '../request/failure';

/**
 * A failure with a message for people.
 *
 * It extends n8n's own base class because NodeApiError takes over the `context` of such an error when it
 * wraps it, in every n8n release; the `cause` got lost in 1.x.
 */
export class ServiceError extends ExecutionBaseError {
	/** Whether the service may have made a job that was to be created. */
	readonly jobMayExist: boolean = false;

	constructor(
		readonly failure: Failure,
		{ message, reason, advice, detail }: ErrorMessage,
	) {
		super(asPlainText(message), { level: 'warning' });
		this.description = asPlainText([reason, advice, detail].filter(Boolean).join('\n'));
		this.context = contextOf(failure);
	}

	/** The HTTP status of the answer; null where none came. */
	get httpStatus(): number | null {
		const cause = rootCauseOf(this.failure);
		return 'status' in cause ? cause.status : null;
	}
}
