import { isJsonObject } from '../../json';
import { type Failure, LOGIN_TIMEOUT_MS } from '../errors/kinds';
import type { ServiceRequest } from '../request';
import { type Helpers, type Sender, sendOnce } from './http';

/**
 * A token, or the failure of the login. The failure is plain data, since each request that waited for the login creates
 * an error of its own.
 */
export type TokenResult = { token: string } | { failure: Failure };

/**
 * Decides whether a response body has a token of visible ASCII characters. The token in an Authorization header can't
 * have any others (RFC 6750 allows even fewer).
 */
const hasToken = (body: unknown): body is { access_token: string } =>
	isJsonObject(body) &&
	/^[!-~]+$/.test(String(body.access_token)) &&
	typeof body.access_token === 'string';

/**
 * Logs in by `POST /oauth/login`. The response's refresh token and expiry time are not used: the interface document
 * shows no call that accepts the refresh token, and doesn't state the unit of the expiry time.
 */
export async function login(helpers: Helpers, sender: Sender): Promise<TokenResult> {
	const { userName, password } = sender.account;
	const request: ServiceRequest<{ access_token: string }> = {
		method: 'POST',
		path: '/oauth/login',
		body: { userName, password, type: 'basic' },
		idempotent: false,
		expected: 'a token',
		isExpected: hasToken,
		isSecret: true,
	};
	const result = await sendOnce(helpers, sender, request, { timeoutMs: LOGIN_TIMEOUT_MS });
	if ('body' in result) return { token: result.body.access_token };
	return { failure: { ...result.failure, ofLogin: true } };
}
