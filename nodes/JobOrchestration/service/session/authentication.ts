import type { ICredentialDataDecryptedObject, IHttpRequestHelper } from 'n8n-workflow';

import { type Failure, meaningOf } from '../errors/failure';
import { asTitleOnly, ServiceError } from '../errors/serviceError';
import { isWithin } from '../timers';
import { type Account, isBelow, resolveUrl } from './account';
import { type Helpers, type HttpOptions, signed, type TokenResult } from './login';
import { QUESTION } from './question';
import type { Sending } from './sending';
import type { Session } from './session';
import { sessionOf } from './sessions';

/** By the credentials object, made for each request: n8n passes nothing else to the credential. */
export const sendings = new WeakMap<object, { session: Session; sending: Sending }>();

/** What is known of another node's request, by its credentials object. */
interface OtherRequest {
	/** Until when (ms since 1970) a failure may be a rejected token; 0 if the request must not be sent at all. */
	mayBeRejectedUntil: number;
	/** Whether it is n8n's test of the credential; then `token` is set once it has logged in. */
	isTest?: boolean;
	token?: string;
}
const otherRequests = new WeakMap<object, OtherRequest>();

/** How long a service may take to reject a token. A request that fails later may have been acted on. */
const REJECTION_TIMEOUT_MS = 30_000;

/** How long a token is new. With more, another node without a token would wait for the one that has expired. */
const NEW_TOKEN_MS = 5_000;

/** What n8n's test of the credential sends. `withToken` recognises it, since the test must always log in. */
export const TEST_REQUEST = { url: QUESTION.path, qs: QUESTION.qs } as const;

/**
 * The token for n8n to store in the credential, which it asks for without one, after a 401, and after any failed request
 * of its HTTP Request node; nothing if the token must not be replaced.
 *
 * @throws ServiceError whose failure is a login's, or a `baseUrl` that can't be used
 */
export async function newToken(
	this: IHttpRequestHelper,
	credentials: ICredentialDataDecryptedObject,
): Promise<{ accessToken?: string }> {
	const { helpers } = this;
	const own = sendings.get(credentials);
	if (own === undefined) return await newTokenForOtherNode(helpers, credentials);
	const { session, sending } = own;
	sending.hold();
	sending.token = tokenIn(await session.token(helpers, sending), session);
	// n8n up to 2.20 stores all of these credentials with the token, and would undo what was edited in the meantime.
	Object.assign(credentials, await sending.options.readAgain());
	return { accessToken: session.toStored(sending.token) };
}

/**
 * n8n asks for a token after any error of its HTTP Request node, and sends the request again if it gets one. So it gets
 * none unless the service doesn't accept the current one, and clearly accepts the new one.
 */
async function newTokenForOtherNode(
	helpers: Helpers,
	credentials: ICredentialDataDecryptedObject,
): Promise<{ accessToken?: string }> {
	const session = sessionOf(credentials);
	const request = otherRequests.get(credentials);
	if (request?.isTest === true) {
		// If the service rejects this token, too, the test tells so.
		request.token ??= tokenIn(await session.logIn(helpers), session);
		return { accessToken: session.toStored(request.token) };
	}
	if (request !== undefined && Date.now() >= request.mayBeRejectedUntil) return {};
	const current = session.fromStored(credentials.accessToken);
	if (current !== undefined && (await session.accepts(helpers, current))) return {};

	const { newest } = session;
	const mayBeNewest = current !== undefined || isWithin(NEW_TOKEN_MS, session.lastLogin?.at);
	const isGood = mayBeNewest && newest !== undefined && (await session.accepts(helpers, newest));
	const token = isGood ? newest : tokenIn(await session.token(helpers), session);
	// A service that rejects the new token as well doesn't let this user ask: the old one may have been accepted.
	if (request && (await session.question.about(helpers, token)) !== undefined) return {};
	return { accessToken: session.toStored(token) };
}

/** @throws ServiceError if the login failed */
function tokenIn(result: TokenResult, { account }: Session): string {
	if ('token' in result) return result.token;
	throw errorOf({ ...result.failure }, account);
}

/** Adds the token to a request. @throws ServiceError if it must not be sent; with status 401, n8n asks for a token first */
export async function withToken(
	credentials: ICredentialDataDecryptedObject,
	options: HttpOptions,
): Promise<HttpOptions> {
	const own = sendings.get(credentials);
	if (own === undefined) return signedForOtherNode(credentials, options);
	// After an edit, the credentials may be another account's by now.
	const { session, sending } = own;
	sending.hold();
	if (sending.signal.aborted) throw errorOf({ kind: 'cancelled', sent: false }, session.account);
	const stored = session.fromStored(credentials.accessToken);
	if (stored === undefined) throw noTokenError();
	const token = session.newest ?? stored;
	sending.send(token);
	// Instead of the execution's cancel, which n8n has put there: it would cut off the answer to a create.
	return { ...signed(options, session.account, token), abortSignal: sending.signal };
}

/** Its request may only go to the Base URL or below it: not elsewhere, and not through a proxy that a workflow names. */
function signedForOtherNode(
	credentials: ICredentialDataDecryptedObject,
	options: HttpOptions,
): HttpOptions {
	const session = sessionOf(credentials);
	const { account } = session;
	const checked = addressForToken(options, account);
	if ('foreign' in checked) {
		otherRequests.set(credentials, { mayBeRejectedUntil: 0 });
		throw errorOf({ kind: 'foreignAddress', address: checked.foreign }, account);
	}
	const token = session.fromStored(credentials.accessToken);
	const hasLoggedIn = token !== undefined && otherRequests.get(credentials)?.token === token;
	const mustLogIn = isTest(options) && !hasLoggedIn;
	if (mustLogIn) otherRequests.set(credentials, { mayBeRejectedUntil: Infinity, isTest: true });
	if (token === undefined || mustLogIn) throw noTokenError();
	if (!isTest(options)) {
		// A request that fails at its own time limit was not rejected. Its timer may be early.
		const patienceMs = Math.min(0.9 * (options.timeout ?? Infinity), REJECTION_TIMEOUT_MS);
		otherRequests.set(credentials, { mayBeRejectedUntil: Date.now() + patienceMs });
	}
	return signed({ ...options, url: checked.address }, account, token);
}

/** n8n takes an error with this response for a rejected token. */
function noTokenError(): Error {
	const message = 'The request was not sent: there is no token for it';
	const error = new ServiceError({ kind: 'status', status: 401 }, { message, advice: '' });
	return Object.assign(error, { response: { status: 401 } });
}

/** The address of another node's request, as checked: n8n can't read it differently. Or where else it would go. */
function addressForToken(
	{ url, uri, baseURL, headers = {}, proxy }: HttpOptions,
	account: Account,
): { address: string } | { foreign: string } {
	const address = resolveUrl(url ?? uri, baseURL);
	// There may be a header in each spelling, and any of them may be sent.
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
	return baseURL !== undefined && url === TEST_REQUEST.url && qs?.['ListOption.limit'] === 1;
}

function errorOf(failure: Failure, { baseUrl }: Account): ServiceError {
	const texts = meaningOf(failure, { baseUrl });
	// The test of a credential shows only the message, so it holds the advice as well.
	return new ServiceError(failure, failure.ofLogin === true ? asTitleOnly(failure, texts) : texts);
}
