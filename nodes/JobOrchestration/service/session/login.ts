import type { IHttpRequestHelper, IHttpRequestOptions } from 'n8n-workflow';

import { isJsonObject } from '../../json';
import { LOGIN_TIMEOUT } from '../errors/explain';
import type { Failure } from '../errors/failure';
import { requestFailureFromError } from '../errors/failure';
import type { Expectation, Result } from '../errors/response';
import { isHtml, readResponse, resultOf } from '../errors/response';
import type { TokenDoubt } from '../errors/rules';
import { expiryIn } from '../errors/rules';
import type { Secrets } from '../errors/secrets';
import { timeoutSignal } from '../timers';
import type { Account } from './account';

export type Helpers = IHttpRequestHelper['helpers'];

/** Whom to send a request as, and what no error may show. */
interface Sender {
	account: Account;
	secrets: Secrets;
}

/**
 * A token, new if it came by a login, or the failure of the login. A failure is plain data: each request that waited for it
 * makes an error of its own.
 */
export type TokenResult = { token: string; isNew?: true } | { failure: Failure };

/** A request that changes nothing, to see whether the service is there and accepts a token. */
export const SMALL_REQUEST = {
	method: 'GET',
	path: '/api/v1/clusters',
	qs: { 'ListOption.limit': 1 },
} as const;

/** How long the service may take to answer it. With more, a failed request would seem to hang. */
export const QUESTION_TIMEOUT_MS = 10_000;

/** What a header can hold of a token (RFC 6750 allows less). */
const TOKEN = /^[!-~]+$/;

const hasToken = (body: unknown): body is { access_token: string } =>
	isJsonObject(body) && typeof body.access_token === 'string' && TOKEN.test(body.access_token);

/** `POST /oauth/login`. There is no call that takes the answer's refresh token; the unit of its expiry isn't stated. */
export async function login(helpers: Helpers, sender: Sender): Promise<TokenResult> {
	const { baseUrl, userName, password } = sender.account;
	const request: IHttpRequestOptions = {
		method: 'POST',
		url: `${baseUrl}/oauth/login`,
		body: { userName, password, type: 'basic' },
		json: true,
	};
	const expectation = { expected: 'a token', isExpected: hasToken, isSecret: true };
	const result = await send(helpers, sender, { request, expectation, timeoutMs: LOGIN_TIMEOUT });
	if ('body' in result) return { token: result.body.access_token };
	return { failure: { ...result.failure, ofLogin: true } };
}

/** Asks the service whether it accepts a token, by a small request. @returns undefined unless it says no */
export async function doubtAbout(
	token: string,
	helpers: Helpers,
	sender: Sender,
): Promise<TokenDoubt | undefined> {
	const request: IHttpRequestOptions = {
		method: SMALL_REQUEST.method,
		url: `${sender.account.baseUrl}${SMALL_REQUEST.path}`,
		qs: SMALL_REQUEST.qs,
		headers: { Authorization: `Bearer ${token}` },
	};
	const isExpected = (body: unknown): body is unknown => !isHtml(body);
	const expectation = { expected: '', isExpected };
	const timeoutMs = QUESTION_TIMEOUT_MS;
	const result = await send(helpers, sender, { request, expectation, timeoutMs });
	return 'failure' in result ? expiryIn(result.failure)?.doubt : undefined;
}

async function send<Body>(
	helpers: Helpers,
	{ account, secrets }: Sender,
	{
		request,
		expectation,
		timeoutMs,
	}: { request: IHttpRequestOptions; expectation: Expectation<Body>; timeoutMs: number },
): Promise<Result<Body>> {
	const abortSignal = timeoutSignal(timeoutMs);
	try {
		const response: unknown = await helpers.httpRequest({
			...request,
			abortSignal,
			skipSslCertificateValidation: account.ignoreSslIssues,
			disableFollowRedirect: true,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
		});
		return resultOf(readResponse(response), expectation, secrets);
	} catch (error) {
		return { failure: abortSignal.aborted ? { kind: 'timeout' } : requestFailureFromError(error) };
	}
}
