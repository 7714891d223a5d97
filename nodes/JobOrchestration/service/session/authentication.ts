import type { ICredentialDataDecryptedObject, IHttpRequestOptions } from 'n8n-workflow';

import { explain } from '../errors/explain';
import type { Failure } from '../errors/failure';
import { asTitleOnly, ServiceError } from '../errors/serviceError';
import type { Account } from './account';
import { isBelow, resolveUrl } from './baseUrl';
import type { Helpers } from './login';
import type { TrackedRequest } from './trackedRequest';
import type { Session } from './session';
import { sessionOf } from './session';

/** n8n's HTTP Request node sends options of an older kind, with other names. */
type RequestOptions = IHttpRequestOptions & {
	uri?: unknown;
	followRedirect?: boolean;
	followAllRedirects?: boolean;
	rejectUnauthorized?: boolean;
};

/** By the credentials object, made for each request: n8n passes nothing else to the credential. */
export const trackedRequests = new WeakMap<object, { session: Session; tracked: TrackedRequest }>();

/** Until when (ms since 1970) a failure of another node's request may be a rejected token, by its credentials object. */
const maybeRejectedUntil = new WeakMap<object, number>();

/** How long a service may take to reject a token. A request that fails later may have been acted on. */
const REJECTION_TIMEOUT_MS = 30_000;

/** How long a token is new. With more, n8n's test of a credential could get an old token, and would be no login. */
const NEW_TOKEN_MS = 5_000;

/**
 * The token for n8n to store in the credential; nothing if the token must not be replaced.
 *
 * @throws ServiceError whose failure is a `login`, or a `baseUrl` that can't be used
 */
export async function newToken(
	helpers: Helpers,
	credentials: ICredentialDataDecryptedObject,
): Promise<{ accessToken?: string }> {
	const found = trackedRequests.get(credentials);
	if (found === undefined) return await newTokenForOtherNode(helpers, credentials);
	const { session, tracked } = found;
	tracked.isUnsent = true;
	const token = await fetchToken(session, helpers, tracked);
	if (token === undefined) return {};
	tracked.token = token;
	// n8n up to 2.20 stores all of these credentials with the token, and would undo what was edited in the meantime.
	Object.assign(credentials, await tracked.options.readAgain());
	return { accessToken: session.seal(token) };
}

/**
 * n8n asks for a token after any error of its HTTP Request node, and sends the request again if it gets one. So it gets
 * none unless the service rejects the current one.
 */
async function newTokenForOtherNode(
	helpers: Helpers,
	credentials: ICredentialDataDecryptedObject,
): Promise<{ accessToken?: string }> {
	const session = sessionOf(credentials);
	const until = maybeRejectedUntil.get(credentials);
	if (until !== undefined && Date.now() >= until) return {};
	const current = session.unseal(credentials.accessToken);
	if (session.isUsable(current) && (await session.accepts(helpers, current))) return {};

	const newest = session.newestToken(current === undefined ? NEW_TOKEN_MS : Infinity);
	if (newest !== undefined && (await session.accepts(helpers, newest))) {
		return { accessToken: session.seal(newest) };
	}
	const token = await fetchToken(session, helpers);
	if (token === undefined) return {};
	// A service that rejects the new token as well doesn't let this user ask: the old one may have been accepted.
	if (until !== undefined && !(await session.accepts(helpers, token))) return {};
	return { accessToken: session.seal(token) };
}

/** @returns undefined if there is no token, and no login may be made. @throws ServiceError with a `login` */
async function fetchToken(
	session: Session,
	helpers: Helpers,
	tracked?: TrackedRequest,
): Promise<string | undefined> {
	const result = await session.token(helpers, tracked);
	if (result === undefined || 'token' in result) return result?.token;
	throw errorOf({ kind: 'login', cause: result.failure }, session.account);
}

/**
 * Adds the token to a request, which may only go to the Base URL or below it: not elsewhere, not by a redirect, and
 * not through a proxy that a workflow names. The interface doesn't show how the token is sent; the login says "Bearer".
 *
 * @throws ServiceError if the request goes elsewhere, or was cancelled; with status 401 if there is no usable token:
 * n8n then asks for a new one before it sends anything
 */
export async function withToken(
	credentials: ICredentialDataDecryptedObject,
	options: RequestOptions,
): Promise<IHttpRequestOptions> {
	// After an edit, the credentials may be another account's by now.
	const { tracked, session } = trackedRequests.get(credentials) ?? {
		session: sessionOf(credentials),
	};
	const { account } = session;
	if (tracked !== undefined) tracked.isUnsent = true;
	if (tracked?.isStopped === true) throw errorOf({ kind: 'cancelled', sent: false }, account);
	// If addressForToken throws, n8n asks newToken for another token, to send the request again: it gets none.
	maybeRejectedUntil.set(credentials, 0);
	const url = tracked === undefined ? addressForToken(options, account) : options.url;
	maybeRejectedUntil.delete(credentials);

	const token = session.unseal(credentials.accessToken);
	if (!session.isUsable(token)) throw noTokenError();

	const authorized: RequestOptions = {
		...options,
		url,
		headers: { ...options.headers, Authorization: `Bearer ${token}` },
		disableFollowRedirect: true,
		followRedirect: false,
		followAllRedirects: false,
		// Regardless of another node's options.
		skipSslCertificateValidation: account.ignoreSslIssues,
		rejectUnauthorized: !account.ignoreSslIssues,
	};
	if (tracked === undefined) {
		// A request that fails at its own time limit was not rejected. Its timer may be early.
		const patienceMs = Math.min(0.9 * (options.timeout ?? Infinity), REJECTION_TIMEOUT_MS);
		maybeRejectedUntil.set(credentials, Date.now() + patienceMs);
		return authorized;
	}
	tracked.send(token);
	// Instead of the execution's cancel, which n8n has put there: it would cut off the answer to a create.
	return { ...authorized, abortSignal: tracked.signal };
}

/** n8n takes an error with this response for a rejected token. */
function noTokenError(): Error {
	const message = 'The request was not sent: there is no token for it';
	const error = new ServiceError({ kind: 'status', status: 401 }, { message, advice: '' });
	return Object.assign(error, { response: { status: 401 } });
}

/** The address of another node's request, as checked: n8n can't read it differently. @throws ServiceError */
function addressForToken(
	{ url, uri, baseURL, headers = {}, proxy }: RequestOptions,
	account: Account,
): string {
	const address = resolveUrl(url ?? uri, baseURL);
	// There may be a header in each spelling, and any of them may be sent.
	const otherHost = Object.entries(headers).find(
		([name, host]) => /^host$/i.test(name) && host !== undefined && host !== address?.host,
	);
	if (address === undefined || otherHost !== undefined || !isBelow(account.baseUrl, address)) {
		const shown = address && `${address.origin}${address.pathname}`;
		const foreign = String(otherHost?.[1] ?? shown ?? "an address that can't be read");
		throw errorOf({ kind: 'foreignAddress', address: foreign }, account);
	}
	if (proxy) throw errorOf({ kind: 'foreignAddress', address: "the node's proxy" }, account);
	return address.href;
}

function errorOf(failure: Failure, { baseUrl }: Account): ServiceError {
	const message = explain(failure, { baseUrl });
	// The test of a credential shows only the message, so it holds the advice as well.
	return new ServiceError(failure, failure.kind === 'login' ? asTitleOnly(message) : message);
}
