import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { truncate } from '../../texts';
import { HEALTH_CHECK, LIST_OF_TEST } from '../calls/clusters';
import { failureOf } from '../errors/failure';
import { problemOfFailure, ServiceError } from '../errors/problem';
import { isWithin } from '../timers';
import { addressForToken } from './account';
import { type Helpers, type HttpOptions, login, sendOnce, signed, type TokenResult } from './http';
import { type Session, sessionOf, type TokenSource } from './session';
import { RECENT_MS, type Tokens } from './tokens';

/*
 * Requests of other nodes that use this credential, such as HTTP Request, and n8n's test of the credential.
 */

/** Milliseconds within which the service has to reject the token of another node's request. */
const REJECTED_WITHIN_MS = 10_000;

/** What is known of other nodes' requests. Each is identified by its credentials object. */
const otherRequests = new WeakMap<
	object,
	{
		/** Whether the request is n8n's test of the credential. */
		isTest?: boolean;
		/**
		 * Time (ms since 1970) until which a failure may mean a rejected token; 0 if no token is to be given for the request.
		 * Not set until the request is signed.
		 */
		mayBeRejectedUntil?: number;
	}
>();

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
	const source = { logIn: async () => await login(helpers, session) };
	let result: TokenResult | undefined;
	if (mayBeRejectedUntil < Infinity)
		result = await replacementOf(credentials.accessToken, helpers, session, source);
	else if (isTest) result = await session.logIn(source);
	else result = await session.renew(source, outdatedOf(tokens));
	if (result === undefined) return {};
	if ('failure' in result) throw new ServiceError(result.failure);
	const { token } = result;
	if (isTest) {
		// n8n sends the same list afterwards, but for an answer other than a success it shows the name of the status alone.
		const listed = await sendOnce(helpers, session, LIST_OF_TEST, { token });
		if ('failure' in listed) {
			const problem = problemOfFailure(listed.failure);
			const [first = '', ...rest] = problem.title;
			const title = `The login works, but ${first.toLowerCase()}${rest.join('')}`;
			throw new ServiceError(listed.failure, { ...problem, title });
		}
	}
	otherRequests.set(credentials, { isTest });
	return { accessToken: tokens.toStored(token) };
}

/**
 * Returns the token that a search must not return: the newest one, unless this process has logged in within the last
 * minute, since the token may have expired.
 */
const outdatedOf = ({ hasRecentLogin, newest }: Tokens) => (hasRecentLogin ? undefined : newest);

/**
 * Returns a token to replace the one of a failed request: that of a recent login if it is another one, or else that of
 * a new login.
 *
 * @param stored the value in the credential, with the token of the failed request
 * @returns undefined if the request must not be sent again
 */
async function replacementOf(
	stored: unknown,
	helpers: Helpers,
	session: Session,
	source: TokenSource,
): Promise<TokenResult | undefined> {
	const { tokens } = session;
	// The new token has failed in a health check: the user may not be allowed to list clusters.
	if (isWithin(RECENT_MS, session.unconfirmedAt)) return undefined;
	/** Sends a health check, and returns what the response says of the token; undefined if it says nothing. */
	const check = async (token: string) => {
		const sentAt = performance.now();
		const result = await sendOnce(helpers, session, HEALTH_CHECK, { token });
		if ('failure' in result) return result.failure.token;
		tokens.accept(token, sentAt);
		return 'accepted' as const;
	};
	// Another process may have stored a newer token than this process knows.
	tokens.useStored(stored);
	const current = tokens.fromStored(stored);
	const result = current === undefined ? 'rejected' : await check(current);
	const isSuspect = result === 'suspect' && !tokens.hasRecentLogin;
	if (result !== 'rejected' && !isSuspect) return undefined;
	if (current !== undefined && !isSuspect) tokens.reject(current);
	const other = await session.renew(source, outdatedOf(tokens) ?? current);
	if ('failure' in other) return isSuspect ? undefined : other;
	if ((await check(other.token)) !== 'accepted') {
		session.unconfirmedAt = Date.now();
		return undefined;
	}
	// If the service accepts the current token by now, that token was not the reason for the failure.
	const isOldGood = isSuspect && (await check(current ?? '')) === 'accepted';
	return isOldGood ? undefined : other;
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
	const patienceMs = Math.min(0.9 * (options.timeout ?? Infinity), REJECTED_WITHIN_MS);
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
