import { AccountLimiter } from '../pace/limiter';
import type { TokenDoubt } from '../errors/rules';
import { backoffMs, mayRetry } from '../errors/rules';
import { unlessAborted, wait } from '../timers';
import { Secrets } from '../errors/secrets';
import type { Account } from './account';
import { hashOf, tokenOf } from './account';
import type { Helpers, TokenResult } from './login';
import { doubtAbout, login } from './login';
import { isWithin, Refusal } from './refusal';
import type { TrackedRequest } from './trackedRequest';

/** How long a token can't have expired. With less, a user who isn't allowed something (403) would log in each time. */
const YOUNG_MS = 60_000;

/** The wait for another process's token. Without jitter and growth, processes would go on ending each other's tokens. */
const WAITS = { firstMs: 250, maxMs: 4_000, jitter: 0.8 };

/** Waits before a request without a login is given up. With fewer, another process's slow login would be missed. */
const MAX_WAITS = 3;

/** Tokens that are known as rejected. With fewer, an old one that is stored could be sent again. */
const MAX_REJECTED = 50;

/** How long questions about a token are collected. Without it, requests that fail a moment apart would each ask. */
const COLLECT_MS = 50;

/**
 * What this process knows of one account: its newest token, the login in flight, what was refused, and its limiter. n8n
 * asks for a token once for each request that has none or a rejected one, thousands at a time; here they share one login.
 */
export class Session {
	readonly limiter = new AccountLimiter();
	/** The password and the latest tokens, which no error may show. */
	readonly secrets: Secrets;
	private hash: string | undefined;
	newest: string | undefined;
	/** When the last login succeeded, in ms since 1970. The age of a token that was found in the store is unknown. */
	private loggedInAt: number | undefined;
	/** When a token was last renewed: from then on, a rejected one may be the request's own fault. */
	private renewedAt: number | undefined;
	private readonly rejected = new Set<string>();
	/** A token that was rejected as soon as it was there. Another login wouldn't help. */
	private rejectedAtOnce: string | undefined;
	/** The search for another process's token in its place, for all requests that were sent with it. */
	private search: Promise<string | undefined> = Promise.resolve(undefined);
	private login: Promise<TokenResult | undefined> | undefined;
	private readonly refusal = new Refusal();
	/** By the token that the service is asked about. */
	private readonly questions = new Map<string, Promise<TokenDoubt | undefined>>();

	constructor(readonly account: Account) {
		this.secrets = new Secrets(account);
	}

	/** A token as it is stored in the credential. */
	toStored(token: string): string {
		this.hash ??= hashOf(this.account);
		return `${this.hash}.${token}`;
	}

	/** The token in what is stored; undefined without one, if it is another account's, or if it was rejected. */
	fromStored(stored: unknown): string | undefined {
		const token = tokenOf(stored);
		const isOwn = token !== undefined && stored === this.toStored(token);
		return isOwn && !this.rejected.has(token) ? token : undefined;
	}

	/** Remembers that the service has rejected a token. */
	reject(token: string): void {
		this.rejected.add(token);
		if (this.newest === token) this.newest = undefined;
		const [oldest = ''] = this.rejected;
		if (this.rejected.size > MAX_REJECTED) this.rejected.delete(oldest);
	}

	/** Whether the last login was less than `ms` ago. */
	hasLoggedInWithin(ms: number): boolean {
		return isWithin(ms, this.loggedInAt);
	}

	/**
	 * A token: the newest that is known, else by a login, which all share, with one search for a token that another process
	 * has stored. A refused login stays refused for a while.
	 *
	 * @param tracked undefined for another node
	 * @returns undefined if the request was stopped before there was one
	 */
	async token(helpers: Helpers, tracked?: TrackedRequest): Promise<TokenResult | undefined> {
		for (;;) {
			if (tracked !== undefined && this.newest !== undefined) return { token: this.newest };
			const failure = this.refusal.for(tracked);
			if (failure !== undefined) return { failure };
			const result = await this.sharedLogin(helpers, tracked);
			if (result !== undefined || tracked?.isStopped === true) return result;
			// Another request was stopped before it could log in for all.
		}
	}

	/** A login for n8n's test of the credential, which ignores remembered tokens and refusals. It joins one in flight. */
	async logIn(helpers: Helpers): Promise<TokenResult> {
		for (;;) {
			const result = await this.sharedLogin(helpers);
			if (result !== undefined && ('failure' in result || result.isNew)) return result;
		}
	}

