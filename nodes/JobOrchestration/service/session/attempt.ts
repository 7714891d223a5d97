import type { Result } from '../errors/answer';
import { cancelled } from '../errors/failure';
import type { ServiceRequest } from '../request';
import type { N8nContext } from './credential';
import { CHECK_TIMEOUT_MS, HEALTH_CHECK } from './healthCheck';
import { sendOnce } from './http';
import type { Session, TokenSource, WaitLimits } from './session';

/** The result of an attempt, and the token that it was sent with. `sent` is undefined if nothing was sent. */
export interface Attempt<Body> {
	result: Result<Body>;
	sent?: { token: string; at: number };
}

/**
 * Gets a token, and sends a request of this node once. Never throws.
 *
 * @param limits how long the request waits for a token. `timeout` is also the longest time from the sending of the
 * request to the end of its response. The signal keeps the request from being sent once it is aborted
 */
export async function attempt<Body>(
	request: ServiceRequest<Body>,
	{ context, session, source }: { context: N8nContext; session: Session; source: TokenSource },
	limits: WaitLimits,
): Promise<Attempt<Body>> {
	const { timeout, signal } = limits;
	session.usedAt = performance.now();
	const found = await session.token(source, limits);
	if ('failure' in found) return { result: found };
	if (signal?.aborted === true) return { result: { failure: cancelled({ sent: false }) } };
	const { token } = found;
	const at = performance.now();
	const isHealthCheck = request === HEALTH_CHECK;
	const result = await sendOnce(context.helpers, session, request, {
		token,
		timeoutMs: isHealthCheck ? Math.min(timeout, CHECK_TIMEOUT_MS) : timeout,
		cancel: isHealthCheck ? signal : cancelOf(context, request),
	});
	if ('body' in result) session.tokens.accept(token, at);
	return { result, sent: { token, at } };
}

/**
 * Returns the signal that aborts a request after it was sent: the execution's cancel signal if the request only reads.
 * The response to any other request says what was done. A drop-down has no cancel signal.
 */
function cancelOf(context: N8nContext, { method }: ServiceRequest<unknown>) {
	const canBeCancelled = method === 'GET' && 'getExecutionCancelSignal' in context;
	return canBeCancelled ? context.getExecutionCancelSignal() : undefined;
}
