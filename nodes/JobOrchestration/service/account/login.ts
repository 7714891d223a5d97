import type { IHttpRequestHelper, IHttpRequestOptions } from 'n8n-workflow';

import type { HttpResponse } from '../errors/response';
import { describeBody, failureFromResponse, isHtml, readResponse } from '../errors/response';
import type { Account } from './account';
import { LOGIN_TIMEOUT } from '../errors/explain';
import { requestFailureFromError } from '../errors/failure';
import { Secrets } from '../errors/secrets';
import { isJsonObject } from '../../json';
import { timeoutSignal, unlessAborted } from '../request/timers';
import type { LoginResult } from './tokens';

export type Helpers = IHttpRequestHelper['helpers'];

/** Milliseconds that the service may take to say whether it takes a token. */
const TOKEN_CHECK_TIMEOUT = 10_000;

/** Fields in which services wrap an answer, and how deep one is looked into. */
const ENVELOPES = ['data', 'body'];
const MAX_DEPTH = 4;

/** What a header can hold of a token (RFC 6750 allows less). */
const TOKEN = /^[!-~]+$/;

/** `POST /oauth/login`. The answer's refresh token has no call to be used with; the unit of its expiry isn't stated. */
export async function login(helpers: Helpers, account: Account): Promise<LoginResult> {
	const { baseUrl, userName, password } = account;
	const limit = timeoutSignal(LOGIN_TIMEOUT);
	let response: HttpResponse;
	try {
		const request = httpRequest(helpers, account, {
			method: 'POST',
			url: `${baseUrl}/oauth/login`,
			body: { userName, password, type: 'basic' },
			json: true,
			abortSignal: limit,
		});
		response = await unlessAborted(request, limit);
	} catch (error) {
		return { failure: limit.aborted ? { kind: 'timeout' } : requestFailureFromError(error) };
	}

	const { status, body } = response;
	const secrets = new Secrets({ userName, password });
	const failure = failureFromResponse(response, secrets);
	if (failure !== undefined) return { failure };
	const token = isJsonObject(body) ? body.access_token : undefined;
	if (typeof token === 'string' && TOKEN.test(token)) return { token };
	const received = describeLoginBody(body, secrets);
	return { failure: { kind: 'unexpectedResponse', status, received, expected: 'a token' } };
}

/**
 * Whether the service rejects a token, asked by a small request: one work cluster. A status other than 401,
 * or no response at all, says nothing against the token.
 */
export async function serviceRejects(
	helpers: Helpers,
	account: Account,
	token: string,
): Promise<boolean> {
	try {
		const { status } = await httpRequest(helpers, account, {
			method: 'GET',
			url: `${account.baseUrl}/api/v1/clusters`,
			qs: { 'ListOption.limit': 1 },
			headers: { Authorization: `Bearer ${token}` },
			abortSignal: timeoutSignal(TOKEN_CHECK_TIMEOUT),
		});
		return status === 401;
	} catch {
		return false;
	}
}

async function httpRequest(
	helpers: Helpers,
	{ ignoreSslIssues }: Account,
	options: IHttpRequestOptions,
): Promise<HttpResponse> {
	return readResponse(
		await helpers.httpRequest({
			...options,
			skipSslCertificateValidation: ignoreSslIssues,
			disableFollowRedirect: true,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
		}),
	);
}

/**
 * What came in place of a token. A bare text is not repeated, nor is one in an envelope: it may be a token.
 */
function describeLoginBody(body: unknown, secrets: Secrets): string {
	if (typeof body === 'string' && body !== '' && !isHtml(body)) return 'a text';
	return describeBody(isJsonObject(body) ? withoutBareTexts(body) : body, secrets);
}

/** The same, but with nothing in place of the texts and lists in envelopes. */
function withoutBareTexts(value: unknown, depth = 0): unknown {
	if (depth > MAX_DEPTH) return null;
	if (Array.isArray(value)) return value.map((element) => withoutBareTexts(element, depth + 1));
	if (!isJsonObject(value)) return value;
	const entries = Object.entries(value).map(([key, content]) => {
		const isBare = ENVELOPES.includes(key) && !isJsonObject(content);
		return [key, isBare ? null : withoutBareTexts(content, depth + 1)];
	});
	return Object.fromEntries(entries);
}
