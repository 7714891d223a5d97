import { isJsonObject } from '../../json';
import type { ServiceRequest } from '../request';
import { type Helpers, sendOnce } from './http';
import type { Session } from './session';

/** A request that changes nothing. It shows whether the service answers and whether it accepts a token. */
export const HEALTH_CHECK = {
	method: 'GET',
	path: '/api/v1/clusters',
	qs: { 'ListOption.limit': 1 },
	idempotent: true,
	expected: 'a list of work clusters',
	// A service may omit an empty list from its response.
	isExpected: (body: unknown): body is unknown =>
		isJsonObject(body) &&
		('items' in body || Object.keys(body).every((name) => name === 'metadata')),
	texts: () => ({
		action: 'answer a health check',
		ifRefused:
			'Ask the administrator of the service whether the user is allowed to list work clusters.',
	}),
} as const satisfies ServiceRequest<unknown>;

/**
 * Milliseconds within which the service has to answer a health check, or to reject the token of another node's request.
 * Short enough that a failed request doesn't seem to hang.
 */
export const CHECK_TIMEOUT_MS = 10_000;

/**
 * Sends a health check with a token, for a request of another node. Never throws.
 *
 * @returns what the response says of the token; undefined if it says nothing
 */
export async function checkToken(token: string, helpers: Helpers, session: Session) {
	const sentAt = performance.now();
	const options = { token, timeoutMs: CHECK_TIMEOUT_MS };
	const result = await sendOnce(helpers, session, HEALTH_CHECK, options);
	if ('failure' in result) return result.failure.token;
	session.tokens.accept(token, sentAt);
	return 'accepted' as const;
}
