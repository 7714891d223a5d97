import { createHash } from 'node:crypto';

import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { type Failure, meaningOf } from '../errors/kinds';
import { failureFromError } from '../errors/fromThrown';
import { Secrets } from '../errors/secrets';
import { AccountLimiter } from '../pace/limiter';
import type { Cause } from '../retry/facts';
import { MEMORY_MS } from '../retry/patience';
import { backoffMs, unlessAborted, wait } from '../timers';
import { type Account, accountOf } from './account';
import type { Attempt } from './attempt';
import { COUNTS_MS, type Health, HEALTH_CHECK, HealthChecks } from './healthCheck';
import type { Helpers, TokenResult } from './login';
import { Logins } from './logins';
import { Tokens } from './tokens';

/**
 * The waits for another process's token, or for a token that isn't valid yet. Without jitter, processes would go on ending
 * each other's tokens; with fewer, clocks that differ by five seconds would cost a login.
 */
const WAITS = { firstMs: 1_000, maxMs: 4_000, jitter: 0.8, most: 5 };

/** What this process knows of one account: its limiter, and the token that all its requests share, and so the login. */
export class Session {
	readonly limiter = new AccountLimiter();
	/** The password and the latest tokens, which no error may show. */
	readonly secrets: Secrets;
	readonly tokens: Tokens;
	readonly health: HealthChecks;
	readonly logins: Logins;
	/** When a request of the account was last made, by `performance.now()`. */
	usedAt = 0;
	/** The attempts that wait for a token, and the search for one, with the login if that finds none. */
	private readonly waiting = new Set<Attempt>();
	private renewal: Promise<TokenResult | undefined> | undefined;

	constructor(readonly account: Account) {
		this.secrets = new Secrets(account);
		this.tokens = new Tokens(account, this.secrets);
		this.health = new HealthChecks(this);
		this.logins = new Logins(this, this.tokens, this.health);
	}

	/** A request of this node was answered as expected. @param path of the request */
	noteAnswer({ path }: { path: string }): void {
		this.health.wasAnswered = true;
		this.health.hasListed ||= path === HEALTH_CHECK.path;
		this.logins.unaccepted = 0;
	}

	/**
	 * What made a request fail, of which its answer alone doesn't tell. A token that isn't accepted is not used again.
	 *
	 * @param isRepeated whether its token was rejected before, and the service accepted it
	 */
	async causeOf(
		helpers: Helpers,
		token: string,
		failure: Failure,
		isRepeated: boolean,
	): Promise<Cause> {
		const { token: suspicion } = meaningOf(failure);
		if (suspicion === undefined) {
			if ((await this.health.check(helpers, token)) !== 'away') return 'call';
			return this.health.hasListed ? 'outage' : 'maybe outage';
		}
		if (this.tokens.rejected.has(token)) return 'token';
		const isRecent = this.tokens.isRecent(token);
		// A list that is public or comes from a cache would keep an old token alive for ever: its rejection is believed.
		let isAccepted = isRecent;
		if (suspicion === (isRecent ? 'rejected' : 'suspect')) {
			// The token may have expired since the last health check, so its first rejection needs a new one.
			const countsMs = suspicion === 'suspect' || isRepeated ? COUNTS_MS : 0;
			isAccepted = this.isAcceptedBy(await this.health.check(helpers, token, countsMs), token);
		}
		if (isAccepted) this.logins.unaccepted = 0;
		else this.tokens.reject(token);
		return isAccepted ? 'call' : 'token';
	}

	/** Whether a health check says that a token is accepted, as far as it says so: the user may not be allowed to list. */
	private isAcceptedBy(health: Health, token: string): boolean {
		if (health === 'suspect') return this.tokens.isRecent(token);
		return health === 'accepted' || health === 'away';
	}

