import type { FailureOf } from '../../nodes/JobOrchestration/service/errors/failure';

/** A request that was answered with this HTTP status; and with this Retry-After, if it has one. */
export const statusFailure = (status: number, retryAfterMs?: number): FailureOf<'status'> => ({
	kind: 'status',
	status,
	text: undefined,
	retryAfterMs,
});
