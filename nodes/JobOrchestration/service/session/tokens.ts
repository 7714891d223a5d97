import type { Secrets } from '../errors/secrets';
import type { Reason, TokenVerdict } from '../retry/facts';
import { RETRY } from '../retry/policy';
import { isWithin } from '../timers';
import { type Account, hashOf, tokenOf } from './account';

/** Milliseconds after which what is known of a token is out of date, since it may have expired in the meantime. */
export const RECENT_MS = 60_000;
/**
 * Milliseconds after its login during which a rejected token may not be valid yet. Enough for replicas that lag and for
 * clocks that differ by some seconds.
 */
const NOT_VALID_YET_MS = 10_000;
/** The number of logins in a row for calls after which a 401 is the call's own, if the service accepts no token. */
const MAX_UNACCEPTED = 2;
/** Maximum number of remembered tokens. Large enough that an old token in n8n's store isn't sent again. */
const MAX_SEEN = 50;

/** A request that failed, and whose token may be the reason. */
export interface JudgedRequest {
	token: string;
	suspicion: 'rejected' | 'suspect';
	/** When the request was sent, by `performance.now()`. */
	sentAt: number;
	/** Whether its call may be sent again with another token. */
	mayChangeToken: boolean;
	/** Whether its call may wait for a token that isn't valid yet. */
	mayWait: boolean;
	/** How often its call was sent again, by reason. */
	resends: Readonly<Record<Reason, number>>;
}

/** What this process knows of the tokens of one account. */
export class Tokens {
	/** The newest token that isn't rejected, which all requests use. */
	newest: string | undefined;
	/** The newest token if it is suspect and is to be replaced before the next request. */
	suspect: string | undefined;
	/** The tokens that this process has seen, and whether they were rejected. */
	private readonly seen = new Map<string, { isRejected: boolean }>();
	/** When this process last rejected a token, in ms since 1970. */
	private rejectedAt: number | undefined;
	/** The token of this process's last login, and the time of that login, in ms since 1970. */
	private issued: { token: string; at: number } | undefined;
	/** The number of logins for calls since the service last accepted a token. */
	private unaccepted = 0;
	/** When the latest request was sent, by `performance.now()`, in which the service has accepted the newest token. */
	private acceptedSentAt = -Infinity;
	private hash: string | undefined;

	constructor(
		private readonly account: Account,
		private readonly secrets: Secrets,
	) {}

	/** Whether this process has logged in within the last minute. */
	get hasRecentLogin(): boolean {
		return isWithin(RECENT_MS, this.issued?.at);
	}

	/** Whether this process has rejected a token within the last minute. */
	get hasRecentRejection(): boolean {
		return isWithin(RECENT_MS, this.rejectedAt);
	}

	/** Returns a token in the form in which the credential stores it. */
	toStored(token: string): string {
		this.hash ??= hashOf(this.account);
		return `${this.hash}.${token}`;
	}

	/**
	 * Returns the token in a credential's stored value; undefined if it contains no token, if the token belongs to another account, or
	 * if it was rejected.
	 */
	fromStored(stored: unknown): string | undefined {
		const token = tokenOf(stored);
		// A token of another account is a secret, too.
		this.secrets.add(token);
		const isOwn = token !== undefined && stored === this.toStored(token);
		return isOwn && this.seen.get(token)?.isRejected !== true ? token : undefined;
	}

	/** Uses the token in a credential's stored value, unless a token is in use that this process has seen later. */
	useStored(stored: unknown): void {
		const token = this.fromStored(stored);
		if (token === undefined || (this.newest !== undefined && this.seen.has(token))) return;
		this.use(token);
	}

	/** Uses the token of a login. @param isForCalls whether the login was made for calls of this node */
	issue(token: string, isForCalls: boolean): void {
		this.use(token);
		this.issued = { token, at: Date.now() };
		if (isForCalls) this.unaccepted += 1;
	}

	/** Records that the service has accepted a token in a request that was sent at `sentAt`. */
	accept(token: string, sentAt: number): void {
		this.unaccepted = 0;
		if (token === this.newest) this.acceptedSentAt = Math.max(this.acceptedSentAt, sentAt);
	}

	/** Stops using a token that the service doesn't accept. */
	reject(token: string): void {
		this.see(token, { isRejected: true });
		this.rejectedAt = Date.now();
		if (this.newest === token) this.newest = undefined;
	}

	/**
	 * Decides whether a request has failed because of its token, by what is known already: the token's age, and whether
	 * the service has accepted it in a request that was sent later. A later response is not enough, since that request may
	 * have been sent before the token expired. If the token is rejected, it isn't used again.
	 */
	judge({ token, suspicion, sentAt, mayWait, resends }: JudgedRequest): TokenVerdict | 'suspect' {
		if (token !== this.newest) return 'replaced';
		const isAccepted = this.acceptedSentAt > sentAt;
		if (suspicion === 'suspect') return isAccepted || this.hasRecentLogin ? 'accepted' : 'suspect';
		if (this.unaccepted >= MAX_UNACCEPTED && this.hasRecentLogin) return 'accepted';
		const issuedAt = this.issued?.token === token ? this.issued.at : undefined;
		const isNew = isWithin(NOT_VALID_YET_MS, issuedAt);
		if (isNew && mayWait && resends.lag < RETRY.lagWaitsMs.length) return 'not valid yet';
		if (isAccepted) return resends.confirm === 0 ? 'accepted since' : 'accepted';
		this.reject(token);
		return 'replaced';
	}

	/** Makes a token the newest one, even if it was rejected before: a login may return the same token again. */
	private use(token: string): void {
		this.see(token, { isRejected: false });
		this.secrets.add(token);
		if (token !== this.newest) this.acceptedSentAt = -Infinity;
		this.newest = token;
		this.suspect = undefined;
	}

	private see(token: string, state: { isRejected: boolean }): void {
		this.seen.set(token, state);
		const [oldest = ''] = this.seen.keys();
		if (this.seen.size > MAX_SEEN) this.seen.delete(oldest);
	}
}