	/**
	 * A token for a request that is to be sent once more, since its answer may be due to the token that it was sent with.
	 *
	 * @param isRead whether the request itself asks what the question about a token would ask
	 * @returns undefined if another token wouldn't help, or there is no other
	 */
	async renewedToken(
		helpers: Helpers,
		tracked: TrackedRequest,
		{ token, doubt, isRead }: { token: string; doubt: TokenDoubt; isRead: boolean },
	): Promise<TokenResult | undefined> {
		const isYoung = this.hasLoggedInWithin(YOUNG_MS);
		if (!this.rejected.has(token) && (this.newest ?? token) === token) {
			if (doubt === 'doubtful' && isYoung) return undefined;
			if (doubt === 'rejected' && !isRead && isWithin(YOUNG_MS, this.renewedAt)) {
				if ((await this.doubtAbout(helpers, token)) !== 'rejected') return undefined;
			}
			const isKnown = isYoung && this.rejectedAtOnce === token;
			if (tracked.hasNewToken || isKnown) {
				const look = async (maxWaits: number) =>
					await this.storedToken(tracked, { not: token, maxWaits });
				if (!isKnown) this.search = look(MAX_WAITS);
				this.rejectedAtOnce = token;
				const found = await unlessAborted(this.search, tracked.signal).catch(() => undefined);
				if ((found ?? (await look(0))) === undefined) return undefined;
			} else this.renewedAt = Date.now();
		}
		this.reject(token);
		return await this.token(helpers, tracked);
	}

	/** Whether the service accepts a token, as far as it says so; one that it doesn't accept isn't used any more. */
	async isGood(helpers: Helpers, token: string): Promise<boolean> {
		const doubt = await this.doubtAbout(helpers, token);
		const isGood =
			doubt === undefined || (doubt === 'doubtful' && this.hasLoggedInWithin(YOUNG_MS));
		if (!isGood) this.reject(token);
		return isGood;
	}

	/** Asks the service whether it accepts a token, once for all that ask at about the same time. */
	async doubtAbout(helpers: Helpers, token: string): Promise<TokenDoubt | undefined> {
		let question = this.questions.get(token);
		if (question === undefined) {
			// The delay makes sure that no answer is older than the rejection of a request that asks.
			question = wait(COLLECT_MS).then(async () => {
				this.questions.delete(token);
				return await doubtAbout(token, helpers, this);
			});
			this.questions.set(token, question);
		}
		return await question;
	}

	private async sharedLogin(
		helpers: Helpers,
		tracked?: TrackedRequest,
	): Promise<TokenResult | undefined> {
		const login = (this.login ??= this.findOrLogIn(helpers, tracked).finally(() => {
			if (this.login === login) this.login = undefined;
		}));
		let result = await unlessAborted(login, tracked?.signal).catch(() => undefined);
		if (result === undefined && tracked?.isTimedOut === true) {
			// The next request starts another login, but not in this execution.
			if (this.login === login) this.login = undefined;
			const after = tracked.options.timeout;
			result = { failure: { kind: 'timeout', after, ofLogin: true } };
		}
		if (
			result !== undefined &&
			'failure' in result &&
			!mayRetry(result.failure, { idempotent: true })
		) {
			this.refusal.remember(result.failure, tracked);
		}
		return result;
	}

	/** Looks for a token that another process has stored, and logs in if it finds no token. It never throws. */
	private async findOrLogIn(
		helpers: Helpers,
		tracked: TrackedRequest | undefined,
	): Promise<TokenResult | undefined> {
		if (tracked !== undefined) {
			// After a second rejection, another process has probably logged in: its token may not be stored yet.
			const maxWaits = Math.min(tracked.rejections, 1);
			const stored = await this.storedToken(tracked, { maxWaits });
			if (stored !== undefined) return { token: stored };
			if (tracked.isStopped) return undefined;
		}
		const result = await login(helpers, this);
		if ('failure' in result) return result;
		this.remember(result.token);
		this.loggedInAt = Date.now();
		this.refusal.forget();
		return { ...result, isNew: true };
	}

	/** A token that another process has stored, or that was fetched during the search. */
	private async storedToken(
		{ options, rejections, signal }: TrackedRequest,
		{ not, maxWaits }: { not?: string; maxWaits: number },
	): Promise<string | undefined> {
		for (let waits = 0; ; waits += 1) {
			// Others wait for this, too. An error of n8n comes again for each request before it is sent.
			const read = unlessAborted(options.readAgain(), signal).catch(() => undefined);
			const stored = this.fromStored((await read)?.accessToken);
			if (stored !== undefined && stored !== not) this.remember(stored);
			if (this.newest !== undefined && this.newest !== not) return this.newest;
			if (waits === maxWaits) return undefined;
			await wait(backoffMs(rejections, WAITS), signal);
		}
	}

	private remember(token: string): void {
		// A service may give the same token again.
		this.rejected.delete(token);
		this.secrets.add(token);
		this.newest = token;
	}
}
