import type { FailureOf } from '../../nodes/JobOrchestration/service/errors/failure';

/** A request that was answered with this HTTP status; `retryAfter` in milliseconds, where the answer has it. */
export const statusFailure = (status: number, retryAfter?: number): FailureOf<'status'> => ({
	kind: 'status',
	status,
	text: undefined,
	retryAfter,
});
