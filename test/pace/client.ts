import { ServiceClient } from '../../nodes/JobOrchestration/service/client';
import { cancelled, type Failure } from '../../nodes/JobOrchestration/service/errors/failure';
import type { AccountLimiter } from '../../nodes/JobOrchestration/service/pace/limiter';
import type { LimitedRequest } from '../../nodes/JobOrchestration/service/pace/queue';
import type { ServiceRequest } from '../../nodes/JobOrchestration/service/request';
import type { N8nContext } from '../../nodes/JobOrchestration/service/session/credential';
import type { Session, TokenSource } from '../../nodes/JobOrchestration/service/session/session';
import { unlessAborted } from '../../nodes/JobOrchestration/service/timers';

/** The time limits of a client, where it runs, and an object that all clients of one execution share. */
export interface Limits {
	isInEditor?: boolean;
	patienceMs?: number;
	limitMs?: number;
	execution?: object;
}

type End = { body: string } | { failure: Failure };

/**
 * Returns a client with this limiter. It sends no requests: `endOf` decides how each request ends. The token is always
 * accepted.
 *
 * @param endOf returns the end of a request, which is a call or HEALTH_CHECK
 */
export function clientWith(
	limiter: AccountLimiter,
	endOf: (request: ServiceRequest<unknown>) => Promise<End>,
	{ execution = {}, isInEditor = false, ...limits }: Limits = {},
): ServiceClient {
	const session: unknown = {
		limiter,
		account: { baseUrl: 'https://jobs.example.com', userName: 'somebody' },
		judge: async () => await Promise.resolve('accepted'),
	};
	const credential = { session: session as Session, source: {} as TokenSource };
	const context: unknown = {
		getContext: () => execution,
		getMode: () => (isInEditor ? 'manual' : 'trigger'),
	};
	const client = new ServiceClient(context as N8nContext, credential, limits);
	const aborted: End = { failure: cancelled({ sent: true }) };
	const attempt = async (
		request: ServiceRequest<unknown>,
		{ options: { signal } }: LimitedRequest,
	) => {
		const canEnd = request.method === 'GET' ? signal : undefined;
		const result = await unlessAborted(endOf(request), canEnd).catch(() => aborted);
		// The execution was stopped before the request was sent.
		const isUnsent =
			'failure' in result && result.failure.condition === 'unknown' && !result.failure.mayHaveActed;
		return { result, sent: isUnsent ? undefined : { token: 'token', at: 0 } };
	};
	return Object.assign(client, { attempt });
}
