import type { Failure } from '../errors/failure';
import type { Secrets } from '../errors/secrets';
import { mayResend } from '../policy';
import { isWithin } from '../timers';
import { type Account, hashOf, tokenOf } from './account';
import type { TokenResult } from './http';

/** Milliseconds after which what is known of a token is out of date, since it may have expired in the meantime. */
const RECENT_MS = 60_000;
/**
 * Milliseconds after its login during which a rejected token may not be valid yet. Enough for replicas that lag and for
 * clocks that differ by some seconds.
 */
const NOT_VALID_YET_MS = 10_000;
/** The number of logins in a row for calls after which a 401 is the call's own, if the service accepts no token. */
const MAX_UNACCEPTED = 2;
/** Maximum number of remembered tokens. Large enough that an old token in n8n's store isn't sent again. */
const MAX_REPLACED = 50;

/** What this process knows of the tokens of one account. `Session` decides what follows for a request. */
export class Tokens {
	/** The newest token, which all requests use; undefined if none is known, or if it was rejected. */
	newest: string | undefined;
	/** Whether the newest token may have expired, so that the next request looks for another one first. */
	isSuspect = false;
	/** The tokens that aren't used again, even if n8n's store still has one of them. */
	readonly replaced = new Set<string>();
	/** How the last login of this process has ended, and when, in ms since 1970. */
	private lastLogin: { at: number; token?: string; failure?: Failure } | undefined;
	/** The number of logins for calls since the service last accepted a token. */
	unaccepted = 0;
	/** When the latest request was sent, by `performance.now()`, in which the service has accepted the newest token. */
	private acceptedSentAt = -Infinity;
	/** When a 401 was last found to be its request's own, in ms since 1970. */
	ownRejectionAt: number | undefined;
	private hash: string | undefined;

	constructor(
		private readonly account: Account,
		private readonly secrets: Secrets,
	) {}

	/** Whether this process has sent a login within the last minute. */
	get hasRecentLogin(): boolean {
		return isWithin(RECENT_MS, this.lastLogin?.at);
	}

	/** The last login if it has failed and no call repeats it. */
	get failedLogin() {
		const { failure, at = 0 } = this.lastLogin ?? {};
		return failure && !mayResend(failure, true) ? { failure, at } : undefined;
	}

	/** Whether a 401 was found to be the request's own within the last minute. */
	get hasRecentOwnRejection(): boolean {
		return isWithin(RECENT_MS, this.ownRejectionAt);
	}

	/** Whether the service has accepted none of the tokens of the last logins, the last of them within the last minute. */
	get areNoneAccepted(): boolean {
		return this.unaccepted >= MAX_UNACCEPTED && this.hasRecentLogin;
	}

	/** Decides whether a token may not be valid yet, because this process has just got it by a login. */
	isNew(token: string): boolean {
		return token === this.lastLogin?.token && isWithin(NOT_VALID_YET_MS, this.lastLogin.at);
	}

	/** Decides whether the service has accepted the newest token in a request that was sent after this time. */
	isAcceptedSince(time: number): boolean {
		return this.acceptedSentAt > time;
	}

	/** Returns a token in the form in which the credential stores it. */
	toStored(token: string): string {
		this.hash ??= hashOf(this.account);
		return `${this.hash}.${token}`;
	}

	/** Returns the account's token in a credential's stored value, even if it was replaced; undefined if the value has no token of it. */
	ownIn(stored: unknown): string | undefined {
		const token = tokenOf(stored);
		// A token of another account is a secret, too, but must not displace the token that is in use.
		this.secrets.add(token);
		this.secrets.add(this.newest);
		return token !== undefined && stored === this.toStored(token) ? token : undefined;
	}

	/** Returns the account's token in a credential's stored value; undefined if the value has no token of it, or a replaced one. */
	fromStored(stored: unknown): string | undefined {
		const token = this.ownIn(stored);
		return token !== undefined && !this.replaced.has(token) ? token : undefined;
	}

	/** Uses the token in a credential's stored value, unless it was replaced. */
	useStored(stored: unknown): void {
		const token = this.fromStored(stored);
		if (token !== undefined) this.use(token);
	}

	/** Records how a login has ended, and uses its token. @param isForCalls whether it was made for calls of this node */
	loggedIn(result: TokenResult, isForCalls: boolean): void {
		this.lastLogin = { ...result, at: Date.now() };
		if ('failure' in result) return;
		if (isForCalls) this.unaccepted += 1;
		this.use(result.token);
	}

	/** Records that the service has accepted a token in a request that was sent at `sentAt`. */
	accept(token: string, sentAt: number): void {
		this.unaccepted = 0;
		if (token === this.newest) this.acceptedSentAt = Math.max(this.acceptedSentAt, sentAt);
	}

	/** Stops using a token that the service doesn't accept. */
	reject(token: string): void {
		this.replaced.add(token);
		const [oldest = ''] = this.replaced;
		if (this.replaced.size > MAX_REPLACED) this.replaced.delete(oldest);
		if (token === this.newest) this.newest = undefined;
	}

	/** Makes a token the newest one, even if it was replaced before: a login may return the same token again. */
	private use(token: string): void {
		if (token === this.newest) return;
		if (this.newest !== undefined) this.reject(this.newest);
		this.replaced.delete(token);
		this.newest = token;
		this.isSuspect = false;
		this.acceptedSentAt = -Infinity;
		this.secrets.add(token);
	}
}
