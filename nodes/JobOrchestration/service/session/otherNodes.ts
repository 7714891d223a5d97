import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { type Failure, meaningOf } from '../errors/kinds';
import { inTitleOnly, ServiceError } from '../errors/problem';
import { isWithin } from '../timers';
import { type Account, isBelow, resolveUrl } from './account';
import { CHECK_TIMEOUT_MS, COUNTS_MS, HEALTH_CHECK } from './healthCheck';
import { type Helpers, type HttpOptions, signed, type TokenResult } from './login';
import { type Session, sessionOf } from './session';

/*
 * Nodes such as HTTP Request, which use this credential for requests of their own, and n8n's test of the credential.
 */

/** What is known of another node's request, by its credentials object. */
interface OtherRequest {
	/** Until when (ms since 1970) a failure may be a rejected token; 0 if the request must not be sent at all. */
	mayBeRejectedUntil: number;
	/** Whether it is n8n's test of the credential; then `token` is set once it has logged in. */
	isTest?: boolean;
	token?: string;
}
const otherRequests = new WeakMap<object, OtherRequest>();

/** What n8n's test of the credential sends. `signedForOtherNode` recognises it, since the test must always log in. */
export const testRequest = { url: HEALTH_CHECK.path, qs: HEALTH_CHECK.qs } as const;

/**
 * n8n asks for a token after any error of its HTTP Request node, and sends the request again if it gets one. So it gets
 * none unless the service doesn't accept the current one, and clearly accepts the new one.
 *
 * @throws ServiceError if the login failed
 */
export async function newTokenForOtherNode(
	helpers: Helpers,
	credentials: ICredentialDataDecryptedObject,
): Promise<{ accessToken?: string }> {
	const session = sessionOf(credentials);
	const request = otherRequests.get(credentials);
	const { health, logins, tokens } = session;
	if (request?.isTest === true) {
		// If the service rejects this token, too, the test tells so.
		request.token ??= tokenIn(await logins.logIn(helpers), session);
		return { accessToken: tokens.toStored(request.token) };
	}
	if (request !== undefined && Date.now() >= request.mayBeRejectedUntil) return {};
	const current = tokens.fromStored(credentials.accessToken);
	const refusal = current === undefined ? 'rejected' : await refusalOf(current, helpers, session);
	if (refusal === undefined) return {};

	const { newest, issued } = tokens;
	// Without a token, another node would otherwise wait for one that has expired.
	const mayBeNewest = current !== undefined || isWithin(COUNTS_MS, issued?.at);
	const isGood =
		mayBeNewest && newest !== undefined && !(await refusalOf(newest, helpers, session));
	const token = isGood ? newest : tokenIn(await logins.logInUnlessRefused(helpers), session);
	if (request !== undefined) {
		// A service that rejects the new token as well doesn't let this user ask: the old one may have been accepted.
		if ((await health.check(helpers, token)) !== 'accepted') return {};
		logins.unaccepted = 0;
		// If it accepts the old one by now, the token was not the reason.
		const isOldGood = async () => (await health.check(helpers, current ?? '')) === 'accepted';
		if (refusal === 'suspect' && (await isOldGood())) return {};
	}
	return { accessToken: tokens.toStored(token) };
}

/** Whether the service rejects a token, or may do so; then it is not used again. */
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

/** The token of a login. @throws ServiceError if it failed */
function tokenIn(result: TokenResult, { account }: Session): string {
	if ('token' in result) return result.token;
	throw errorOf({ ...result.failure }, account);
}

/** Its request may only go to the Base URL or below it: not elsewhere, and not through a proxy that a workflow names. */
export function signedForOtherNode(
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
	const token = session.tokens.fromStored(credentials.accessToken);
	const hasLoggedIn = token !== undefined && otherRequests.get(credentials)?.token === token;
	const mustLogIn = isTest(options) && !hasLoggedIn;
	if (mustLogIn) otherRequests.set(credentials, { mayBeRejectedUntil: Infinity, isTest: true });
	if (token === undefined || mustLogIn) throw noTokenError();
	if (!isTest(options)) {
		// A request that fails later was not rejected, and may have been acted on. Its own timer may be early.
		const patienceMs = Math.min(0.9 * (options.timeout ?? Infinity), CHECK_TIMEOUT_MS);
		otherRequests.set(credentials, { mayBeRejectedUntil: Date.now() + patienceMs });
	}
	return signed({ ...options, url: checked.address }, account, token);
}

/** n8n takes an error with this response for a rejected token. */
export function noTokenError(): Error {
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
	return baseURL !== undefined && url === testRequest.url && qs?.['ListOption.limit'] === 1;
}

export function errorOf(failure: Failure, { baseUrl }: Account): ServiceError {
	const texts = meaningOf(failure, { baseUrl });
	// The test of a credential shows only the message, so it holds the advice as well.
	return new ServiceError(failure, failure.ofLogin === true ? inTitleOnly(texts) : texts);
}
