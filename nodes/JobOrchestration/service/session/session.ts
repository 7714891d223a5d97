import { createHash } from 'node:crypto';

import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { HEALTH_CHECK } from '../calls/clusters';
import type { Result } from '../errors/result';
import type { Failure } from '../errors/failure';
import { Secrets } from '../errors/secrets';
import { AccountLimiter } from '../pace/limiter';
import type { ServiceRequest } from '../request';
import { mayRepeat, RETRY } from '../retry/policy';
import { wait } from '../timers';
import { type Account, accountOf } from './account';
import { sendOnce, type TokenResult } from './http';
import { Tokens } from './tokens';
import { type Limits, type N8nAccess, stopOf, TokenSearch, within } from './tokenSearch';

/**
 * The waits of an attempt whose token may not be valid yet, since a replica of the service may not know the token yet,
 * or may have a clock that is slow.
 */
const NOT_VALID_YET_WAITS_MS = [1_000, 2_000, 3_000, 4_000];
/** How many more tokens one attempt uses. Four are enough if several processes end each other's tokens. */
const MAX_MORE_TOKENS = 4;
/** What an attempt needs besides the request. */
export interface AttemptOptions extends Limits {
	access: N8nAccess;
	/** Set for the requests of a drop-down, which don't wait until a token is valid. */
	patienceMs?: number | undefined;
	/** Called each time that the request is sent. */
	onSend?: () => void;
}

/** A request that has failed, and may have failed because of its token. */
interface Suspicion {
	token: string;
	failure: Failure;
	isIdempotent: boolean;
	/** When the request was sent, by `performance.now()`. */
	sentAt: number;
	/** How often the attempt has waited until its token is valid. */
	waits: number;
}

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
		this.search = new TokenSearch(this.tokens, this.secrets);
	}

	/**
	 * Makes one attempt at a request: sends it with the account's newest token. If it fails and the token may be the
	 * reason, finds another token, or waits until this one is valid, and sends the request again. The Timeout limits each
	 * search and each sending. Never throws.
	 */
	async send<Body>(request: ServiceRequest<Body>, options: AttemptOptions): Promise<Result<Body>> {
		const { access, timeout: timeoutMs, signal, onSend } = options;
		const { idempotent: isIdempotent } = request;
		const isHealthCheck = request === HEALTH_CHECK;
		// The response to a request that changes something says what was done, so it is awaited.
		const cancel = isHealthCheck ? signal : request.method === 'GET' ? access.cancel : undefined;
		this.usedAt = performance.now();
		let found = await this.token(options);
		let failed: { failure: Failure } | undefined;
		for (let waits = 0, moreTokens = 0; moreTokens <= MAX_MORE_TOKENS || failed === undefined; ) {
			// Nothing is sent any more, not even a login, once this returns a reason.
			const stopped = stopOf(options);
			if (stopped !== undefined)
				return failed?.failure.token === 'suspect' ? failed : { failure: stopped };
			if ('failure' in found) return found;
			const { token } = found;
			const sentAt = performance.now();
			onSend?.();
			const result = await sendOnce(access.helpers, this, request, { token, timeoutMs, cancel });
			if ('body' in result) this.tokens.accept(token, sentAt);
			// The response to a health check judges no token: the user may not be allowed to list work clusters.
			if ('body' in result || isHealthCheck) return result;
			const { failure } = result;
			// Only a valid token gets an answer about the request, such as a 404.
			if (failure.condition === 'answered' && !failure.token) this.tokens.unaccepted = 0;
			const next = await this.nextToken({ token, failure, isIdempotent, sentAt, waits }, options);
			if (next === undefined) return result;
			if ('token' in next && next.token === token) waits += 1;
			else moreTokens += 1;
			found = next;
			failed = result;
		}
		return failed;
	}

	/** Returns the newest token. If no token is known, or if it is suspect, searches for one. */
	private async token(options: AttemptOptions): Promise<TokenResult> {
		const { tokens } = this;
		const { newest, suspect } = tokens;
		if (newest !== undefined && newest !== suspect) return { token: newest };
		const found = await this.search.find(options.access, options, suspect);
		if ('token' in found || tokens.newest === undefined) return found;
		const { condition, ofLogin } = found.failure;
		const wasStopped = condition === 'unknown' && ofLogin !== true;
		if (wasStopped) return found;
		// If no other token is found in time, the suspect one stays in use.
		tokens.suspect = undefined;
		return { token: tokens.newest };
	}

	/**
	 * Returns the token with which a failed request is sent again, or the failure of the login for it; undefined if the
	 * request fails in its own words.
	 */
	private async nextToken(
		suspicion: Suspicion,
		options: AttemptOptions,
	): Promise<TokenResult | undefined> {
		const { token, failure, isIdempotent } = suspicion;
		const { tokens } = this;
		const { access } = options;
		if (failure.token === undefined || stopOf(options) !== undefined) return undefined;
		if (failure.token === 'rejected') {
			// Another process may have logged in, which ends this token if the service keeps one token for each user.
			if (token === tokens.newest) await within(options, this.search.readStore(access));
			if (token === tokens.newest) return await this.afterRejection(suspicion, options);
			return await this.token(options);
		}
		// Any other answer leads to one login at most, and to none in the minute after a login.
		const isNewest = token === tokens.newest;
		if (isNewest && tokens.hasRecentLogin) return undefined;
		if (!mayRepeat(failure, isIdempotent)) {
			if (isNewest) tokens.suspect = token;
			return undefined;
		}
		// The token stays in use until there is another one.
		const { search } = this;
		const found = await (isNewest ? search.find(access, options, token) : this.token(options));
		return 'token' in found ? found : undefined;
	}

	/** Decides what a 401 means for the newest token. */
	private async afterRejection(
		{ token, sentAt, waits }: Suspicion,
		options: AttemptOptions,
	): Promise<TokenResult | undefined> {
		const { tokens } = this;
		const { patienceMs, runEndsAt, signal } = options;
		if (tokens.areNoneAccepted) return undefined;
		const waitMs = NOT_VALID_YET_WAITS_MS[waits];
		const mayWait =
			patienceMs === undefined && !tokens.hasWaitedWithoutSuccess && waitMs !== undefined;
		if (tokens.isNew(token) && mayWait) {
			if (performance.now() + waitMs >= runEndsAt) return undefined;
			await wait(waitMs, signal);
			return await this.token(options);
		}
		if (waits > 0) tokens.waitedWithoutSuccessAt = Date.now();
		const mayStillBeValid = tokens.isAcceptedSince(
			tokens.hasWaitedWithoutSuccess ? -Infinity : sentAt,
		);
		if (mayStillBeValid && (await tokens.isAcceptedSoon(token, signal))) return undefined;
		tokens.reject(token);
		return await this.token(options);
	}
}

/** The sessions, keyed by a hash of the account so that no key holds a password. */
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
		if (now >= usedAt + RETRY.memoryMs) sessions.delete(oldKey);
	}
	const session = sessions.get(key) ?? new Session(account);
	session.usedAt = now;
	sessions.set(key, session);
	return session;
}
