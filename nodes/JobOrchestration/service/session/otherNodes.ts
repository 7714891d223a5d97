import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { truncate } from '../../texts';
import { HEALTH_CHECK } from '../calls/clusters';
import { type Failure, failureOf } from '../errors/failure';
import { inTitleOnly, problemOfFailure, ServiceError } from '../errors/problem';
import { isWithin } from '../timers';
import { addressForToken } from './account';
import {
	CHECK_TIMEOUT_MS,
	type Helpers,
	type HttpOptions,
	login,
	sendOnce,
	signed,
	type TokenResult,
} from './http';
import { type Session, sessionOf, type TokenSource } from './session';
import { RECENT_MS } from './tokens';

/*
 * Requests of other nodes that use this credential, such as HTTP Request, and n8n's test of the credential.
 */

/** What is known of other nodes' requests. Each is identified by its credentials object. */
const otherRequests = new WeakMap<
	object,
	{
		/** Whether the request is n8n's test of the credential. */
		isTest?: boolean;
		/**
		 * Time (ms since 1970) until which a failure may mean a rejected token; 0 if no token is to be given for the request.
		 * Not set if the request is waiting for a token.
		 */
		mayBeRejectedUntil?: number;
	}
>();

/** Whether a new token failed in a health check within the last minute: the user may not be allowed to list clusters. */
const isUnconfirmed = ({ unconfirmedAt }: Session) => isWithin(RECENT_MS, unconfirmedAt);

/** The request of n8n's test of the credential. `withToken` recognises it, since the test always logs in. */
export const testRequest = { url: HEALTH_CHECK.path, qs: HEALTH_CHECK.qs ?? {} } as const;

/**
 * Returns a new token for another node's request, or an empty object. n8n asks for a token after any error of its HTTP
 * Request node, and sends the request again if it gets one, even a POST. After a failed request, a token is therefore
 * returned only if a health check with the current token fails because of this token, and one with the new token
 * succeeds.
 *
 * @throws ServiceError if the login failed, or a field of the credential can't be used
 */
export async function newTokenForOtherNode(
	helpers: Helpers,
	credentials: ICredentialDataDecryptedObject,
): Promise<{ accessToken?: string }> {
	const session = sessionOf(credentials);
	const { tokens } = session;
	const request = otherRequests.get(credentials);
	// Before anything is signed, n8n asks for a token if none is stored, and for the test of a credential. After an empty
	// object, it has the request signed, and `withToken` knows what the request is.
	if (request === undefined) return {};
	const { isTest = false, mayBeRejectedUntil = Infinity } = request;
	if (Date.now() >= mayBeRejectedUntil) return {};
	const current = tokens.fromStored(credentials.accessToken);
	let result: TokenResult | undefined;
	if (mayBeRejectedUntil < Infinity) result = await replacementOf(current, helpers, session);
	else if (isTest) result = await session.logIn(sourceOf(helpers, session));
	else result = await anotherToken(helpers, session);
	if (result === undefined) return {};
	if ('failure' in result) {
		// After the error of a failed login, n8n asks once more.
		otherRequests.set(credentials, { mayBeRejectedUntil: 0 });
		throw errorOf(result.failure);
	}
	otherRequests.set(credentials, { isTest });
	return { accessToken: tokens.toStored(result.token) };
}

/** Returns how to find a token for another node's request. n8n stores the token after the login. */
const sourceOf = (helpers: Helpers, session: Session): TokenSource => ({
	isForCalls: false,
	logIn: async () => await login(helpers, session),
});

/**
 * Sends a health check with a token, for a request of another node. Never throws.
 *
 * @returns what the response says of the token; undefined if it says nothing
 */
async function checkToken(token: string, helpers: Helpers, session: Session) {
	const sentAt = performance.now();
	const options = { token, timeoutMs: CHECK_TIMEOUT_MS };
	const result = await sendOnce(helpers, session, HEALTH_CHECK, options);
	if ('failure' in result) return result.failure.token;
	session.tokens.accept(token, sentAt);
	return 'accepted' as const;
}

