import type { IHttpRequestHelper, IHttpRequestOptions } from 'n8n-workflow';

import { logIn } from '../calls/login';
import { addressOf, type Failure, timedOut } from '../errors/failure';
import { type Result, resultOf } from '../errors/result';
import type { Secrets } from '../errors/secrets';
import { failureFromError } from '../errors/thrown';
import type { ServiceRequest } from '../request';
import { CONDITIONS } from '../policy';
import { timeoutSignal, unlessAborted } from '../timers';
import type { Account } from './account';

export type Helpers = IHttpRequestHelper['helpers'];

/** n8n's request options. n8n's HTTP Request node uses an older name for the address. */
export type HttpOptions = IHttpRequestOptions & { uri?: unknown };

/**
 * Sends a request once. This is the only way in which the node sends requests: logins, health checks and calls. Never
 * throws.
 *
 * @param sender the account that the request is sent as, and its secrets, which no error may show
 * @param token the token to send; undefined for a login
 * @param timeoutMs time limit for the whole response, also for one that arrives in small parts, unless the request has a
 * shorter one
 * @param cancel signal that aborts the request even after it was sent. Only a request that reads has one, since the
 * response to any other request says what was done
 */
export async function sendOnce<Body>(
	helpers: Helpers,
	sender: { account: Account; secrets: Secrets },
	request: ServiceRequest<Body>,
	{
		token,
		timeoutMs = Infinity,
		cancel,
	}: { token?: string; timeoutMs?: number; cancel?: AbortSignal | undefined },
): Promise<Result<Body>> {
	const { account, secrets } = sender;
	const { baseUrl } = account;
	const address = addressOf(request, baseUrl);
	const { maxTimeoutMs = Infinity } = request;
	const limitMs = Math.min(timeoutMs, maxTimeoutMs);
	const deadline = timeoutSignal(limitMs);
	const abortSignal = cancel === undefined ? deadline : AbortSignal.any([deadline, cancel]);
	const options = signed(httpOptionsOf(request, account), account, token);
	try {
		const answer = helpers.httpRequest({ ...options, abortSignal }) as Promise<unknown>;
		return resultOf(await unlessAborted(answer, abortSignal), request, sender);
	} catch (error) {
		const isFixed = maxTimeoutMs < Infinity;
		if (deadline.aborted) return { failure: timedOut(limitMs, address, isFixed) };
		return { failure: failureFromError(error, secrets, { address, baseUrl, timeoutMs: limitMs }) };
	}
}

/** Returns a request in the form that n8n's request helpers take. */
function httpOptionsOf(
	{ method, path, qs, body }: ServiceRequest<unknown>,
	{ baseUrl }: Account,
): IHttpRequestOptions {
	return {
		method,
		url: `${baseUrl}${path}`,
		...(qs === undefined ? {} : { qs }),
		// The body is sent as text, since n8n's HTTP client would drop keys such as "constructor" from an object.
		...(body !== undefined && {
			body: JSON.stringify(body),
			headers: { 'Content-Type': 'application/json' },
		}),
		json: true,
		// No time limit, since the request has its own deadline. Without this option, n8n's HTTP client would end the
		// request after five minutes.
		timeout: 0,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
	};
}

/**
 * Signs a request as an account: adds the token, if there is one, and disables redirects. Options of another node for
 * redirects and certificates are overridden. The interface document doesn't show how a token is sent; the response to a
 * login says "Bearer".
 */
export function signed(options: HttpOptions, { ignoreSslIssues }: Account, token?: string) {
	return {
		...options,
		headers: { ...options.headers, ...(token && { Authorization: `Bearer ${token}` }) },
		disableFollowRedirect: true,
		followRedirect: false,
		followAllRedirects: false,
		skipSslCertificateValidation: ignoreSslIssues,
		rejectUnauthorized: !ignoreSslIssues,
	};
}

/**
 * A token, or the failure of the login. The failure is plain data, since each request that waited for the login creates
 * an error of its own.
 */
export type TokenResult = { token: string } | { failure: Failure };

/**
 * Sends a login.
 *
 * @param stop asked directly before the login is sent. Returns why it must not be sent, if so
 */
export async function sendLogin(
	helpers: Helpers,
	sender: Parameters<typeof sendOnce>[1],
	stop?: () => Failure | undefined,
): Promise<TokenResult> {
	const { userName, password } = sender.account;
	const stopped = stop?.();
	if (stopped !== undefined) return { failure: stopped };
	const request = logIn({ userName, password });
	const result = await sendOnce(helpers, sender, request, { timeoutMs: LOGIN_TIMEOUT_MS });
	if ('body' in result) return { token: result.body.access_token };
	const { failure } = result;
	return { failure: ofLogin(failure.condition === 'timedOut' ? loginTimedOut() : failure) };
}

/** The time limit of a login in milliseconds. A request with a shorter Timeout stops waiting for the login earlier. */
const LOGIN_TIMEOUT_MS = 60_000;

/**
 * Returns what a failed login means for the request that waited for it: it was not sent, or not acted on. If the service
 * doesn't accept the login at present, the request is sent again, which repeats the login.
 */
function ofLogin(failure: Failure): Failure {
	const own = failure.condition === 'broken' ? 'unreachable' : failure.condition;
	const condition = CONDITIONS[own].resend === 'wait' ? own : 'noOutcome';
	const consequence = { condition, mayHaveActed: false, token: undefined } as const;
	return { ...failure, ...consequence, isAboutAllItems: true, ofLogin: true };
}

/** Returns the failure of a login without an answer. @param limitMs the request's own Timeout, if it ended the wait */
export function loginTimedOut(limitMs = LOGIN_TIMEOUT_MS): Failure {
	const title = `The service didn't answer the login within ${limitMs / 1_000} s`;
	return ofLogin({ ...timedOut(limitMs, undefined, limitMs >= LOGIN_TIMEOUT_MS), title });
}
