import { ServiceClient } from '../../nodes/JobOrchestration/service/client';
import { cancelled, type Failure } from '../../nodes/JobOrchestration/service/errors/failure';
import type { AccountLimiter } from '../../nodes/JobOrchestration/service/pace/limiter';
import type { ServiceRequest } from '../../nodes/JobOrchestration/service/request';
import type { N8nContext } from '../../nodes/JobOrchestration/service/session/credential';
import type { Session } from '../../nodes/JobOrchestration/service/session/session';
import type { N8nAccess } from '../../nodes/JobOrchestration/service/session/tokenSearch';
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
 * Returns a client with this limiter. It sends no requests: `endOf` decides how each request ends.
 *
 * @param endOf returns the end of a request, which is a call or HEALTH_CHECK
 */
export function clientWith(
	limiter: AccountLimiter,
	endOf: (request: ServiceRequest<unknown>) => Promise<End>,
	{ execution = {}, isInEditor = false, ...limits }: Limits = {},
): ServiceClient {
	const aborted: End = { failure: cancelled({ sent: true }) };
	const send = async (
		request: ServiceRequest<unknown>,
		{ signal, onSend }: Parameters<Session['send']>[1],
	): Promise<End> => {
		onSend?.();
		const canEnd = request.method === 'GET' ? signal : undefined;
		return await unlessAborted(endOf(request), canEnd).catch(() => aborted);
	};
	// The type lets the compiler find this fake if a property of the session is renamed.
	const session: Pick<Session, 'limiter' | 'send'> = { limiter, send: send as Session['send'] };
	const context: unknown = {
		getContext: () => execution,
		getMode: () => (isInEditor ? 'manual' : 'trigger'),
	};
	const credential = { session: session as Session, access: {} as N8nAccess };
	return new ServiceClient(context as N8nContext, credential, limits);
}
