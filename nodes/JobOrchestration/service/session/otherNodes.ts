import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { HEALTH_CHECK, LIST_OF_TEST } from '../calls/clusters';
import { failureOf } from '../errors/failure';
import { ServiceError } from '../errors/problem';
import { isWithin } from '../timers';
import { addressForToken } from './account';
import { type Helpers, type HttpOptions, sendLogin, sendOnce, signed } from './http';
import { type Session, sessionOf } from './session';

/*
 * Requests of other nodes that use this credential, such as HTTP Request, and n8n's test of the credential.
 */

/** Milliseconds within which the service has to reject the token of another node's request. */
const REJECTED_WITHIN_MS = 10_000;

/**
 * For each request, the function that finds the token for n8n to store, or returns an empty object if the stored token
 * must not be replaced. It throws a ServiceError if the login fails. The key is the request's credentials object. n8n asks
 * for a token if none is stored, for the test of a credential, and after any error of its HTTP Request node. If it gets a
 * token after an error, it sends the request again, even a POST. It therefore gets one only if a health check with the
 * current token is answered with a 401. Without an entry, n8n gets no token: it isn't known what the request is.
 */
export const tokenFinders = new WeakMap<
	object,
	(helpers: Helpers) => Promise<{ accessToken?: string }>
>();

/** The request of n8n's test of the credential. `withToken` recognises it, since the test always logs in. */
export const testRequest = { url: HEALTH_CHECK.path, qs: HEALTH_CHECK.qs ?? {} } as const;

/** Finds a token for another node's request. The test of a credential always logs in. */
async function findToken(helpers: Helpers, session: Session, isTest: boolean) {
	const { search, tokens } = session;
	const { newest, hasRecentLogin } = tokens;
	const access = { helpers, logIn: async () => await sendLogin(helpers, session) };
	const unlimited = { timeout: Infinity, runEndsAt: Infinity, patienceMs: undefined };
	const find = async () => await search.find({ ...unlimited, access, since: Date.now() });
	// Unless this process has just logged in, the newest token may have expired.
	const recent = hasRecentLogin && newest !== undefined ? { token: newest } : undefined;
	const found = isTest ? await search.logIn(access) : (recent ?? (await find()));
	if ('failure' in found) throw new ServiceError(found.failure);
	const { token } = found;
	if (isTest) await testToken(helpers, session, token);
	return { accessToken: tokens.toStored(token) };
}

/**
 * Requests the list that n8n requests for the test of a credential. For an answer other than a success, n8n shows the
 * name of the status alone.
 *
 * @throws ServiceError if there is no such list for the user
 */
async function testToken(helpers: Helpers, session: Session, token: string): Promise<void> {
	const listed = await sendOnce(helpers, session, LIST_OF_TEST, { token });
	if ('body' in listed) return;
	const [first = '', ...rest] = listed.failure.title;
	const title = `The login works, but ${first.toLowerCase()}${rest.join('')}`;
	throw new ServiceError({ ...listed.failure, title });
}

/**
 * Finds out by a health check whether the service rejects the token of a failed request. If so, the token isn't used any
 * more. A new token that the service has not accepted yet is not replaced.
 */
async function isRejected(stored: unknown, helpers: Helpers, { search, tokens }: Session) {
	// Another process may have stored a newer token than this process knows.
	tokens.useStored(stored);
	const token = tokens.ownIn(stored);
	if (token === undefined) return true;
	// If the service accepts no token, a login would not help, and each request would cause one.
	if (tokens.isNew(token) && !tokens.isAcceptedSince(-Infinity)) return false;
	const result = await search.check(helpers, token);
	if ('body' in result || result.failure.token !== 'rejected') return false;
	tokens.reject(token);
	return true;
}

/**
 * Signs another node's request, for which n8n calls this function.
 *
 * @throws ServiceError if the request must not be sent. If the error has status code 401, n8n asks for a token first
 */
export async function withToken(
	credentials: ICredentialDataDecryptedObject,
	options: HttpOptions,
): Promise<HttpOptions> {
	const session = sessionOf(credentials);
	const { account, tokens } = session;
	const { accessToken } = credentials;
	const isTest = isOfTest(options);
	const isFirst = !tokenFinders.has(credentials);
	// For a request that is refused, n8n gets no token.
	tokenFinders.delete(credentials);
	const url = addressForToken(options, account.baseUrl);
	const token = tokens.fromStored(accessToken);
	if (token === undefined || (isTest && isFirst)) {
		tokenFinders.set(credentials, async (helpers) => await findToken(helpers, session, isTest));
		throw noTokenError();
	}
	// A request that fails later was not rejected for its token, and may have been acted on. The limit is lower than the
	// request's own time limit, whose timer may fire early.
	const patienceMs = Math.min(0.9 * (options.timeout ?? Infinity), REJECTED_WITHIN_MS);
	const signedAt = Date.now();
	tokenFinders.set(credentials, async (helpers) => {
		const mayBeRejected = isWithin(patienceMs, signedAt);
		const needsToken = mayBeRejected && (await isRejected(accessToken, helpers, session));
		return needsToken ? await findToken(helpers, session, isTest) : {};
	});
	return signed({ ...options, url }, account, token);
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
