import type { IHttpRequestHelper, IHttpRequestOptions } from 'n8n-workflow';

import { isJsonObject } from '../../json';
import { LOGIN_TIMEOUT } from '../errors/explain';
import type { RequestFailure } from '../errors/failure';
import { requestFailureFromError } from '../errors/failure';
import type { HttpResponse } from '../errors/response';
import { describeBody, failureFromResponse, readResponse } from '../errors/response';
import { timeoutSignal } from '../request/timers';
import type { Secrets } from '../errors/secrets';
import type { Account } from './account';

export type Helpers = IHttpRequestHelper['helpers'];

/** What came of a login. A failure is plain data: each request that waited for it makes an error of its own. */
export type LoginResult = { token: string } | { failure: RequestFailure };

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

/** `POST /oauth/login`. There is no call that takes the answer's refresh token; the unit of its expiry isn't stated. */
export async function login(
	helpers: Helpers,
	{ account, secrets }: { account: Account; secrets: Secrets },
): Promise<LoginResult> {
	const { baseUrl, userName, password } = account;
	const abortSignal = timeoutSignal(LOGIN_TIMEOUT);
	let response: HttpResponse;
	try {
		response = await httpRequest(helpers, account, {
			method: 'POST',
			url: `${baseUrl}/oauth/login`,
			body: { userName, password, type: 'basic' },
			json: true,
			abortSignal,
		});
	} catch (error) {
		return { failure: abortSignal.aborted ? { kind: 'timeout' } : requestFailureFromError(error) };
	}

	const failure = failureFromResponse(response, secrets);
	if (failure !== undefined) return { failure };
	const { status, body } = response;
	const token = isJsonObject(body) ? body.access_token : undefined;
	if (typeof token === 'string' && TOKEN.test(token)) return { token };
	const received = describeBody(body, secrets, true);
	return { failure: { kind: 'unexpectedResponse', status, received, expected: 'a token' } };
}

/** A refusal by any status of 400 to 499: the interface doesn't show which one. 404 and 405 mean that there is no login. */
export function mayBeWrongPassword(failure: RequestFailure | undefined): boolean {
	return failure?.kind === 'status' && failure.status < 500 && ![404, 405].includes(failure.status);
}

/** Whether the service accepts a token, asked by a small request. Only 401 says that it doesn't. */
export async function isAccepted(
	helpers: Helpers,
	account: Account,
	token: string,
): Promise<boolean> {
	try {
		const { status } = await httpRequest(helpers, account, {
			method: SMALL_REQUEST.method,
			url: `${account.baseUrl}${SMALL_REQUEST.path}`,
			qs: SMALL_REQUEST.qs,
			headers: { Authorization: `Bearer ${token}` },
			abortSignal: timeoutSignal(QUESTION_TIMEOUT_MS),
		});
		return status !== 401;
	} catch {
		return true;
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
