import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { AccountLimiter } from '../pace/limiter';
import type { RequestFailure } from '../request/failure';
import { mayRetry } from '../request/retryPolicy';
import { wait } from '../request/timers';
import { Secrets } from '../secrets/secrets';
import type { Account } from './account';
import { accountOf } from './account';
import type { LoginResult } from './login';
import { sealOf, tokenOf } from './seal';

/**
 * How long a token is new. Within this time, a caller without a token gets it; later, a login: so n8n's test of a
 * credential is one. If it is rejected within this time, the login of another process has probably ended it.
 */
const NEW_TOKEN_MS = 5_000;

/** How long a refused login isn't repeated. Without it, requests that fail together could lock the account. */
const REFUSAL_HOLDS_MS = 5_000;

/** The same within one execution. With less, each try of Retry On Fail (five, 5 s apart) would log in again. */
const REFUSAL_HOLDS_FOR_EXECUTION_MS = 30_000;

/**
 * The wait for the token of another process, doubled for each rejection of a request up to this often, and what is
 * added at random. Without the growth and the chance, processes would log in again at the same time.
 */
const MIN_WAIT_MS = 100;
const WAIT_JITTER_MS = 400;
const MAX_DOUBLINGS = 3;

/** How often the stored token is read before a request is given up. With less, a slow login would be missed. */
const STORE_READS = 3;

/** Tokens that are known as rejected. With fewer, the stored one could be tried again. */
const MAX_REJECTED = 50;

/** Accounts in memory. Without a limit, a process would grow with each edit of a credential. */
const MAX_SESSIONS = 100;

/** Who needs a token. */
export interface Asker {
	/** Whether it may have a token whose login was a while ago. */
	isRenewal: boolean;
	/** How often the tokens of its request were rejected. */
	rejections?: number;
	/** The answer to its last try, if it may not log in for another one: then this is its failure. */
	lastAnswer?: RequestFailure | undefined;
	/** The same object for all requests of an execution. */
	execution?: object;
	/** Ends its wait. No login begins for it afterwards. */
	signal?: AbortSignal;
	/** Reads the token in the stored credential, where another process may have put one. */
	storedToken?: () => Promise<string | undefined>;
	/** Asks the service whether it accepts a token; missing if the request itself shows it. */
	isAccepted?: (token: string) => Promise<boolean>;
	/** Called with the login that it waits for. */
	onLogin?: (login: Promise<LoginResult>) => void;
	login: () => Promise<LoginResult>;
}

interface Refusal {
	failure: RequestFailure;
	since: number;
}

/**
 * What this process knows of one account: its token, the login in flight, what was refused, and its limiter. n8n asks
 * for a token once for each request that has none or a rejected one, thousands at a time; here they share one login.
 */
export class Session {
	readonly limiter = new AccountLimiter();
	/** The password and the latest tokens, which no error may show. */
	readonly secrets: Secrets;
	private accountSeal: string | undefined;
	private newest: { token: string; since: number; loginStartedAt: number } | undefined;
	private loginInFlight: Promise<LoginResult> | undefined;
	private readonly rejected = new Set<string>();
	private refusal: Refusal | undefined;
	private refusalByExecution = new WeakMap<object, Refusal>();
	/** The wait of all that leave the login to another process. */
	private waiting: Promise<void> | undefined;
	private readonly nextChecks = new Map<string, Promise<boolean>>();
	private lastCheck: Promise<unknown> = Promise.resolve();

	constructor(readonly account: Account) {
		this.secrets = new Secrets(account);
	}

	get isIdle(): boolean {
		return this.loginInFlight === undefined && this.limiter.isIdle;
	}

	/** A token as it is stored in the credential (see seal.ts). */
	seal(token: string): string {
		this.accountSeal ??= sealOf(this.account);
		return `${this.accountSeal}.${token}`;
	}

	/** The token in what is stored; undefined if there is none, or it is another account's. */
	unseal(stored: unknown): string | undefined {
		const token = tokenOf(stored);
		return token !== undefined && stored === this.seal(token) ? token : undefined;
	}

	/**
	 * Gets a token with as few logins as possible:
	 * - While a login is in flight, all wait for it.
	 * - The newest token or the stored one is taken, unless it was rejected.
	 * - A refused login stays refused for a while, and a wrong password for the execution that has tried it.
	 * - Otherwise, this logs in.
	 */
	async token(asker: Asker): Promise<LoginResult> {
		const { execution, lastAnswer, signal } = asker;
		if (this.loginInFlight === undefined || lastAnswer !== undefined) {
			const token = await this.knownToken(asker);
			if (token !== undefined) return { token };
			const failure = lastAnswer ?? this.refusalFor(execution);
			if (failure !== undefined) return { failure };
			const { refusal } = this;
			if (refusal !== undefined && isWithin(REFUSAL_HOLDS_MS, refusal.since)) {
				return this.rememberRefusal(refusal, execution);
			}
			if (signal?.aborted === true) return { failure: { kind: 'cancelled', sent: false } };
		}
		const login = (this.loginInFlight ??= this.startLogin(asker.login));
		asker.onLogin?.(login);
		const result = await login;
		const isRefused = 'failure' in result && result.failure === this.refusal?.failure;
		return isRefused ? this.rememberRefusal(result, execution) : result;
	}

