import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { AccountLimiter } from '../pace/limiter';
import type { RequestFailure } from '../errors/failure';
import { mayRetry } from '../errors/retryPolicy';
import { unlessAborted, wait } from '../request/timers';
import { Secrets } from '../errors/secrets';
import type { Account } from './account';
import { accountOf, sealOf, tokenOf } from './account';
import type { Helpers, LoginResult } from './login';
import { isAccepted, login, mayBeWrongPassword } from './login';
import type { TrackedRequest } from './trackedRequest';

/** How long a refused login isn't repeated. With less, executions that start together could lock the account. */
const REFUSAL_HOLDS_MS = 5_000;

/** The same within an execution. With less, each try of Retry On Fail (five, 5 s apart) would log in again. */
const REFUSAL_HOLDS_FOR_EXECUTION_MS = 30_000;

/** The wait for another process's token. Without jitter and growth, processes would go on ending each other's tokens. */
const MIN_WAIT_MS = 50;
const JITTER_MS = 200;
const MAX_DOUBLINGS = 4;

/** Waits before a request without a login is given up. With fewer, another process's slow login would be missed. */
const MAX_WAITS = 3;

/** Tokens that are known as rejected. With fewer, an old one that is stored could be sent again. */
const MAX_REJECTED = 50;

/** How long questions about a token are collected. Without it, requests that fail a moment apart would each ask. */
const COLLECT_MS = 50;

/** `isNew` if it came by a login. */
type TokenResult = LoginResult & { isNew?: true };

interface Refusal {
	failure: RequestFailure;
	since: number;
}

/**
 * What this process knows of one account: its newest token, the login in flight, what was refused, and its limiter. n8n
 * asks for a token once for each request that has none or a rejected one, thousands at a time; here they share one login.
 */
export class Session {
	readonly limiter = new AccountLimiter();
	/** The password and the latest tokens, which no error may show. */
	readonly secrets: Secrets;
	private accountSeal: string | undefined;
	private newest: { token: string; since: number } | undefined;
	private readonly rejected = new Set<string>();
	private login: Promise<TokenResult | undefined> | undefined;
	/** By the execution whose login failed; the last one of all by the session itself. */
	private refusals = new WeakMap<object, Refusal>();
	/** By the token that the service is asked about. */
	private readonly questions = new Map<string, Promise<boolean>>();

	constructor(readonly account: Account) {
		this.secrets = new Secrets(account);
	}

	/** A token as it is stored in the credential. */
	seal(token: string): string {
		this.accountSeal ??= sealOf(this.account);
		return `${this.accountSeal}.${token}`;
	}

	/** The token in what is stored; undefined without one, or if it is another account's. */
	unseal(stored: unknown): string | undefined {
		const token = tokenOf(stored);
		return token !== undefined && stored === this.seal(token) ? token : undefined;
	}

	/** Remembers that the service has rejected a token. */
	reject(token: string): void {
		this.rejected.add(token);
		const [oldest = ''] = this.rejected;
		if (this.rejected.size > MAX_REJECTED) this.rejected.delete(oldest);
	}

	/** Whether it is a token that the service may accept. */
	isUsable(token: string | undefined): token is string {
		return token !== undefined && !this.rejected.has(token);
	}

	/** The newest token, unless it was rejected or is older than that. */
	newestToken(maxAgeMs = Infinity): string | undefined {
		const { token, since } = this.newest ?? {};
		return this.isUsable(token) && isWithin(maxAgeMs, since) ? token : undefined;
	}

	/**
	 * A token for a request without a usable one. All share one login, and one search for a token that another process has
	 * stored; a refused login stays refused for a while.
	 *
	 * @param tracked undefined for another node, which knows the newest token already
	 * @returns undefined if no token was found and no login is allowed
	 */
	async token(helpers: Helpers, tracked?: TrackedRequest): Promise<TokenResult | undefined> {
		const { execution, timeout, mayLogIn = true } = tracked?.options ?? {};
		for (;;) {
			const newest = tracked && this.newestToken();
			if (newest !== undefined) return { token: newest };
			const refusal = this.refusalFor(execution, timeout);
			if (refusal !== undefined) return { failure: refusal };
			if (!mayLogIn && this.login === undefined) {
				const token = tracked && (await this.storedToken(tracked));
				return token === undefined ? undefined : { token };
			}

			const login = (this.login ??= this.findOrLogIn(helpers, tracked).finally(() => {
				if (this.login === login) this.login = undefined;
			}));
			if (tracked !== undefined) tracked.login = login;
			const result = await login;
			if (tracked !== undefined) tracked.login = undefined;
			if (result !== undefined) {
				if (tracked !== undefined) tracked.hasLoggedIn = result.isNew === true;
				if ('failure' in result) this.rememberRefusal(result.failure, execution);
				return result;
			}
			if (tracked?.isStopped === true) return undefined;
			// Another request was stopped before it could log in for all.
		}
	}

