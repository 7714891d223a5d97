import type { IHttpRequestHelper, IHttpRequestOptions } from 'n8n-workflow';

import { isJsonObject } from '../../json';
import { type Failure, LOGIN_TIMEOUT_MS } from '../errors/kinds';
import { failureFromError } from '../errors/fromThrown';
import { type Result, resultOf } from '../errors/fromResponse';
import type { Secrets } from '../errors/secrets';
import type { ServiceRequest } from '../request';
import { timeoutSignal, unlessAborted } from '../timers';
import type { Account } from './account';

export type Helpers = IHttpRequestHelper['helpers'];

/** The account that a request is sent as, and its secrets, which no error may show. */
export interface Sender {
	account: Account;
	secrets: Secrets;
}

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
	const result = await sendDirectly(helpers, sender, request, LOGIN_TIMEOUT_MS);
	if ('body' in result) return { token: result.body.access_token };
	return { failure: { ...result.failure, ofLogin: true } };
}

/** Returns a request in the form that n8n's request helpers take. */
export function httpOptionsOf(
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

/** n8n's request options, including the older names that n8n's HTTP Request node uses. */
export type HttpOptions = IHttpRequestOptions & {
	uri?: unknown;
	followRedirect?: boolean;
	followAllRedirects?: boolean;
	rejectUnauthorized?: boolean;
};

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

/** Sends a request without n8n's credential. Never throws. */
export async function sendDirectly<Body>(
	helpers: Helpers,
	{ account, secrets }: Sender,
	request: ServiceRequest<Body>,
	timeoutMs: number,
	token?: string,
): Promise<Result<Body>> {
	const abortSignal = timeoutSignal(timeoutMs);
	const options = signed(httpOptionsOf(request, account), account, token);
	try {
		const sent: Promise<unknown> = helpers.httpRequest({ ...options, abortSignal });
		const answer = await unlessAborted(sent, abortSignal);
		return resultOf(answer, request, secrets);
	} catch (error) {
		if (abortSignal.aborted) return { failure: { kind: 'timeout' } };
		return { failure: failureFromError(error, { secrets }) };
	}
}
