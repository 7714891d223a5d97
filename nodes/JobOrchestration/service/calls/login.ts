import { isJsonObject } from '../../json';
import { truncate } from '../../texts';
import type { ServiceRequest } from '../request';

/**
 * Decides whether a response body has a token of visible ASCII characters. The token in an Authorization header can't
 * have any others (RFC 6750 allows even fewer).
 */
const hasToken = (body: unknown): body is { access_token: string } =>
	isJsonObject(body) &&
	/^[!-~]+$/.test(String(body.access_token)) &&
	typeof body.access_token === 'string';

/**
 * Returns the request that logs a user in: `POST /oauth/login`. The response's refresh token and expiry time are not used:
 * the interface document shows no call that accepts the refresh token, and doesn't state the unit of the expiry time.
 */
export const logIn = (user: {
	userName: string;
	password: string;
}): ServiceRequest<{ access_token: string }> => ({
	method: 'POST',
	path: '/oauth/login',
	body: { ...user, type: 'basic' },
	idempotent: false,
	expected: 'a token of visible ASCII characters',
	isExpected: hasToken,
	isLogin: true,
	errorTexts: (baseUrl) => ({
		action: 'log the user in',
		ifRefused: '',
		rows: [
			[
				'404 405',
				`No login endpoint at ${truncate(baseUrl)}/oauth/login`,
				"Check the 'Base URL' in the credential: it is the part of the address before /oauth/login and /api/v1. If it has worked before, try again later: the service may be starting.",
			],
			[
				'400-499',
				'The service refused the login',
				"Check 'Username', 'Password' and 'Base URL' in the credential, and whether the user is blocked. The 'Base URL' is the part of the address before /oauth/login and /api/v1. The node tried to log in only once, so that the account isn't locked.",
			],
		],
	}),
});