	/** A request has waited too long for its login: the next one starts another, but not in this execution. */
	giveUp({ login, options }: TrackedRequest, failure: RequestFailure): void {
		if (this.login === login) this.login = undefined;
		// It may be the one that was remembered: to remember it again would refuse the next logins for good.
		if (this.refusals.get(options.execution)?.failure === failure) return;
		this.refusals.set(options.execution, { failure, since: Date.now() });
	}

	/** Asks the service whether it accepts a token, once for all that ask at about the same time. */
	async accepts(helpers: Helpers, token: string): Promise<boolean> {
		let question = this.questions.get(token);
		if (question === undefined) {
			// The delay makes sure that no answer is older than the rejection of a request that asks.
			question = wait(COLLECT_MS).then(async () => {
				this.questions.delete(token);
				return await isAccepted(helpers, this.account, token);
			});
			this.questions.set(token, question);
		}
		const accepted = await question;
		if (!accepted) this.reject(token);
		return accepted;
	}

	/** Why no login may be made. A request with more time than the one that gave up a login may try again. */
	private refusalFor(
		execution: object | undefined,
		timeout = Infinity,
	): RequestFailure | undefined {
		const ofExecution = execution && this.refusals.get(execution);
		const { failure, since } = ofExecution ?? this.refusals.get(this) ?? {};
		if (failure?.kind === 'timeout' && timeout > (failure.after ?? Infinity)) return undefined;
		if (ofExecution !== undefined && mayBeWrongPassword(failure)) return failure;
		const holdsMs = ofExecution === undefined ? REFUSAL_HOLDS_MS : REFUSAL_HOLDS_FOR_EXECUTION_MS;
		return isWithin(holdsMs, since) ? failure : undefined;
	}

	private rememberRefusal(failure: RequestFailure, execution: object | undefined): void {
		if (mayRetry(failure, { idempotent: true })) return;
		const refusal = { failure, since: Date.now() };
		this.refusals.set(this, refusal);
		if (execution !== undefined) this.refusals.set(execution, refusal);
	}

	/** Looks for a token that another process has stored, and logs in if it finds no token. It never throws. */
	private async findOrLogIn(
		helpers: Helpers,
		tracked: TrackedRequest | undefined,
	): Promise<TokenResult | undefined> {
		const stored = tracked && (await this.storedToken(tracked));
		if (stored !== undefined) return { token: stored };
		if (tracked?.isStopped === true) return undefined;
		const result = await login(helpers, this);
		if ('token' in result) {
			this.remember(result.token);
			this.refusals = new WeakMap();
			return { ...result, isNew: true };
		}
		return result;
	}

	/** After a rejection, another process has probably logged in: its token may not be stored yet. */
	private async storedToken({ options, signal }: TrackedRequest): Promise<string | undefined> {
		const { rejections, mayLogIn, readAgain } = options;
		const maxWaits = mayLogIn ? Math.min(rejections, 1) : MAX_WAITS;
		for (let waits = 0; ; waits += 1) {
			// Others wait for this, too. Whatever n8n says here, it says again to each request before it is sent.
			const read = unlessAborted(readAgain(), signal).catch(() => undefined);
			const stored = this.unseal((await read)?.accessToken);
			if (this.isUsable(stored)) this.remember(stored);
			const newest = this.newestToken();
			if (newest !== undefined) return newest;
			if (waits === maxWaits) return undefined;
			const waitMs = MIN_WAIT_MS + Math.random() * JITTER_MS;
			await wait(waitMs * 2 ** Math.min(rejections, MAX_DOUBLINGS), signal);
		}
	}

	private remember(token: string): void {
		// A service may give the same token again.
		this.rejected.delete(token);
		this.secrets.add(token);
		this.newest = { token, since: Date.now() };
	}
}

/** Accounts in memory. Without a limit, a process would grow with each edit of a credential. */
const MAX_SESSIONS = 100;

/** The least recently used one first. */
const sessions = new Map<string, Session>();

/** The session of a credential's account. @throws ServiceError if the Base URL can't be used */
export function sessionOf(credentials: ICredentialDataDecryptedObject): Session {
	const account = accountOf(credentials);
	const key = JSON.stringify(account);
	const session = sessions.get(key) ?? new Session(account);
	sessions.delete(key);
	sessions.set(key, session);
	const [oldest = ''] = sessions.keys();
	if (sessions.size > MAX_SESSIONS) sessions.delete(oldest);
	return session;
}

/** Whether `since` is less than `ms` ago; false if it is undefined, or the clock went back. */
function isWithin(ms: number, since = Infinity): boolean {
	const age = Date.now() - since;
	return age >= 0 && age < ms;
}