	/** The newest token, or one that all attempts look for together. Each waits for as long as its own Timeout allows. */
	async getToken(helpers: Helpers, attempt: Attempt): Promise<TokenResult> {
		const known = this.logins.knownFailure(attempt.options);
		if (known?.kind === 'noToken') await this.readStore(attempt);
		if (this.tokens.newest !== undefined) return { token: this.tokens.newest };
		if (known !== undefined) return { failure: known };
		if (attempt.failure !== undefined) return { failure: attempt.failure };
		this.waiting.add(attempt);
		const found = await unlessAborted(this.renew(helpers), attempt.signal).catch(() => undefined);
		this.waiting.delete(attempt);
		const result = found ?? { failure: attempt.failure ?? { kind: 'cancelled', sent: false } };
		if ('failure' in result) this.logins.noteFailure(result.failure, attempt.options);
		return result;
	}

	private async renew(helpers: Helpers): Promise<TokenResult | undefined> {
		const renewal = (this.renewal ??= this.findOrLogIn(helpers)
			// Else those that wait would take its request for a stopped one.
			.catch((error: unknown) => {
				const redact = (text: string) => this.secrets.redact(text);
				return { failure: failureFromError(error, { isUnsent: true, redact }) };
			})
			.finally(() => {
				if (this.renewal === renewal) this.renewal = undefined;
			}));
		return await renewal;
	}

	/** @returns undefined if no attempt waits for a token any more */
	private async findOrLogIn(helpers: Helpers): Promise<TokenResult | undefined> {
		const { tokens, logins } = this;
		// The clock of who checks a token may be behind that of who has issued it.
		const mayBecomeValid = logins.unaccepted > 0 ? tokens.issued?.token : undefined;
		logins.forgetOld();
		const mostWaits = logins.unaccepted > 0 ? WAITS.most : Math.min(tokens.rejected.size, 1);
		for (let waits = 0, waitedMs = 0; ; ) {
			const attempt = this.firstWaiting();
			if (attempt === undefined) return undefined;
			await this.readStore(attempt);
			if (attempt.signal.aborted) continue;
			if (tokens.newest === undefined && mayBecomeValid !== undefined) {
				const health = await this.health.check(helpers, mayBecomeValid);
				if (this.isAcceptedBy(health, mayBecomeValid)) tokens.use(mayBecomeValid);
			}
			if (tokens.newest !== undefined) return { token: tokens.newest };
			// Longer with each login, so that a process which has just logged in can use its token.
			const waitMs = backoffMs(waits + Math.max(0, logins.recent - 1), WAITS);
			waits += 1;
			waitedMs += waitMs;
			if (waits > mostWaits || waitedMs > attempt.options.timeout / 4) break;
			await wait(waitMs);
		}
		return this.firstWaiting() && (await logins.logInUnlessRefused(helpers));
	}

	private async readStore({ options, signal }: Attempt): Promise<void> {
		// An error of n8n comes again for each request before it is sent.
		const read = await unlessAborted(options.readAgain(), signal).catch(() => undefined);
		this.tokens.use(this.tokens.fromStored(read?.accessToken));
	}

	private firstWaiting(): Attempt | undefined {
		for (const attempt of this.waiting) if (!attempt.signal.aborted) return attempt;
		// Who comes now begins another renewal.
		this.renewal = undefined;
		return undefined;
	}
}

/** By a hash of the account, so that no password is a key; the least recently used one first. */
const sessions = new Map<string, Session>();

/**
 * The session of a credential's account. Those that nobody has used for an hour are forgotten, with their passwords, as is
 * what their limiters have learnt.
 *
 * @throws ServiceError if the Base URL can't be used
 */
export function sessionOf(credentials: ICredentialDataDecryptedObject): Session {
	const now = performance.now();
	const account = accountOf(credentials);
	const key = createHash('sha256').update(JSON.stringify(account)).digest('base64');
	const session = sessions.get(key) ?? new Session(account);
	sessions.delete(key);
	session.usedAt = now;
	sessions.set(key, session);
	for (const [oldKey, { usedAt }] of sessions) {
		if (now < usedAt + MEMORY_MS) break;
		sessions.delete(oldKey);
	}
	return session;
}
