import type { Result } from '../errors/fromResponse';
import type { ServiceRequest } from '../request';
import { type Helpers, sendOnce } from './http';
import type { Session, TokenSource } from './session';

/** The result of an attempt, and the token that it was sent with. `sent` is undefined if nothing was sent. */
export interface Attempt<Body> {
	result: Result<Body>;
	sent?: { token: string; at: number };
}

/** The limits of one attempt, in milliseconds, and the signals that end it. */
interface AttemptLimits {
	/** The longest wait for a token. */
	tokenTimeoutMs: number;
	/** The longest time from the sending of the request to the end of its response. */
	timeoutMs: number;
	/** Keeps the request from being sent once it is aborted. */
	signal?: AbortSignal | undefined;
	/** Aborts the request even after it was sent. */
	cancel?: AbortSignal | undefined;
}

/** Gets a token, and sends a request of this node once. Never throws. */
export async function attempt<Body>(
	request: ServiceRequest<Body>,
	{ helpers, session, source }: { helpers: Helpers; session: Session; source: TokenSource },
	{ tokenTimeoutMs, timeoutMs, signal, cancel }: AttemptLimits,
): Promise<Attempt<Body>> {
	session.usedAt = performance.now();
	const found = await session.token(source, { timeoutMs: tokenTimeoutMs, signal });
	if ('failure' in found) return { result: found };
	if (signal?.aborted === true) return { result: { failure: { kind: 'cancelled', sent: false } } };
	const { token } = found;
	const at = performance.now();
	const result = await sendOnce(helpers, session, request, { token, timeoutMs, cancel });
	if ('body' in result) session.tokens.accept(token, at);
	return { result, sent: { token, at } };
}
