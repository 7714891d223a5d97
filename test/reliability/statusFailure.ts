import type { Failure } from '../../nodes/JobOrchestration/service/errors/kinds';

/** Returns the failure of a request that was answered with this HTTP status and, if given, this Retry-After. */
export const statusFailure = (
	status: number,
	retryAfterMs?: number,
): Extract<Failure, { kind: 'status' }> => ({
	kind: 'status',
	status,
	text: undefined,
	retryAfterMs,
});

export const unreachable = { kind: 'unreachable', code: 'ECONNREFUSED', address: 'a:1' } as const;
export const broken = { kind: 'broken', code: 'ECONNRESET' } as const;
