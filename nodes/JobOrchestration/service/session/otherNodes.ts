import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { truncate } from '../../texts';
import { type Failure, failureOf } from '../errors/failure';
import { inTitleOnly, problemOfFailure, ServiceError } from '../errors/problem';
import { isWithin } from '../timers';
import { type Account, isBelow, resolveUrl } from './account';
import { CHECK_TIMEOUT_MS, HEALTH_CHECK, REUSE_MS } from './healthCheck';
import { type Helpers, type HttpOptions, signed, type TokenResult } from './login';
import { type Session, sessionOf } from './session';

/*
 * Requests of other nodes that use this credential, such as HTTP Request, and n8n's test of the credential.
 */

/** What is known of other nodes' requests. Each is identified by its credentials object. */
const otherRequests = new WeakMap<
	object,
	{
		/** Time (ms since 1970) until which a failure may mean a rejected token; 0 if the request must not be sent at all. */
		mayBeRejectedUntil: number;
		/** Whether the request is n8n's test of the credential. If so, `token` is set once the test has logged in. */
		isTest?: boolean;
		token?: string;
	}
>();

/** The request of n8n's test of the credential. `signedForOtherNode` recognises it, since the test always logs in. */
export const testRequest = { url: HEALTH_CHECK.path, qs: HEALTH_CHECK.qs } as const;

/**
 * Returns a new token for another node's request, or an empty object. n8n asks for a token after any error of its HTTP
 * Request node, and sends the request again if it gets one. After a failed request, a token is therefore returned only
 * if the service doesn't accept the current one and clearly accepts the new one.
 *
 * @throws ServiceError if the login failed, or a field of the credential can't be used
 */
export async function newTokenForOtherNode(
	helpers: Helpers,
	credentials: ICredentialDataDecryptedObject,
): Promise<{ accessToken?: string }> {
	const session = sessionOf(credentials);
	const request = otherRequests.get(credentials);
	const { health, logins, tokens } = session;
	if (request?.isTest === true) {
		// No health check is needed: if the service rejects this token, the test itself shows it.
		request.token ??= tokenIn(await logins.logIn(helpers));
		return { accessToken: tokens.toStored(request.token) };
	}
	if (request !== undefined && Date.now() >= request.mayBeRejectedUntil) return {};
	const current = tokens.fromStored(credentials.accessToken);
	const refusal = current === undefined ? 'rejected' : await refusalOf(current, helpers, session);
	if (refusal === undefined) return {};

	const { newest, issued } = tokens;
	// If the credential has no usable token, the newest one is considered only shortly after its login. Otherwise, the
	// other node would have to wait for the health check of an expired token.
	const mayBeNewest = current !== undefined || isWithin(REUSE_MS, issued?.at);
	const isGood =
		mayBeNewest && newest !== undefined && !(await refusalOf(newest, helpers, session));
	const token = isGood ? newest : tokenIn(await logins.logInUnlessRefused(helpers));
	if (request !== undefined) {
		// A service that rejects the new token as well doesn't allow this user to list work clusters. It may have accepted
		// the old token.
		if ((await health.check(helpers, token)) !== 'accepted') return {};
		logins.unaccepted = 0;
		// If the service accepts the old token by now, the token was not the reason for the failure.
		const isOldGood = async () => (await health.check(helpers, current ?? '')) === 'accepted';
		if (refusal === 'suspect' && (await isOldGood())) return {};
	}
	return { accessToken: tokens.toStored(token) };
}

/**
 * Checks a token, and rejects it if the service doesn't accept it or may not accept it. A rejected token is not used
 * again.
 */
async function refusalOf(
	token: string,
	helpers: Helpers,
	{ health, tokens }: Session,
): Promise<'rejected' | 'suspect' | undefined> {
	const found = await health.check(helpers, token);
	const isSuspect = (found === 'suspect' || found === 'failed') && !tokens.isRecent(token);
	if (!isSuspect && found !== 'rejected') return undefined;
	tokens.reject(token);
	return isSuspect ? 'suspect' : 'rejected';
}

/**
 * Returns the token of a login.
 *
 * @throws ServiceError if the login failed
 */
function tokenIn(result: TokenResult): string {
	if ('token' in result) return result.token;
	throw errorOf({ ...result.failure });
}

/**
 * Signs another node's request. The request may only go to the Base URL or to an address below it, and not through a
 * proxy that is set in the workflow.
 *
 * @throws ServiceError if the request must not be sent
 */
export function signedForOtherNode(
	credentials: ICredentialDataDecryptedObject,
	options: HttpOptions,
): HttpOptions {
	const session = sessionOf(credentials);
	const { account } = session;
	const checked = addressForToken(options, account);
	if ('foreign' in checked) {
		otherRequests.set(credentials, { mayBeRejectedUntil: 0 });
		throw new ServiceError(
			failureOf({
				title: `This credential is for ${truncate(account.baseUrl)} only`,
				advice:
					"Use an address that begins with the credential's 'Base URL' without the option 'Proxy', or another credential.",
				facts: [`Nothing was sent: ${checked.foreign} must not get the token.`],
			}),
		);
	}
	const token = session.tokens.fromStored(credentials.accessToken);
	const hasLoggedIn = token !== undefined && otherRequests.get(credentials)?.token === token;
	const mustLogIn = isTest(options) && !hasLoggedIn;
	if (mustLogIn) otherRequests.set(credentials, { mayBeRejectedUntil: Infinity, isTest: true });
	if (token === undefined || mustLogIn) throw noTokenError();
	if (!isTest(options)) {
		// A request that fails later was not rejected for its token, and may have been acted on. The limit is lower than
		// the request's own time limit, whose timer may fire early.
		const patienceMs = Math.min(0.9 * (options.timeout ?? Infinity), CHECK_TIMEOUT_MS);
		otherRequests.set(credentials, { mayBeRejectedUntil: Date.now() + patienceMs });
	}
	return signed({ ...options, url: checked.address }, account, token);
}

/** Returns an error whose response makes n8n treat the token as rejected. */
export function noTokenError(): Error {
	const message = 'The request was not sent: there is no token for it';
	const error = new ServiceError(failureOf({ title: message, advice: '', httpStatus: 401 }));
	return Object.assign(error, { response: { status: 401 } });
}

/**
 * Returns the address of another node's request in the form that was checked, so that n8n can't interpret it
 * differently. If the token must not be sent there, returns where the request would go as `foreign`.
 */
function addressForToken(
	{ url, uri, baseURL, headers = {}, proxy }: HttpOptions,
	account: Account,
): { address: string } | { foreign: string } {
	const address = resolveUrl(url ?? uri, baseURL);
	// There may be several Host headers in different spellings, and any of them may be sent.
	const otherHost = Object.entries(headers).find(
		([name, host]) => /^host$/i.test(name) && host !== undefined && host !== address?.host,
	);
	if (address === undefined || otherHost !== undefined || !isBelow(account.baseUrl, address)) {
		const shown = address && `${address.origin}${address.pathname}`;
		return { foreign: String(otherHost?.[1] ?? shown ?? "an address that can't be read") };
	}
	return proxy ? { foreign: "the node's proxy" } : { address: address.href };
}

function isTest({ url, qs, baseURL }: HttpOptions): boolean {
	return baseURL !== undefined && url === testRequest.url && qs?.['ListOption.limit'] === 1;
}

export function errorOf(failure: Failure): ServiceError {
	const problem = problemOfFailure(failure);
	// The test of a credential shows only the message, so the message of a failed login includes the advice.
	return new ServiceError(failure, failure.ofLogin === true ? inTitleOnly(problem) : problem);
}