	/** Why an execution must not log in again, if so. */
	refusalFor(execution: object | undefined): RequestFailure | undefined {
		const refusal = execution && this.refusalByExecution.get(execution);
		if (refusal === undefined) return undefined;
		const holds =
			mayBeWrongPassword(refusal.failure) ||
			isWithin(REFUSAL_HOLDS_FOR_EXECUTION_MS, refusal.since);
		return holds ? refusal.failure : undefined;
	}

	/** Stops waiting for a login. The next one that needs a token starts another. */
	giveUp(login: unknown): void {
		if (this.loginInFlight === login) this.loginInFlight = undefined;
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

	/** Whether a token is the newest one, by a login that began at this time or later (ms since 1970). */
	wasFetchedSince(token: string, time: number): boolean {
		return this.newest?.token === token && this.newest.loginStartedAt >= time;
	}

	/**
	 * Asks the service whether it accepts a token, once for all that ask before the question is sent. A question that
	 * was sent earlier could have been answered before a request was rejected.
	 */
	async isAccepted(token: string, check: () => Promise<boolean>): Promise<boolean> {
		let result = this.nextChecks.get(token);
		if (result === undefined) {
			result = this.lastCheck.then(async () => {
				this.nextChecks.delete(token);
				const accepted = await check();
				if (!accepted) this.reject(token);
				return accepted;
			});
			this.nextChecks.set(token, result);
			this.lastCheck = result;
		}
		return await result;
	}

	/** A token that needs no login; if another process is probably logging in, this waits for its token. */
	private async knownToken(asker: Asker): Promise<string | undefined> {
		const { isRenewal, rejections = 0, lastAnswer, storedToken, isAccepted } = asker;
		const isGood = async (token: string) => isAccepted === undefined || (await isAccepted(token));
		for (let reads = 0; ; reads += 1) {
			const { newest } = this;
			const mayTakeNewest = isRenewal || isWithin(NEW_TOKEN_MS, newest?.since);
			if (mayTakeNewest && this.isUsable(newest?.token) && (await isGood(newest.token)))
				return newest.token;
			const stored = await storedToken?.();
			if (this.isUsable(stored)) {
				this.remember(stored);
				return stored;
			}
			// Another one may have come in the meantime.
			if (this.newest !== newest) continue;
			const maxReads = lastAnswer === undefined ? Number(this.wasRejectedEarly) : STORE_READS;
			if (storedToken === undefined || reads >= maxReads) return undefined;
			await this.waitForOtherProcess(rejections);
		}
	}

	/** All wait together, so that one of them logs in for the others. */
	private async waitForOtherProcess(rejections: number): Promise<void> {
		const shortest = MIN_WAIT_MS + Math.random() * WAIT_JITTER_MS;
		this.waiting ??= wait(shortest * 2 ** Math.min(rejections, MAX_DOUBLINGS)).finally(() => {
			this.waiting = undefined;
		});
		await this.waiting;
	}

	private get wasRejectedEarly(): boolean {
		const { newest } = this;
		return (
			newest !== undefined &&
			this.rejected.has(newest.token) &&
			isWithin(NEW_TOKEN_MS, newest.since)
		);
	}

	private startLogin(login: () => Promise<LoginResult>): Promise<LoginResult> {
		const startedAt = Date.now();
		const inFlight = login()
			.then((result) => {
				if ('token' in result) {
					this.remember(result.token, startedAt);
					this.refusal = undefined;
					this.refusalByExecution = new WeakMap();
				} else if (!mayRetry(result.failure, { idempotent: true })) {
					this.refusal = { failure: result.failure, since: Date.now() };
				}
				return result;
			})
			.finally(() => this.giveUp(inFlight));
		return inFlight;
	}

	private remember(token: string, loginStartedAt = -Infinity): void {
		// A service may give the same token again.
		this.rejected.delete(token);
		this.secrets.add(token);
		this.newest = { token, since: Date.now(), loginStartedAt };
	}

	private rememberRefusal({ failure }: Pick<Refusal, 'failure'>, execution?: object): LoginResult {
		if (execution !== undefined) {
			this.refusalByExecution.set(execution, { failure, since: Date.now() });
		}
		return { failure };
	}
}

const sessions = new Map<string, Session>();

/**
 * The session of a credential's account. If there are too many, the least recently used one is forgotten, if possible
 * an idle one.
 *
 * @throws ServiceError if the Base URL can't be used
 */
export function sessionOf(credentials: ICredentialDataDecryptedObject): Session {
	const account = accountOf(credentials);
	const { address, userName, password, ignoreSslIssues } = account;
	const key = JSON.stringify([address, userName, password, ignoreSslIssues]);
	const session = sessions.get(key) ?? new Session(account);
	sessions.delete(key);
	if (sessions.size >= MAX_SESSIONS) {
		const [oldest = ''] = sessions.keys();
		const idle = [...sessions].find(([, other]) => other.isIdle);
		sessions.delete(idle?.[0] ?? oldest);
	}
	sessions.set(key, session);
	return session;
}

/**
 * Whether the service may have refused the user name or the password. The interface doesn't show how it does that: by
 * any status of 400 to 499, except those for an address without a login.
 */
function mayBeWrongPassword(failure: RequestFailure): boolean {
	return failure.kind === 'status' && failure.status < 500 && ![404, 405].includes(failure.status);
}

/** Whether `since` is less than `ms` ago; false if it is undefined, or the clock went back. */
function isWithin(ms: number, since = Infinity): boolean {
	const age = Date.now() - since;
	return age >= 0 && age < ms;
}
