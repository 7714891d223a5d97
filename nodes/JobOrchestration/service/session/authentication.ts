import type { ICredentialDataDecryptedObject, IHttpRequestOptions } from 'n8n-workflow';

import type { ConnectionFailure } from '../messages/connectionMessage';
import { explainConnection } from '../messages/connectionMessage';
import { explainLogin, LOGIN_TIMEOUT } from '../messages/loginMessage';
import { asTitleOnly } from '../messages/message';
import { ServiceError } from '../messages/serviceError';
import type { RequestFailure } from '../request/failure';
import type { Account } from './account';
import { isBelow, resolveUrl } from './baseUrl';
import type { Helpers } from './login';
import { isAccepted, login } from './login';
import type { Session } from './session';
import { sessionOf } from './session';
import type { TrackedRequest } from './trackedRequest';
import { trackedRequestOf } from './trackedRequest';

/** n8n's HTTP Request node sends options of an older kind, with other names. */
type RequestOptions = IHttpRequestOptions & {
	uri?: unknown;
	followRedirect?: boolean;
	followAllRedirects?: boolean;
	rejectUnauthorized?: boolean;
};

/**
 * The requests of other nodes, by the credentials object that n8n passes with each: until when (ms since 1970) its
 * failure may mean that its token was rejected.
 */
const requestsOfOthers = new WeakMap<object, { answerableUntil: number }>();

/** How long a service may take to reject a token. A request that fails later may have been acted on. */
const REJECTION_TIMEOUT_MS = 30_000;

/** A timer may be early. Without this, a request that timed out could be taken for a rejected one. */
const TIMER_TOLERANCE_MS = 10;

/**
 * The token for n8n to store in the credential. n8n asks for it if there is none or the stored one was rejected.
 *
 * @returns nothing if n8n must not replace the token
 * @throws ServiceError whose failure is a `login`, or a `baseUrl` that can't be used
 */
export async function newToken(
	helpers: Helpers,
	credentials: ICredentialDataDecryptedObject,
): Promise<{ accessToken?: string }> {
	const request = trackedRequestOf(credentials);
	const session = request?.options.session ?? sessionOf(credentials);
	const token =
		request === undefined
			? await tokenForOtherNode(helpers, session, credentials)
			: await tokenForRequest(helpers, request, credentials);
	return token === undefined ? {} : { accessToken: session.seal(token) };
}

async function tokenForRequest(
	helpers: Helpers,
	request: TrackedRequest,
	credentials: ICredentialDataDecryptedObject,
): Promise<string> {
	const { session, execution, rejections, lastAnswer, readCredentials } = request.options;
	const { account, secrets } = session;
	request.authenticating();
	const result = await session.token({
		rejected: session.unseal(credentials.accessToken),
		rejections,
		lastAnswer,
		execution,
		signal: request.signal,
		storedToken: async () => session.unseal((await readCredentials()).accessToken),
		onWait: (inFlight) => request.awaitsLogin(inFlight),
		login: async () => await login(helpers, account, secrets),
	});
	request.authenticating();
	if ('failure' in result) {
		if (result.failure === lastAnswer) throw new ServiceError(lastAnswer, NO_TOKEN);
		throw loginError(result.failure, account);
	}
	// n8n up to 2.20 stores all of these credentials with the token, and would undo what was edited in the meantime.
	Object.assign(credentials, await readCredentials());
	return result.token;
}

/**
 * n8n asks for a token after any error of its HTTP Request node, and sends the request again if it gets one. So it gets
 * none unless the service rejects the current one.
 */
