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

/** Whom to send a request as, and what no error may show. */
export interface Sender {
	account: Account;
	secrets: Secrets;
}

/** A token, or the failure of the login: plain data, since each request that waited for it makes an error of its own. */
export type TokenResult = { token: string } | { failure: Failure };

/** A header can hold no other characters (RFC 6750 allows fewer). */
const hasToken = (body: unknown): body is { access_token: string } =>
	isJsonObject(body) &&
	/^[!-~]+$/.test(String(body.access_token)) &&
	typeof body.access_token === 'string';

/** `POST /oauth/login`. There is no call that takes the answer's refresh token; the unit of its expiry isn't stated. */
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

/** A request as n8n's helpers take it. */
export function httpOptionsOf(
	{ method, path, qs, body }: ServiceRequest<unknown>,
	{ baseUrl }: Account,
): IHttpRequestOptions {
	return {
		method,
		url: `${baseUrl}${path}`,
		...(qs === undefined ? {} : { qs }),
		// As text: of an object, n8n's HTTP client would drop keys such as "constructor".
		...(body !== undefined && {
			body: JSON.stringify(body),
			headers: { 'Content-Type': 'application/json' },
		}),
		json: true,
		// None: the request's own deadline decides. If none is named, n8n's HTTP client ends it after five minutes.
		timeout: 0,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
	};
}

/** n8n's HTTP Request node sends options of an older kind, with other names. */
export type HttpOptions = IHttpRequestOptions & {
	uri?: unknown;
	followRedirect?: boolean;
	followAllRedirects?: boolean;
	rejectUnauthorized?: boolean;
};

/**
 * A request as this account's: with its token, if there is one, and regardless of another node's options. It follows no
 * redirect. The interface doesn't show how the token is sent; the login says "Bearer".
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

/** Sends a request without n8n's credential. It never throws. */
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
		return { failure: abortSignal.aborted ? { kind: 'timeout' } : failureFromError(error) };
	}
}
