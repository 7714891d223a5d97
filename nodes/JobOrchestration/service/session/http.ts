import type { IHttpRequestHelper, IHttpRequestOptions } from 'n8n-workflow';

import { isJsonObject } from '../../json';
import { type Result, resultOf } from '../errors/answer';
import { addressOf, timedOut } from '../errors/failure';
import type { Secrets } from '../errors/secrets';
import { failureFromError } from '../errors/thrown';
import type { ServiceRequest } from '../request';
import { onAbort, timeoutSignal, unlessAborted } from '../timers';
import type { Account } from './account';

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

export type Helpers = IHttpRequestHelper['helpers'];

/** The account that a request is sent as, and its secrets, which no error may show. */
export interface Sender {
	account: Account;
	secrets: Secrets;
}

/** n8n's request options, including the older names that n8n's HTTP Request node uses. */
export type HttpOptions = IHttpRequestOptions & {
	uri?: unknown;
	followRedirect?: boolean;
	followAllRedirects?: boolean;
	rejectUnauthorized?: boolean;
};

interface SendOptions {
	/** The token to send; undefined for a login. */
	token?: string;
	/** Time limit in milliseconds for the whole response, also for one that arrives in small parts. */
	timeoutMs: number;
	/**
	 * Signal that aborts the request even after it was sent. Only a request that reads has one, since the response to any
	 * other request says what was done.
	 */
	cancel?: AbortSignal | undefined;
}

/**
 * Sends a request once. This is the only way in which the node sends requests: logins, health checks and calls. Never
 * throws.
 */
export async function sendOnce<Body>(
	helpers: Helpers,
	sender: Sender,
	request: ServiceRequest<Body>,
	{ token, timeoutMs, cancel }: SendOptions,
): Promise<Result<Body>> {
	const { account, secrets } = sender;
	const { baseUrl } = account;
	const address = addressOf(request, baseUrl);
	const controller = new AbortController();
	const abort = () => controller.abort();
	const deadline = timeoutSignal(timeoutMs);
	const stopListening = [onAbort(deadline, abort), onAbort(cancel, abort)];
	const { signal: abortSignal } = controller;
	const options = signed(httpOptionsOf(request, account), account, token);
	try {
		const answer = helpers.httpRequest({ ...options, abortSignal }) as Promise<unknown>;
		return resultOf(await unlessAborted(answer, abortSignal), request, sender);
	} catch (error) {
		if (deadline.aborted) return { failure: timedOut(timeoutMs, address) };
		return { failure: failureFromError(error, { secrets, baseUrl, address, timeoutMs }) };
	} finally {
		for (const stop of stopListening) stop();
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
