import type { Secrets } from '../errors/secrets';
import { type Account, hashOf, tokenOf } from './account';

/** How long a token is recently issued. With less, a user who isn't allowed something (403) would log in each time. */
const RECENT_MS = 60_000;

/** Tokens that are known as rejected. With fewer, an old one that is stored could be sent again. */
const MAX_REJECTED = 50;

/** The tokens of one account that this process knows. */
export class Tokens {
	/** The token that all requests use; undefined if no known token may be used. */
	newest: string | undefined;
	/** The token of the last login, and when it came, in ms since 1970. */
	issued: { token: string; at: number } | undefined;
	readonly rejected = new Set<string>();
	private hash: string | undefined;

	constructor(
		private readonly account: Account,
		private readonly secrets: Secrets,
	) {}

	/** A token as it is stored in the credential. */
	toStored(token: string): string {
		this.hash ??= hashOf(this.account);
		return `${this.hash}.${token}`;
	}

	/** The token in what is stored; undefined without one, if it is another account's, or if it was rejected. */
	fromStored(stored: unknown): string | undefined {
		const token = tokenOf(stored);
		// It may be another account's.
		this.secrets.add(token);
		const isOwn = token !== undefined && stored === this.toStored(token);
		return isOwn && !this.rejected.has(token) ? token : undefined;
	}

	/** Takes a token for the newest. It may have been rejected before: a login may give a token again. */
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

	/** Milliseconds since its login; Infinity if it isn't the token of this process's last one: its age is unknown. */
	ageOf(token: string | undefined): number {
		const { issued } = this;
		return issued !== undefined && issued.token === token ? Date.now() - issued.at : Infinity;
	}

	/** Whether this process has logged in for it within the last minute. */
	isRecent(token = this.issued?.token): boolean {
		return this.ageOf(token) < RECENT_MS;
	}
}