async function tokenForOtherNode(
	helpers: Helpers,
	session: Session,
	credentials: ICredentialDataDecryptedObject,
): Promise<string | undefined> {
	const { account, secrets } = session;
	const request = requestsOfOthers.get(credentials);
	if (request !== undefined && Date.now() >= request.answerableUntil) return undefined;
	const accepts = async (token: string) =>
		await session.isAccepted(token, async () => await isAccepted(helpers, account, token));
	const current = session.unseal(credentials.accessToken);
	const isCurrent = current !== undefined && !session.hasRejected(current);
	if (isCurrent && (await accepts(current))) return undefined;

	const result = await session.token({
		rejected: current,
		rejections: 0,
		isAccepted: accepts,
		login: async () => await login(helpers, account, secrets),
	});
	if ('failure' in result) throw loginError(result.failure, account);
	// A service that rejects the new token as well doesn't let this user ask: the old one may have been accepted.
	if (request !== undefined && !(await accepts(result.token))) return undefined;
	return result.token;
}

/**
 * Adds the token to a request, which may only go to the Base URL or below it: not elsewhere, not by a redirect, and
 * not through a proxy that a workflow names (n8n's own proxies are used). The interface doesn't show how the token
 * is sent; the login calls its type "Bearer".
 *
 * @throws ServiceError if the request goes elsewhere, or was cancelled; also, with status 401, if there is no token
 * that can be used: n8n then asks for a new one before it sends anything
 */
export async function withToken(
	credentials: ICredentialDataDecryptedObject,
	options: RequestOptions,
): Promise<IHttpRequestOptions> {
	const request = trackedRequestOf(credentials);
	const session = request?.options.session ?? sessionOf(credentials);
	const { account } = session;
	request?.authenticating();
	if (request?.signal.aborted === true) {
		throw connectionError({ kind: 'cancelled', sent: false }, account);
	}
	// If addressForToken throws, n8n asks newToken for another token, to send the request again: it gets none.
	requestsOfOthers.set(credentials, { answerableUntil: 0 });
	const url = request === undefined ? addressForToken(options, account) : options.url;
	requestsOfOthers.delete(credentials);

	const token = session.unseal(credentials.accessToken);
	if (token === undefined || session.hasRejected(token)) throw new TokenRequired();

	if (request === undefined) {
		const patienceMs = Math.min(options.timeout ?? Infinity, REJECTION_TIMEOUT_MS);
		const answerableUntil = Date.now() + patienceMs - TIMER_TOLERANCE_MS;
		requestsOfOthers.set(credentials, { answerableUntil });
	}
	request?.sent();
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
	return authorized;
}

const NO_TOKEN = { message: 'The request was not sent: there is no token for it', advice: '' };

/** n8n takes an error with this response for a rejected token. */
class TokenRequired extends ServiceError {
	readonly response = { status: 401 };

	constructor() {
		super({ kind: 'status', status: 401, text: undefined, retryAfter: undefined }, NO_TOKEN);
	}
}

/**
 * The address of another node's request, as it was checked, so that n8n can't read it differently.
 *
 * @throws ServiceError if the token must not go there
 */
function addressForToken(
	{ url, uri, baseURL, headers, proxy }: RequestOptions,
	account: Account,
): string {
	const address = resolveUrl(url ?? uri, baseURL);
	if (address === undefined) throw foreignAddressError("an address that can't be read", account);
	if (!isBelow(account.baseUrl, address)) {
		throw foreignAddressError(`${address.origin}${address.pathname}`, account);
	}
	for (const [name, value] of Object.entries(headers ?? {})) {
		// There may be one in each spelling, and any of them may be sent.
		const isOther = name.toLowerCase() === 'host' && value !== undefined && value !== address.host;
		if (isOther) throw foreignAddressError(String(value), account);
	}
	if (proxy) throw connectionError({ kind: 'proxy' }, account);
	return address.href;
}

function foreignAddressError(address: string, account: Account): ServiceError {
	return connectionError({ kind: 'foreignAddress', address }, account);
}

function connectionError(failure: ConnectionFailure, { baseUrl }: Account): ServiceError {
	return new ServiceError(failure, explainConnection(failure, baseUrl, LOGIN_TIMEOUT));
}

/** The test of a credential shows only the message, so it holds the advice as well. */
function loginError(cause: RequestFailure, { baseUrl }: Account): ServiceError {
	return new ServiceError({ kind: 'login', cause }, asTitleOnly(explainLogin(cause, baseUrl)));
}
