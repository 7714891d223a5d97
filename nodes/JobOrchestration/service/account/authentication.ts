import type { ICredentialDataDecryptedObject, IHttpRequestOptions } from 'n8n-workflow';

import { coalesce } from './coalesce';
import { isBelow, resolveUrl } from './baseUrl';
import type { Account } from './account';
import { accountOf } from './account';
import { sealToken, unsealToken } from './sealedToken';
import { explain } from '../errors/explain';
import type { RequestFailure } from '../errors/failure';
import type { Helpers } from './login';
import { login, serviceRejects } from './login';
import { ownRequestOf } from './ownRequest';
import { asTitleOnly, ServiceError } from '../errors/serviceError';
import { getToken, markRejected, wasRejected } from './tokens';

/** n8n's HTTP Request node sends options of an older kind, with other names. */
type RequestOptions = IHttpRequestOptions & {
	uri?: unknown;
	followRedirect?: boolean;
	followAllRedirects?: boolean;
	rejectUnauthorized?: boolean;
};

/** The requests of other nodes, by the credentials object that n8n passes with each. */
const requests = new WeakMap<object, 'withheld' | { sentAt: number; timeout: number }>();

/** Milliseconds within which a service rejects a token if it does. */
const REJECTION_TIMEOUT = 30_000;

/** Milliseconds by which a timer may be early on the clock. */
const TIMER_TOLERANCE = 10;

/**
 * The token for n8n to store in the credential, with the seal of its account (sealedToken.ts). n8n asks for it if
 * there is none or the stored one was rejected.
 *
 * It also asks after any error of its HTTP Request node, and sends the request again if it gets a token. So it gets
 * none as long as the service accepts the current one.
 *
 * @throws ServiceError whose failure is a `login`, or a `baseUrl` that can't be used
 */
export async function newToken(
	helpers: Helpers,
	credentials: ICredentialDataDecryptedObject,
): Promise<{ accessToken?: string }> {
	const own = ownRequestOf(credentials);
	own?.authenticating();
	const account = own?.options.account ?? accountOf(credentials);
	const current = unsealToken(credentials.accessToken, account);
	let lastGood: string | undefined;
	const isGood = async (token: string): Promise<boolean> => {
		const ask = async () => await serviceRejects(helpers, account, token);
		const rejected = await coalesce(`${account.key} ${token}`, ask);
		if (rejected) markRejected(account, token);
		else lastGood = token;
		return !rejected;
	};

	const request = requests.get(credentials);
	if (request === 'withheld') return {};
	if (current !== undefined && !wasRejected(account, current)) {
		if (request !== undefined && tookTooLong(request)) return {};
		if (await isGood(current)) return {};
	}
	const result = await getToken(account, {
		isRenewal: current !== undefined,
		...(own === undefined
			? { isGood }
			: {
					storedToken: async () => {
						const { accessToken } = await own.options.storedCredentials();
						return unsealToken(accessToken, account);
					},
					execution: own.options.execution,
					loginGivenUp: async () => await own.loginGivenUp(),
					isCancelled: () => own.isOver,
				}),
		login: async () => await login(helpers, account),
	});
	own?.authenticating();
	if ('failure' in result) throw loginError(result.failure, account);
	// A service that rejects the new token as well doesn't let this user ask: the old one may have been good.
	if (request !== undefined && result.token !== lastGood && !(await isGood(result.token)))
		return {};
	// With the token, n8n up to 2.20 stores all of these credentials again, and would undo what was edited meanwhile.
	if (own !== undefined) Object.assign(credentials, await own.options.storedCredentials());
	return { accessToken: sealToken(result.token, account) };
}

/**
 * Adds the token to a request, which may only go to the Base URL or below it: not elsewhere, not by a redirect, and
 * not through a proxy that a workflow names (n8n's own proxies are used). The interface does not show how the token
 * is sent; the log-in calls its type "Bearer".
 *
 * @throws ServiceError where the request goes elsewhere, or the execution is cancelled; also, with status 401, where
 * the token can't be used: n8n then asks for a new one before it sends anything
 */
export async function withToken(
	credentials: ICredentialDataDecryptedObject,
	request: RequestOptions,
): Promise<IHttpRequestOptions> {
	const own = ownRequestOf(credentials);
	own?.authenticating();
	const account = own?.options.account ?? accountOf(credentials);
	if (own?.isOver === true) throw connectionError({ kind: 'cancelled', sent: false }, account);

	// If addressForToken throws, n8n asks newToken for another token, to send the request again: it gets none.
	requests.set(credentials, 'withheld');
	const url = own === undefined ? addressForToken(request, account) : request.url;
	requests.delete(credentials);

	const token = unsealToken(credentials.accessToken, account);
	if (token === undefined || wasRejected(account, token)) throw new TokenRequired();

	const authorized: RequestOptions = {
		...request,
		url,
		headers: { ...request.headers, Authorization: `Bearer ${token}` },
		disableFollowRedirect: true,
		followRedirect: false,
		followAllRedirects: false,
		// Whatever another node's options say.
		skipSslCertificateValidation: account.ignoreSslIssues,
		rejectUnauthorized: !account.ignoreSslIssues,
	};
	if (own === undefined) {
		requests.set(credentials, { sentAt: Date.now(), timeout: request.timeout ?? Infinity });
	} else {
		own.authenticated();
	}
	return authorized;
}

/** n8n takes an error with this response for a rejected token. */
class TokenRequired extends ServiceError {
	readonly response = { status: 401 };

	constructor() {
		super(
			{ kind: 'status', status: 401, text: undefined, retryAfter: undefined },
			{ message: 'The request was not sent: there is no token for it', advice: '' },
		);
	}
}

/** Whether a failed request took too long for a rejected token to be the reason. */
function tookTooLong({ sentAt, timeout }: { sentAt: number; timeout: number }): boolean {
	return Date.now() - sentAt + TIMER_TOLERANCE >= Math.min(timeout, REJECTION_TIMEOUT);
}

/**
 * The address of another node's request, as it was checked, so that n8n can't read it differently.
 *
 * @throws ServiceError where the token must not go there
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
		// There may be one in each spelling, and any of them may be what is sent.
		const isOther = name.toLowerCase() === 'host' && value !== undefined && value !== address.host;
		if (isOther) throw foreignAddressError(String(value), account);
	}
	if (proxy) throw connectionError({ kind: 'proxy' }, account);
	return address.href;
}

function foreignAddressError(address: string, account: Account): ServiceError {
	return connectionError({ kind: 'foreignAddress', address }, account);
}

function connectionError(failure: RequestFailure, { baseUrl }: Account): ServiceError {
	return new ServiceError(failure, explain(failure, { baseUrl }));
}

/** The test of a credential shows only the message, so that holds the advice as well. */
function loginError(cause: RequestFailure, { baseUrl }: Account): ServiceError {
	const failure = { kind: 'login', cause } as const;
	return new ServiceError(failure, asTitleOnly(explain(failure, { baseUrl })));
}
