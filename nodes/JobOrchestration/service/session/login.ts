import type { IDataObject, IHttpRequestHelper, IHttpRequestOptions } from 'n8n-workflow';

import { isJsonObject } from '../../json';
import { LOGIN_TIMEOUT } from '../errors/explain';
import type { Failure } from '../errors/failure';
import { requestFailureFromError } from '../errors/failure';
import type { Result } from '../errors/response';
import { isHtml, resultOf } from '../errors/response';
import type { TokenDoubt } from '../errors/rules';
import { expiryIn } from '../errors/rules';
import type { Secrets } from '../errors/secrets';
import type { ServiceRequest } from '../request';
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
export const QUESTION = {
	method: 'GET',
	path: '/api/v1/clusters',
	qs: { 'ListOption.limit': 1 },
	expected: 'a list',
	// A page isn't the service's own answer.
	isExpected: (body: unknown): body is unknown => !isHtml(body),
} as const;

/** How long the service may take to answer it. With more, a failed request would seem to hang. */
export const QUESTION_TIMEOUT_MS = 10_000;

/** What a header can hold of a token (RFC 6750 allows less). */
const TOKEN = /^[!-~]+$/;

const hasToken = (body: unknown): body is { access_token: string } =>
	isJsonObject(body) && typeof body.access_token === 'string' && TOKEN.test(body.access_token);

/** `POST /oauth/login`. There is no call that takes the answer's refresh token; the unit of its expiry isn't stated. */
export async function login(helpers: Helpers, sender: Sender): Promise<TokenResult> {
	const { userName, password } = sender.account;
	const request: ServiceRequest<{ access_token: string }> = {
		method: 'POST',
		path: '/oauth/login',
		body: { userName, password, type: 'basic' },
		expected: 'a token',
		isExpected: hasToken,
		isSecret: true,
	};
	const result = await send(helpers, sender, request, { timeoutMs: LOGIN_TIMEOUT });
	if ('body' in result) return { token: result.body.access_token };
	return { failure: { ...result.failure, ofLogin: true } };
}

/** Asks the service whether it accepts a token. @returns undefined unless it says no */
export async function doubtAbout(
	token: string,
	helpers: Helpers,
	sender: Sender,
): Promise<TokenDoubt | undefined> {
	const headers = { Authorization: `Bearer ${token}` };
	const options = { headers, timeoutMs: QUESTION_TIMEOUT_MS };
	const result = await send(helpers, sender, QUESTION, options);
	return 'failure' in result ? expiryIn(result.failure)?.doubt : undefined;
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
		...(body === undefined ? {} : { body }),
		json: true,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
	};
}

async function send<Body>(
	helpers: Helpers,
	{ account, secrets }: Sender,
	request: ServiceRequest<Body>,
	{ headers = {}, timeoutMs }: { headers?: IDataObject; timeoutMs: number },
): Promise<Result<Body>> {
	const abortSignal = timeoutSignal(timeoutMs);
	try {
		const answer: unknown = await helpers.httpRequest({
			...httpOptionsOf(request, account),
			headers,
			abortSignal,
			skipSslCertificateValidation: account.ignoreSslIssues,
			disableFollowRedirect: true,
		});
		return resultOf(answer, request, secrets);
	} catch (error) {
		return { failure: abortSignal.aborted ? { kind: 'timeout' } : requestFailureFromError(error) };
	}
}
