import { isJsonObject } from '../../json';
import { truncate } from '../../texts';
import { type Failure, timedOut } from '../errors/failure';
import type { ServiceRequest } from '../request';
import { UNKNOWN } from '../retry/facts';
import { RETRY } from '../retry/policy';
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
		isLogin: true,
		texts: (baseUrl) => ({
			action: 'log the user in',
			ifRefused: '',
			rows: [
				[
					'401',
					'The username or the password is wrong',
					"Correct it in the credential. The node tried to log in only once, so that the account isn't locked.",
				],
				[
					'404 405',
					`No login endpoint at ${truncate(baseUrl)}/oauth/login`,
					"Check the 'Base URL' in the credential: it is the part of the address before /oauth/login and /api/v1. If it has worked before, try again later: the service may be starting.",
				],
				[
					'400-499',
					'The service refused the login',
					"Check 'Username', 'Password' and 'Base URL' in the credential, and whether the user is blocked. The node tried to log in only once.",
				],
			],
		}),
	};
	const result = await sendOnce(helpers, sender, request, { timeoutMs: LOGIN_TIMEOUT_MS });
	if ('body' in result) return { token: result.body.access_token };
	const { failure } = result;
	return { failure: ofLogin(failure.condition === 'timedOut' ? loginTimedOut() : failure) };
}

/** The time limit of a login in milliseconds. A request with a shorter Timeout stops waiting for the login earlier. */
const LOGIN_TIMEOUT_MS = 60_000;

/** Returns what a failed login means for the request that waited for it: it was not sent, or not acted on. */
function ofLogin(failure: Failure): Failure {
	const { condition, retryAfterMs } = failure;
	const isRepeated = RETRY.loginAgain.includes(condition);
	const own = condition === 'broken' ? 'loginFailed' : condition;
	const consequence = isRepeated ? { ...UNKNOWN, condition: own, retryAfterMs } : UNKNOWN;
	const isAboutAllItems = true;
	return { ...failure, token: undefined, ...consequence, isAboutAllItems, ofLogin: true };
}

/** Returns the failure of a login without an answer. @param limitMs the request's own Timeout, if it ended the wait */
export const loginTimedOut = (limitMs = LOGIN_TIMEOUT_MS) =>
	ofLogin({
		...timedOut(limitMs),
		title: `The service didn't answer the login within ${limitMs / 1_000} s`,
	});
