import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { truncate } from '../../texts';
import { HEALTH_CHECK, LIST_OF_TEST } from '../calls/clusters';
import { failureOf } from '../errors/failure';
import { problemOfFailure, ServiceError } from '../errors/problem';
import { addressForToken } from './account';
import { type Helpers, type HttpOptions, login, sendOnce, signed } from './http';
import { type Session, sessionOf } from './session';

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
 * returned only if a health check with the current token is answered with a 401.
 *
 * @throws ServiceError if the login failed, or a field of the credential can't be used
 */
export async function newTokenForOtherNode(
	helpers: Helpers,
	credentials: ICredentialDataDecryptedObject,
): Promise<{ accessToken?: string }> {
	const session = sessionOf(credentials);
	const { search, tokens } = session;
	const request = otherRequests.get(credentials);
	// Before anything is signed, n8n asks for a token if none is stored, and for the test of a credential. After an empty
	// object, it has the request signed, and `withToken` knows what the request is.
	if (request === undefined) return {};
	const { isTest = false, mayBeRejectedUntil = Infinity } = request;
	if (Date.now() >= mayBeRejectedUntil) return {};
	const hasFailed = mayBeRejectedUntil < Infinity;
	if (hasFailed && !(await isRejected(credentials, helpers, session))) return {};
	const access = { helpers, logIn: async () => await login(helpers, session) };
	const limits = { since: Date.now(), timeout: Infinity, runEndsAt: Infinity };
	// Unless this process has just logged in, the newest token may have expired.
	const outdated = tokens.hasRecentLogin ? undefined : tokens.newest;
	const finding = isTest ? search.logIn(access) : search.find(access, limits, outdated);
	const result = await finding;
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
 * Finds out by a health check whether the service rejects the token of a failed request. If so, the token isn't used any
 * more. A new token that the service has not accepted yet is not replaced.
 */
async function isRejected(
	{ accessToken }: ICredentialDataDecryptedObject,
	helpers: Helpers,
	{ account, secrets, tokens }: Session,
): Promise<boolean> {
	// Another process may have stored a newer token than this process knows.
	tokens.useStored(accessToken);
	const token = tokens.ownIn(accessToken);
	if (token === undefined) return true;
	// If the service accepts no token, a login would not help, and each request would cause one.
	if (tokens.isNew(token) && !tokens.isAcceptedSince(-Infinity)) return false;
	const sentAt = performance.now();
	const result = await sendOnce(helpers, { account, secrets }, HEALTH_CHECK, { token });
	if ('body' in result) tokens.accept(token, sentAt);
	const isRejectedByCheck = 'failure' in result && result.failure.token === 'rejected';
	if (isRejectedByCheck) tokens.reject(token);
	return isRejectedByCheck;
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
