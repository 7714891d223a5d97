import { createHash } from 'node:crypto';

import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { HEALTH_CHECK } from '../calls/clusters';
import type { Result } from '../errors/result';
import type { Failure } from '../errors/failure';
import { Secrets } from '../errors/secrets';
import { AccountLimiter } from '../pace/limiter';
import type { ServiceRequest } from '../request';
import { mayRepeat } from '../policy';
import { MEMORY_MS, wait } from '../timers';
import { type Account, accountOf } from './account';
import { sendOnce, type TokenResult } from './http';
import { Tokens } from './tokens';
import { type AttemptOptions, stopOf, TokenSearch, within } from './tokenSearch';

/**
 * The waits of an attempt whose token may not be valid yet, since a replica of the service may not know the token yet,
 * or may have a clock that is slow.
 */
const NOT_VALID_YET_WAITS_MS = [1_000, 2_000, 3_000, 4_000];
/** How many more tokens one attempt uses. Four are enough if several processes end each other's tokens. */
const MAX_MORE_TOKENS = 4;
/** How often one attempt sends its request again, even if each login returns the same token. */
const MAX_RESENDS = NOT_VALID_YET_WAITS_MS.length + MAX_MORE_TOKENS;

/** The state of one account in this process: its rate limiter, and the token that all its requests share. */
export class Session {
	readonly limiter = new AccountLimiter();
	/** The password and the latest tokens, which no error may show. */
	readonly secrets: Secrets;
	readonly tokens: Tokens;
	readonly search: TokenSearch;
	/** When the account was last used, by `performance.now()`. */
	usedAt = 0;

	constructor(readonly account: Account) {
		this.secrets = new Secrets(account.password);
		this.tokens = new Tokens(account, this.secrets);
		this.search = new TokenSearch(this.tokens, this);
	}

	/**
	 * Makes one attempt at a request: sends it with the account's newest token. If it fails and the token may be the
	 * reason, finds another token, or waits until this one is valid, and sends the request again. The Timeout limits each
	 * search and each sending. Never throws.
	 */
	async send<Body>(request: ServiceRequest<Body>, options: AttemptOptions): Promise<Result<Body>> {
		const { access, timeout: timeoutMs, signal, onSend } = options;
		const isHealthCheck = request === HEALTH_CHECK;
		// The response to a request that changes something says what was done, so it is awaited.
		const cancel = isHealthCheck ? signal : request.method === 'GET' ? access.cancel : undefined;
		this.usedAt = performance.now();
		/** The token of each sending. */
		const used: string[] = [];
		let failed: { failure: Failure } | undefined;
		let found = await this.token(options);
		for (;;) {
			// Nothing is sent any more, not even a login, once this returns a reason.
			const stopped = stopOf(options);
			if (stopped !== undefined)
				return failed?.failure.token === 'suspect' ? failed : { failure: stopped };
			if ('failure' in found) return found;
			const { token } = found;
			used.push(token);
			const sentAt = performance.now();
			onSend?.();
			const result = await sendOnce(access.helpers, this, request, { token, timeoutMs, cancel });
			if ('body' in result) this.tokens.accept(token, sentAt);
			// The response to a health check judges no token: the user may not be allowed to list work clusters.
			if ('body' in result || isHealthCheck) return result;
			const { failure } = result;
			// Only a valid token gets an answer about the request, such as a 404.
			if (failure.condition === 'answered' && !failure.token) this.tokens.unaccepted = 0;
			const isLast = used.length > MAX_RESENDS || new Set(used).size > MAX_MORE_TOKENS;
			if (isLast || stopOf(options) !== undefined) return result;
			let next: TokenResult | undefined;
			if (failure.token === 'rejected') {
				next = await this.afterRejection(used, sentAt, options);
			} else if (failure.token === 'suspect') {
				next = await this.afterSuspicion(token, mayRepeat(failure, request.idempotent), options);
			}
			if (next === undefined) return result;
			found = next;
			failed = result;
		}
	}

