import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { type Failure, meaningOf } from '../errors/kinds';
import { inTitleOnly, ServiceError } from '../errors/problem';
import { isWithin } from '../timers';
import type { Account } from './account';
import { addressForToken } from './address';
import { CHECK_TIMEOUT_MS, HEALTH_CHECK } from './healthCheck';
import { type Helpers, type HttpOptions, sendOnce, signed } from './http';
import { login, type TokenResult } from './login';
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
		/** The token of a login that was made for this request. */
		token?: string;
		/**
		 * Time (ms since 1970) until which a failure may mean a rejected token; 0 if no token is to be given for the request.
		 * Not set if the request hasn't been sent.
		 */
		mayBeRejectedUntil?: number;
	}
>();

/** When a health check with a new token failed (ms since 1970). */
const unconfirmedAt = new WeakMap<Session, number>();
/** Whether a new token failed in a health check within the last minute: the user may not be allowed to list clusters. */
const isUnconfirmed = (session: Session) => isWithin(RECENT_MS, unconfirmedAt.get(session));

/** The request of n8n's test of the credential. `withToken` recognises it, since the test always logs in. */
export const testRequest = { url: HEALTH_CHECK.path, qs: HEALTH_CHECK.qs } as const;

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
	const current = tokens.fromStored(credentials.accessToken);
	if (request?.mayBeRejectedUntil !== undefined) {
		const isUnanswered = Date.now() >= request.mayBeRejectedUntil;
		const token = isUnanswered ? undefined : await replacementOf(current, helpers, session);
		return token === undefined ? {} : { accessToken: tokens.toStored(token) };
	}
	// Before anything is signed, n8n asks for a token if none is stored, and for the test of a credential. After an empty
	// object, it has the request signed, and `withToken` knows what the request is.
	const isNotSigned = request === undefined;
	if (isNotSigned && (current !== undefined || session.recentRefusal !== undefined)) return {};
	const isTest = request?.isTest === true;
	const isOfLogin = isTest || tokens.newest === undefined;
	const source = sourceOf(helpers, session);
	const result = isTest ? await session.logIn(source) : await anotherToken(helpers, session);
	// After the error of a failed login, n8n asks once more.
	if ('failure' in result) otherRequests.set(credentials, { mayBeRejectedUntil: 0 });
	const token = tokenIn(result, session);
	if (isOfLogin) otherRequests.set(credentials, { ...request, token });
	return { accessToken: tokens.toStored(token) };
}

/** Returns how to find a token for another node's request. n8n stores the token after the login. */
const sourceOf = (helpers: Helpers, session: Session): TokenSource => ({
	isForCalls: false,
	logIn: async () => await login(helpers, session),
});

/** Returns a token to replace the one of a failed request; undefined if the request must not be sent again. */
async function replacementOf(
	current: string | undefined,
	helpers: Helpers,
	session: Session,
): Promise<string | undefined> {
	const { tokens } = session;
	if (isUnconfirmed(session)) return undefined;
	const check = async (token: string) => await resultOfCheck(token, helpers, session);
	const result = current === undefined ? 'rejected' : await check(current);
	const isSuspect = result === 'suspect' && !tokens.haveBeenIssued;
	if (result !== 'rejected' && !isSuspect) return undefined;
	if (current !== undefined && !isSuspect) tokens.reject(current);
	const other = await anotherToken(helpers, session, current);
	if (isSuspect && 'failure' in other) return undefined;
	const token = tokenIn(other, session);
	if ((await check(token)) !== 'accepted') {
		unconfirmedAt.set(session, Date.now());
		return undefined;
	}
	// If the service accepts the current token by now, that token was not the reason for the failure.
	const isOldGood = isSuspect && (await check(current ?? '')) === 'accepted';
	return isOldGood ? undefined : token;
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
		isUnconfirmed(session) || (await resultOfCheck(token, helpers, session)) === 'accepted';
	if (isOther && (await isGood(newest))) return { token: newest };
	return await session.renew(sourceOf(helpers, session), newest);
}

/** The health checks in progress, by token. Requests that fail at the same time share them. */
const checks = new Map<string, ReturnType<typeof sendCheck>>();

async function resultOfCheck(token: string, helpers: Helpers, session: Session) {
	const key = session.tokens.toStored(token);
	const check =
		checks.get(key) ?? sendCheck(token, helpers, session).finally(() => checks.delete(key));
	checks.set(key, check);
	return await check;
}

/** Sends a health check. @returns what it says of its token; undefined if it says nothing */
async function sendCheck(token: string, helpers: Helpers, session: Session) {
	const sentAt = performance.now();
	const options = { token, timeoutMs: CHECK_TIMEOUT_MS };
	const result = await sendOnce(helpers, session, HEALTH_CHECK, options);
	if ('failure' in result) return meaningOf(result.failure).token;
	session.tokens.accept(token, sentAt);
	return 'accepted' as const;
}

/**
 * Returns the token of a login.
 *
 * @throws ServiceError if the login failed
 */
function tokenIn(result: TokenResult, { account }: Session): string {
	if ('token' in result) return result.token;
	throw errorOf({ ...result.failure }, account);
}

/**
 * Signs another node's request, for which n8n calls this function. The request may only go to the Base URL or to an address below it, and not through a
 * proxy that is set in the workflow.
 *
 * @throws ServiceError if the request must not be sent. If the error has status code 401, n8n asks for a token first
 */
export async function withToken(
	credentials: ICredentialDataDecryptedObject,
	options: HttpOptions,
): Promise<HttpOptions> {
	const session = sessionOf(credentials);
	const { account } = session;
	const checked = addressForToken(options, account.baseUrl);
	if ('foreign' in checked) {
		otherRequests.set(credentials, { mayBeRejectedUntil: 0 });
		throw errorOf({ kind: 'foreignAddress', address: checked.foreign }, account);
	}
	const token = session.tokens.fromStored(credentials.accessToken);
	const isTest = isOfTest(options);
	const hasLoggedIn = token !== undefined && otherRequests.get(credentials)?.token === token;
	if (isTest ? !hasLoggedIn : token === undefined) {
		const refusal = isTest ? undefined : session.recentRefusal;
		otherRequests.set(credentials, refusal ? { mayBeRejectedUntil: 0 } : { isTest });
		throw refusal ? errorOf({ ...refusal }, account) : noTokenError();
	}
	if (!isTest) {
		// A request that fails later was not rejected for its token, and may have been acted on. The limit is lower than
		// the request's own time limit, whose timer may fire early.
		const patienceMs = Math.min(0.9 * (options.timeout ?? Infinity), CHECK_TIMEOUT_MS);
		otherRequests.set(credentials, { mayBeRejectedUntil: Date.now() + patienceMs });
	}
	return signed({ ...options, url: checked.address }, account, token);
}

/** Returns an error whose response makes n8n treat the token as rejected. */
function noTokenError(): Error {
	const message = 'The request was not sent: there is no token for it';
	const error = new ServiceError({ kind: 'status', status: 401 }, { message, advice: '' });
	return Object.assign(error, { response: { status: 401 } });
}

function isOfTest({ url, qs, baseURL }: HttpOptions): boolean {
	return baseURL !== undefined && url === testRequest.url && qs?.['ListOption.limit'] === 1;
}

function errorOf(failure: Failure, { baseUrl }: Account): ServiceError {
	const texts = meaningOf(failure, { baseUrl });
	// The test of a credential shows only the message, so the message of a failed login includes the advice.
	return new ServiceError(failure, failure.ofLogin === true ? inTitleOnly(texts) : texts);
}
