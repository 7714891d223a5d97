import type { Secrets } from '../errors/secrets';
import { type Account, hashOf, tokenOf } from './account';

/**
 * Milliseconds for which a token is recently issued. Long enough that a user without a permission (403) doesn't log in
 * with each request.
 */
const RECENT_MS = 60_000;

/** Maximum number of remembered rejected tokens. Large enough that an old token in n8n's store isn't sent again. */
const MAX_REJECTED = 50;

/** The tokens of one account that this process knows. */
export class Tokens {
	/** The token that all requests use; undefined if no known token may be used. */
	newest: string | undefined;
	/** The token of this process's last login, and when it was received (ms since 1970). */
	issued: { token: string; at: number } | undefined;
	readonly rejected = new Set<string>();
	private hash: string | undefined;

	constructor(
		private readonly account: Account,
		private readonly secrets: Secrets,
	) {}

	/** Returns a token in the form in which the credential stores it. */
	toStored(token: string): string {
		this.hash ??= hashOf(this.account);
		return `${this.hash}.${token}`;
	}

	/**
	 * Returns the token in a credential's stored value; undefined if there is none, if it belongs to another account, or
	 * if it was rejected.
	 */
	fromStored(stored: unknown): string | undefined {
		const token = tokenOf(stored);
		// A token of another account is a secret, too.
		this.secrets.add(token);
		const isOwn = token !== undefined && stored === this.toStored(token);
		return isOwn && !this.rejected.has(token) ? token : undefined;
	}

	/** Makes a token the newest one, even if it was rejected before: a login may return the same token again. */
	use(token: string | undefined): void {
		if (token === undefined) return;
		this.rejected.delete(token);
		this.secrets.add(token);
		this.newest = token;
	}

	reject(token: string): void {
		this.rejected.add(token);
		const [oldest = ''] = this.rejected;
		if (this.rejected.size > MAX_REJECTED) this.rejected.delete(oldest);
		if (this.newest === token) this.newest = undefined;
	}

	/**
	 * Returns the milliseconds since the login that returned a token; Infinity if it isn't the token of this process's
	 * last login, since its age is unknown then.
	 */
	ageOf(token: string | undefined): number {
		const { issued } = this;
		return issued !== undefined && issued.token === token ? Date.now() - issued.at : Infinity;
	}

	/** Decides whether a token was returned by this process's last login, and less than a minute ago. */
	isRecent(token = this.issued?.token): boolean {
		return this.ageOf(token) < RECENT_MS;
	}
}