	/** Returns the newest token. If no token is known, or if it is suspect, searches for another one. */
	private async token(options: AttemptOptions): Promise<TokenResult> {
		const { tokens } = this;
		if (tokens.newest !== undefined && !tokens.isSuspect) return { token: tokens.newest };
		const found = await this.search.find(options);
		const isStopped = 'failure' in found && found.failure.condition === 'noOutcome';
		if (tokens.newest === undefined || (isStopped && !found.failure.ofLogin)) return found;
		// If no other token is found in time, the suspect one stays in use.
		tokens.isSuspect = false;
		return { token: tokens.newest };
	}

	/**
	 * Returns the token with which a request is sent again that was answered with a 401, or the failure of the login for
	 * it; undefined if the 401 is the request's own.
	 *
	 * @param used the token of each sending of the request, the rejected one last
	 * @param sentAt when the request was last sent, by `performance.now()`
	 */
	private async afterRejection(used: string[], sentAt: number, options: AttemptOptions) {
		const { tokens, search } = this;
		const { access, patienceMs, runEndsAt, signal } = options;
		const token = used.at(-1) ?? '';
		// Another process may have logged in, which ends this token if the service keeps one token for each user.
		if (token === tokens.newest) await within(options, search.readStore(access));
		if (token !== tokens.newest) return await this.token(options);
		const { areNoneAccepted, hasRecentOwnRejection } = tokens;
		const differentTokens = new Set(used).size;
		const waitMs = NOT_VALID_YET_WAITS_MS[used.length - differentTokens];
		const mayWait = patienceMs === undefined && !hasRecentOwnRejection && waitMs !== undefined;
		if (tokens.isNew(token) && mayWait && !areNoneAccepted) {
			if (performance.now() + waitMs >= runEndsAt) return undefined;
			await wait(waitMs, signal);
			return await this.token(options);
		}
		// If sending this request again was of no use, or 401s are known to be requests' own, the token may be valid.
		const mayBeValid = hasRecentOwnRejection || used.length > 1;
		const rejection = mayBeValid ? 'possible' : 'certain';
		const found = areNoneAccepted ? { token } : await search.find(options, rejection);
		const isAccepted = areNoneAccepted || tokens.isAcceptedSince(sentAt);
		if (!isAccepted || 'failure' in found || found.token !== token) return found;
		tokens.ownRejectionAt = Date.now();
		return undefined;
	}

	/**
	 * Returns the token with which a request is sent again that may have failed because of its token. Returns undefined if
	 * the request fails in its own words, because there is no other token or because it must not be sent again.
	 */
	private async afterSuspicion(token: string, mayRepeatIt: boolean, options: AttemptOptions) {
		const { tokens } = this;
		if (token === tokens.newest) {
			if (tokens.hasRecentLogin) return undefined;
			tokens.isSuspect = true;
		}
		if (!mayRepeatIt) return undefined;
		const found = await this.token(options);
		return 'token' in found && found.token !== token ? found : undefined;
	}
}

/** The sessions, keyed by a hash of the account so that no key contains a password. */
const sessions = new Map<string, Session>();

/**
 * Returns the session of a credential's account. Sessions that were not used for an hour are deleted, with their
 * passwords and with what their rate limiters have learnt.
 *
 * @throws ServiceError if a field of the credential can't be used
 */
export function sessionOf(credentials: ICredentialDataDecryptedObject): Session {
	const now = performance.now();
	const account = accountOf(credentials);
	const key = createHash('sha256').update(JSON.stringify(account)).digest('base64');
	for (const [oldKey, { usedAt }] of sessions) {
		if (now >= usedAt + MEMORY_MS) sessions.delete(oldKey);
	}
	const session = sessions.get(key) ?? new Session(account);
	session.usedAt = now;
	sessions.set(key, session);
	return session;
}