/** Returns a token to replace the one of a failed request; undefined if the request must not be sent again. */
async function replacementOf(
	current: string | undefined,
	helpers: Helpers,
	session: Session,
): Promise<TokenResult | undefined> {
	const { tokens } = session;
	if (isUnconfirmed(session)) return undefined;
	const check = async (token: string) => await checkToken(token, helpers, session);
	const result = current === undefined ? 'rejected' : await check(current);
	const isSuspect = result === 'suspect' && !tokens.hasRecentLogin;
	if (result !== 'rejected' && !isSuspect) return undefined;
	if (current !== undefined && !isSuspect) tokens.reject(current);
	const other = await anotherToken(helpers, session, current);
	if ('failure' in other) return isSuspect ? undefined : other;
	if ((await check(other.token)) !== 'accepted') {
		session.unconfirmedAt = Date.now();
		return undefined;
	}
	// If the service accepts the current token by now, that token was not the reason for the failure.
	const isOldGood = isSuspect && (await check(current ?? '')) === 'accepted';
	return isOldGood ? undefined : other;
}

/** Returns the newest token if it isn't the current one and the service accepts it, or else the token of a login. */
async function anotherToken(
	helpers: Helpers,
	session: Session,
	current?: string,
): Promise<TokenResult> {
	const { newest } = session.tokens;
	const isOther = newest !== undefined && newest !== current;
	const isGood = async (token: string) =>
		isUnconfirmed(session) || (await checkToken(token, helpers, session)) === 'accepted';
	if (isOther && (await isGood(newest))) return { token: newest };
	return await session.renew(sourceOf(helpers, session), newest);
}

/**
 * Signs another node's request, for which n8n calls this function. The request may only go to the Base URL or to an
 * address below it, and not through a proxy that is set in the workflow.
 *
 * @throws ServiceError if the request must not be sent. If the error has status code 401, n8n asks for a token first
 */
export async function withToken(
	credentials: ICredentialDataDecryptedObject,
	options: HttpOptions,
): Promise<HttpOptions> {
	const { account, tokens } = sessionOf(credentials);
	const isTest = isOfTest(options);
	const checked = addressForToken(options, account.baseUrl);
	if ('foreign' in checked) {
		otherRequests.set(credentials, { isTest, mayBeRejectedUntil: 0 });
		throw new ServiceError(
			failureOf({
				title: `This credential is for ${truncate(account.baseUrl)} only`,
				advice:
					"Use an address that begins with the credential's 'Base URL' without the option 'Proxy', or another credential.",
				facts: [`Nothing was sent: ${checked.foreign} must not get the token.`],
			}),
		);
	}
	const token = tokens.fromStored(credentials.accessToken);
	const request = otherRequests.get(credentials);
	const hasLoggedIn = request !== undefined && request.mayBeRejectedUntil === undefined;
	if (token === undefined || (isTest && !hasLoggedIn)) {
		otherRequests.set(credentials, { isTest });
		throw noTokenError();
	}
	// A request that fails later was not rejected for its token, and may have been acted on. The limit is lower than the
	// request's own time limit, whose timer may fire early.
	const patienceMs = Math.min(0.9 * (options.timeout ?? Infinity), CHECK_TIMEOUT_MS);
	otherRequests.set(credentials, { isTest, mayBeRejectedUntil: Date.now() + patienceMs });
	return signed({ ...options, url: checked.address }, account, token);
}

/** Returns an error whose response makes n8n treat the token as rejected. */
function noTokenError(): Error {
	const message = 'The request was not sent: there is no token for it';
	const error = new ServiceError(failureOf({ title: message, advice: '', httpStatus: 401 }));
	return Object.assign(error, { response: { status: 401 } });
}

function isOfTest({ url, qs, baseURL }: HttpOptions): boolean {
	return baseURL !== undefined && url === testRequest.url && qs?.['ListOption.limit'] === 1;
}

function errorOf(failure: Failure): ServiceError {
	const problem = problemOfFailure(failure);
	// The test of a credential shows only the message, so the message of a failed login includes the advice.
	return new ServiceError(failure, failure.ofLogin === true ? inTitleOnly(problem) : problem);
}
