import { isJsonObject } from '../../json';
import type { ServiceRequest } from '../request';

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
} as const satisfies ServiceRequest<unknown>;

/**
 * Milliseconds within which the service has to answer a health check, or to reject the token of another node's request.
 * Short enough that a failed request doesn't seem to hang.
 */
export const CHECK_TIMEOUT_MS = 10_000;
