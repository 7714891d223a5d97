import type { Secrets } from '../errors/secrets';
import { isWithin, wait } from '../timers';
import { type Account, hashOf, tokenOf } from './account';

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

/** How often a rejected request looks whether its token is accepted elsewhere, and after how many milliseconds each. */
const LOOKS = 10;
const LOOK_MS = 50;

/** What this process knows of the tokens of one account. These are the facts; `Session` draws the conclusions. */
export class Tokens {
	/** The newest token, which all requests use; undefined if none is known, or if it was rejected. */
	newest: string | undefined;
	/** The newest token if it is suspect and is to be replaced before the next request. */
	suspect: string | undefined;
	/** The tokens that aren't used again, even if n8n's store still has one of them. */
	readonly replaced = new Set<string>();
	/** The token of this process's last login. */
	private issued: string | undefined;
	/** When the latest request was sent, by `performance.now()`, in which the service has accepted the newest token. */
	private acceptedSentAt = -Infinity;
	/** The number of logins for calls since the service last accepted a token. */
	unaccepted = 0;
	/** When this process has last sent a login, in ms since 1970. */
	private loggedInAt: number | undefined;
	/** When a token was last rejected although its request had waited until it is valid, in ms since 1970. */
	waitedWithoutSuccessAt: number | undefined;
	private hash: string | undefined;

	constructor(
		private readonly account: Account,
		private readonly secrets: Secrets,
	) {}

	/** Whether this process has sent a login within the last minute. */
	get hasRecentLogin(): boolean {
		return isWithin(RECENT_MS, this.loggedInAt);
	}

	/** Whether a request has waited without success for a token to become valid within the last minute. */
	get hasWaitedWithoutSuccess(): boolean {
		return isWithin(RECENT_MS, this.waitedWithoutSuccessAt);
	}

	/** Whether the service has accepted none of the tokens of the last logins, the last of them within the last minute. */
	get areNoneAccepted(): boolean {
		return this.unaccepted >= MAX_UNACCEPTED && this.hasRecentLogin;
	}

	/** Decides whether a token may not be valid yet, because this process has just got it by a login. */
	isNew(token: string): boolean {
		return token === this.issued && isWithin(NOT_VALID_YET_MS, this.loggedInAt);
	}

	/** Decides whether the service has accepted the newest token in a request that was sent after this time. */
	isAcceptedSince(time: number): boolean {
		return this.acceptedSentAt > time;
	}

	/** Waits up to half a second until a request is accepted that is sent from now on with this token. */
	async isAcceptedSoon(token: string, signal: AbortSignal | undefined): Promise<boolean> {
		const now = performance.now();
		for (let look = 0; look < LOOKS && token === this.newest; look += 1) {
			if (this.isAcceptedSince(now)) return true;
			await wait(LOOK_MS, signal);
		}
		return false;
	}

	/** Returns a token in the form in which the credential stores it. */
	toStored(token: string): string {
		this.hash ??= hashOf(this.account);
		return `${this.hash}.${token}`;
	}

	/** Returns the account's token in a credential's stored value, even if it was replaced; undefined if there is none. */
	ownIn(stored: unknown): string | undefined {
		const token = tokenOf(stored);
		// A token of another account is a secret, too.
		this.secrets.add(token);
		return token !== undefined && stored === this.toStored(token) ? token : undefined;
	}

	/** Returns the account's token in a credential's stored value; undefined if there is none, or if it was replaced. */
	fromStored(stored: unknown): string | undefined {
		const token = this.ownIn(stored);
		return token !== undefined && !this.replaced.has(token) ? token : undefined;
	}

	/** Uses the token in a credential's stored value, unless it was replaced. */
	useStored(stored: unknown): void {
		const token = this.fromStored(stored);
		if (token !== undefined) this.use(token);
	}

	/**
	 * Records a login, and uses its token.
	 *
	 * @param token undefined if the login has failed
	 * @param isForCalls whether it was made for calls of this node
	 */
	loggedIn(token: string | undefined, isForCalls: boolean): void {
		this.loggedInAt = Date.now();
		if (token === undefined) return;
		if (isForCalls) this.unaccepted += 1;
		this.issued = token;
		this.suspect = undefined;
		this.use(token);
	}

	/** Records that the service has accepted a token in a request that was sent at `sentAt`. */
	accept(token: string, sentAt: number): void {
		this.unaccepted = 0;
		if (token === this.newest) this.acceptedSentAt = Math.max(this.acceptedSentAt, sentAt);
	}

	/** Stops using a token that the service doesn't accept. */
	reject(token: string): void {
		this.replace(token);
		if (token === this.newest) this.newest = undefined;
	}

	/** Makes a token the newest one, even if it was replaced before: a login may return the same token again. */
	private use(token: string): void {
		if (token === this.newest) return;
		if (this.newest !== undefined) this.replace(this.newest);
		this.replaced.delete(token);
		this.newest = token;
		this.suspect = undefined;
		this.acceptedSentAt = -Infinity;
		this.secrets.add(token);
	}

	private replace(token: string): void {
		this.replaced.add(token);
		const [oldest = ''] = this.replaced;
		if (this.replaced.size > MAX_REPLACED) this.replaced.delete(oldest);
	}
}
