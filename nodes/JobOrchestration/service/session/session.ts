import { createHash } from 'node:crypto';

import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { cancelled, type Failure } from '../errors/failure';
import { Secrets } from '../errors/secrets';
import { failureFromError } from '../errors/thrown';
import { AccountLimiter } from '../pace/limiter';
import type { Cause } from '../retry/facts';
import { MEMORY_MS } from '../retry/patience';
import { backoffMs, unlessAborted, wait } from '../timers';
import { type Account, accountOf } from './account';
import type { Attempt } from './attempt';
import { type Health, HEALTH_CHECK, HealthChecks, REUSE_MS } from './healthCheck';
import type { Helpers, TokenResult } from './login';
import { Logins } from './logins';
import { Tokens } from './tokens';

/**
 * The waits for another process's token, or for a token that isn't valid yet. Jitter prevents processes from ending
 * each other's tokens again and again. Five waits are enough if clocks differ by five seconds: with fewer, such a
 * difference would cost a login.
 */
const WAITS = { firstMs: 1_000, maxMs: 4_000, jitter: 0.8, most: 5 };

/**
 * The state of one account in this process: its rate limiter, and the token and the logins that all its requests share.
 */
export class Session {
	readonly limiter = new AccountLimiter();
	/** The password and the latest tokens, which no error may show. */
	readonly secrets: Secrets;
	readonly tokens: Tokens;
	readonly health: HealthChecks;
	readonly logins: Logins;
	/** When the account was last used, by `performance.now()`. */
	usedAt = 0;
	/** The attempts that wait for a token. */
	private readonly waiting = new Set<Attempt>();
	/** The search for a token that is in progress, with the login if the search finds none. */
	private renewal: Promise<TokenResult | undefined> | undefined;

	constructor(readonly account: Account) {
		this.secrets = new Secrets(account.password);
		this.tokens = new Tokens(account, this.secrets);
		this.health = new HealthChecks(this);
		this.logins = new Logins(this, this.tokens);
	}

	/**
	 * Records that a request of this node was answered as expected.
	 *
	 * @param path path of the request
	 */
	noteAnswer({ path }: { path: string }): void {
		this.health.wasAnswered = true;
		this.health.hasListed ||= path === HEALTH_CHECK.path;
		this.logins.unaccepted = 0;
	}

	/**
	 * Finds out why a request failed if its response alone doesn't show it. A token that isn't accepted isn't used again.
	 *
	 * @param isRepeated whether the token was rejected before, although a health check accepted it
	 */
	async causeOf(
		helpers: Helpers,
		token: string,
		failure: Failure,
		isRepeated: boolean,
	): Promise<Cause> {
		const { token: suspicion } = failure;
		if (suspicion === undefined) {
			if ((await this.health.check(helpers, token)) !== 'away') return 'call';
			return this.health.hasListed ? 'outage' : 'maybe outage';
		}
		if (this.tokens.rejected.has(token)) return 'token';
		const isRecent = this.tokens.isRecent(token);
		// The rejection of an older token is believed without a health check. A list of work clusters that is public or
		// cached would otherwise keep an expired token in use forever.
		let isAccepted = isRecent;
		if (suspicion === (isRecent ? 'rejected' : 'suspect')) {
			// The token may have expired since the last health check, so its first rejection needs another one.
			const reuseMs = suspicion === 'suspect' || isRepeated ? REUSE_MS : 0;
			isAccepted = this.isAcceptedBy(await this.health.check(helpers, token, reuseMs), token);
		}
		if (isAccepted) this.logins.unaccepted = 0;
		else this.tokens.reject(token);
		return isAccepted ? 'call' : 'token';
	}

	/**
	 * Decides whether a token counts as accepted after a health check. A recently issued token does even if it is
	 * suspect, since the user may not be allowed to list work clusters.
	 */
	private isAcceptedBy(health: Health, token: string): boolean {
		if (health === 'suspect') return this.tokens.isRecent(token);
		return health === 'accepted' || health === 'away';
	}

	/**
	 * Returns the newest token, or waits for the renewal that all attempts share. Each attempt waits for as long as its
	 * own Timeout allows.
	 */
	async getToken(helpers: Helpers, attempt: Attempt): Promise<TokenResult> {
		const known = this.logins.knownFailure(attempt.options);
		if (known?.noToken === true) await this.readStore(attempt);
		if (this.tokens.newest !== undefined) return { token: this.tokens.newest };
		if (known !== undefined) return { failure: known };
		if (attempt.failure !== undefined) return { failure: attempt.failure };
		this.waiting.add(attempt);
		const found = await unlessAborted(this.renew(helpers), attempt.signal).catch(() => undefined);
		this.waiting.delete(attempt);
		const result = found ?? { failure: attempt.failure ?? cancelled({ sent: false }) };
		if ('failure' in result) this.logins.noteFailure(result.failure, attempt.options);
		return result;
	}

	private async renew(helpers: Helpers): Promise<TokenResult | undefined> {
		const renewal = (this.renewal ??= this.findOrLogIn(helpers)
			// Otherwise, the attempts that wait would report an exception as a cancelled request.
			.catch((error: unknown) => {
				return { failure: failureFromError(error, { isUnsent: true, secrets: this.secrets }) };
			})
			.finally(() => {
				if (this.renewal === renewal) this.renewal = undefined;
			}));
		return await renewal;
	}

	/** Looks for a usable token, and logs in if there is none. @returns undefined if all waiting attempts have ended */
	private async findOrLogIn(helpers: Helpers): Promise<TokenResult | undefined> {
		const { tokens, logins } = this;
		// The server that checks a token may have a clock behind that of its issuer, so the token may become valid later.
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
			// The waits grow with each login, so that a process that has just logged in can use its token.
			const waitMs = backoffMs(waits + Math.max(0, logins.recent - 1), WAITS);
			waits += 1;
			waitedMs += waitMs;
			if (waits > mostWaits || waitedMs > attempt.options.timeout / 4) break;
			await wait(waitMs);
		}
		return this.firstWaiting() && (await logins.logInUnlessRefused(helpers));
	}

	private async readStore({ options, signal }: Attempt): Promise<void> {
		// The error can be ignored: n8n throws it again for each request before the request is sent.
		const read = await unlessAborted(options.readAgain(), signal).catch(() => undefined);
		this.tokens.use(this.tokens.fromStored(read?.accessToken));
	}

	private firstWaiting(): Attempt | undefined {
		for (const attempt of this.waiting) if (!attempt.signal.aborted) return attempt;
		// An attempt that comes now starts another renewal.
		this.renewal = undefined;
		return undefined;
	}
}

/**
 * The sessions, keyed by a hash of the account so that no key holds a password. The one looked up longest ago is first.
 */
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
