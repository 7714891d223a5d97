import { type Failure, meaningOf } from '../errors/failure';
import { failureFromError } from '../errors/fromError';
import { Secrets } from '../errors/secrets';
import { AccountLimiter } from '../pace/limiter';
import type { Cause } from '../retry/facts';
import { consequenceOf, mayResend } from '../retry/policy';
import { backoffMs, isWithin, unlessAborted, wait } from '../timers';
import type { Account } from './account';
import type { Attempt, AttemptOptions } from './attempt';
import { COUNTS_MS, type Health, HEALTH_CHECK, HealthChecks } from './healthCheck';
import { type Helpers, login, type TokenResult } from './login';
import { Tokens } from './tokens';

/**
 * The waits for another process's token, or for a token that isn't valid yet. Without jitter, processes would go on ending
 * each other's tokens; with fewer, clocks that differ by five seconds would cost a login.
 */
const WAITS = { firstMs: 1_000, maxMs: 4_000, jitter: 0.8, most: 5 };

/** Logins in a row whose tokens are not accepted. With one, a token that another process has ended would fail requests. */
const MAX_LOGINS = 2;

/** What this process knows of one account: its limiter, and the token that all its requests share, and so the login. */
export class Session {
	readonly limiter = new AccountLimiter();
	/** The password and the latest tokens, which no error may show. */
	readonly secrets: Secrets;
	readonly tokens: Tokens;
	readonly health = new HealthChecks(this);
	/** Whether the service has answered a request of this node as expected. */
	wasAnswered = false;
	/** Logins since the service accepted a token. */
	private unacceptedLogins = 0;
	/** The attempts that wait for a token, and the search for one, with the login if that finds none. */
	private readonly waiting = new Set<Attempt>();
	private renewal: Promise<TokenResult | undefined> | undefined;
	private currentLogin: Promise<TokenResult> | undefined;
	private refusal: { failure: Failure; at: number } | undefined;
	/** Why there is no token, by the executions that know of it; by their runs if the service may not have answered. */
	private failures = new WeakMap<object, Failure>();

	constructor(readonly account: Account) {
		this.secrets = new Secrets(account);
		this.tokens = new Tokens(account, this.secrets);
	}

	/** A request of this node was answered as expected. @param path of the request */
	noteAnswer({ path }: { path: string }): void {
		this.wasAnswered = true;
		this.health.hasListed ||= path === HEALTH_CHECK.path;
		this.unacceptedLogins = 0;
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
			return this.health.hasListed ? 'outage' : 'perhaps an outage';
		}
		if (this.tokens.rejected.has(token)) return 'token';
		const isRecent = this.tokens.isRecent(token);
		// A list that is public or comes from a cache would keep an old token alive for ever: its rejection is believed.
		let isAccepted = isRecent;
		if (suspicion === (isRecent ? 'rejected' : 'suspect')) {
			// A token may have been ended since, so its first rejection is checked anew.
			const countsMs = suspicion === 'suspect' || isRepeated ? COUNTS_MS : 0;
			isAccepted = this.isAcceptedBy(await this.health.check(helpers, token, countsMs), token);
		}
		if (isAccepted) this.unacceptedLogins = 0;
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
		if (this.tokens.newest !== undefined) return { token: this.tokens.newest };
		const known = this.knownFailure(attempt.options);
		if (known !== undefined) return { failure: known };
		this.waiting.add(attempt);
		const found = await unlessAborted(this.renew(helpers), attempt.signal).catch(() => undefined);
		this.waiting.delete(attempt);
		const result = found ?? { failure: attempt.failure ?? { kind: 'cancelled', sent: false } };
		if ('failure' in result && isFinal(result.failure)) {
			const { run } = attempt.options;
			this.failures.set('status' in result.failure ? run.execution : run, result.failure);
		}
		return result;
	}

	/** Why no login may be made; undefined if one may. One that ran out of time may be tried again with more of it. */
	knownFailure({ run, timeout = 0 }: Partial<AttemptOptions> = {}): Failure | undefined {
		const known = run && (this.failures.get(run.execution) ?? this.failures.get(run));
		const hasMoreTime = known?.kind === 'timeout' && timeout > (known.after ?? Infinity);
		if (known !== undefined && !hasMoreTime) return known;
		return isWithin(COUNTS_MS, this.refusal?.at) ? this.refusal?.failure : undefined;
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
		const { tokens } = this;
		// The clock of who checks a token may be behind that of who has issued it.
		const mayBecomeValid = this.unacceptedLogins > 0 ? tokens.issued?.token : undefined;
		if (!tokens.isRecent()) this.unacceptedLogins = 0;
		const mostWaits = this.unacceptedLogins > 0 ? WAITS.most : Math.min(tokens.rejected.size, 1);
		for (let waits = 0, waitedMs = 0; ; waits += 1) {
			const attempt = this.firstWaiting();
			if (attempt === undefined) return undefined;
			// An error of n8n comes again for each request before it is sent.
			const read = unlessAborted(attempt.options.readAgain(), attempt.signal).catch(
				() => undefined,
			);
			tokens.use(tokens.fromStored((await read)?.accessToken));
			if (tokens.newest === undefined && mayBecomeValid !== undefined) {
				const health = await this.health.check(helpers, mayBecomeValid);
				if (this.isAcceptedBy(health, mayBecomeValid)) tokens.use(mayBecomeValid);
			}
			if (tokens.newest !== undefined) return { token: tokens.newest };
			const waitMs = backoffMs(waits, WAITS);
			waitedMs += waitMs;
			if (waits === mostWaits || waitedMs > attempt.options.timeout / 4) break;
			await wait(waitMs);
		}
		if (this.firstWaiting() === undefined) return undefined;
		if (this.unacceptedLogins >= MAX_LOGINS) return { failure: { kind: 'noToken', status: 401 } };
		const result = await this.logIn(helpers);
		if ('token' in result) this.unacceptedLogins += 1;
		return result;
	}

	private firstWaiting(): Attempt | undefined {
		for (const attempt of this.waiting) if (!attempt.signal.aborted) return attempt;
		// Who comes now begins another renewal.
		this.renewal = undefined;
		return undefined;
	}

	/** A login, which all share that want one at the same time. It goes on if nobody waits for it any more. */
	async logIn(helpers: Helpers): Promise<TokenResult> {
		this.currentLogin ??= this.logInOnce(helpers).finally(() => (this.currentLogin = undefined));
		return await this.currentLogin;
	}

	private async logInOnce(helpers: Helpers): Promise<TokenResult> {
		const result = await login(helpers, this);
		const at = Date.now();
		if ('token' in result) {
			this.tokens.use(result.token);
			this.tokens.issued = { ...result, at };
			this.refusal = undefined;
			this.failures = new WeakMap();
			return result;
		}
		const { failure } = result;
		// The address is right if the service has answered there. It may be away.
		const mayBeAway = failure.kind === 'status' && consequenceOf(failure).notFound === 'mayBeAway';
		if (mayBeAway && this.wasAnswered && (await this.health.check(helpers, '')) === 'away') {
			return { failure: { ...failure, isOutage: true } };
		}
		if ('status' in failure && isFinal(failure)) this.refusal = { failure, at };
		return result;
	}
}

/** Whether an execution doesn't ask for a token again: to wait once for a login without an answer is enough. */
const isFinal = (failure: Failure) =>
	(failure.ofLogin === true || failure.kind === 'noToken') && !mayResend(meaningOf(failure), true);
