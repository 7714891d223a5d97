import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { AccountLimiter } from '../pace/limiter';
import type { RequestFailure } from '../errors/failure';
import { mayRetry } from '../errors/retryPolicy';
import { wait } from '../request/timers';
import { Secrets } from '../errors/secrets';
import type { Account } from './account';
import { sealOf, tokenOf } from './account';
import type { Helpers, LoginResult } from './login';
import { isAccepted, login, mayBeWrongPassword } from './login';
import type { TrackedRequest } from './trackedRequest';

/** How long a token is new. With more, n8n's test of a credential could get an old token, and would be no login. */
const NEW_TOKEN_MS = 5_000;

/** How long a refused login isn't repeated. With less, executions that start together could lock the account. */
const REFUSAL_HOLDS_MS = 5_000;

/** The same within an execution. With less, each try of Retry On Fail (five, 5 s apart) would log in again. */
const REFUSAL_HOLDS_FOR_EXECUTION_MS = 30_000;

/** The wait for another process's token. Without jitter and growth, processes would go on ending each other's tokens. */
const MIN_WAIT_MS = 50;
const JITTER_MS = 200;
const MAX_DOUBLINGS = 4;

/** Reads of the stored token before a request is given up. With fewer, another process's slow login would be missed. */
const STORE_READS = 3;

/** Tokens that are known as rejected. With fewer, an old one that is stored could be sent again. */
const MAX_REJECTED = 50;

/** A request of this node, as far as the credential has to know it. */
export interface OwnRequest {
	session: Session;
	tracked: TrackedRequest;
	/** The same object for all requests of an execution. */
	execution: object;
	/** How often its tokens were rejected. */
	rejections: number;
	/** The answer to its last try. If it is there, no login may follow, and this is the failure. */
	lastAnswer: RequestFailure | undefined;
	/** Called each time it is sent. */
	onSent: () => void;
	/** Reads the stored credential again. */
	readAgain: () => Promise<ICredentialDataDecryptedObject>;
}

/** By the credentials object, made for each request: n8n passes nothing else to the credential. */
export const ownRequests = new WeakMap<object, OwnRequest>();

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
	private readonly rejected = new Set<string>();
	private loginInFlight: Promise<LoginResult> | undefined;
	private refusal: Refusal | undefined;
	private refusalByExecution = new WeakMap<object, Refusal>();
	/** The wait of all that leave the login to another process. */
	private waiting: Promise<void> | undefined;
	private lastCheck: Promise<unknown> = Promise.resolve();
	private readonly nextChecks = new Map<string, Promise<boolean>>();

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

	/**
	 * Gets a token with as few logins as possible: all wait for a login in flight, the newest or the stored token is taken
	 * unless it was rejected, and a refused login stays refused for a while.
	 *
	 * @param isRenewal whether any token will do that was not rejected; else one that is new
	 * @param own undefined for another node
	 */
	async token(helpers: Helpers, isRenewal: boolean, own?: OwnRequest): Promise<LoginResult> {
		const { lastAnswer, execution, tracked } = own ?? {};
		if (this.loginInFlight === undefined || lastAnswer !== undefined) {
			const token = await this.knownToken(helpers, isRenewal, own);
			if (token !== undefined) return { token };
			if (lastAnswer !== undefined) return { failure: lastAnswer };
			const refusal = this.refusalFor(execution);
			if (refusal !== undefined) return refusal;
			if (tracked?.signal.aborted === true) return { failure: { kind: 'cancelled', sent: false } };
		}
		const inFlight = (this.loginInFlight ??= this.startLogin(helpers));
		if (tracked !== undefined) Object.assign(tracked, { waitsFor: 'login', login: inFlight });
		const result = await inFlight;
		if (result === this.refusal && execution !== undefined) {
			this.refusalByExecution.set(execution, this.refusal);
		}
		return result;
	}

	/** Why no login may start, at all or for this execution. */
	refusalFor(execution: object = this): Refusal | undefined {
		const refusal = this.refusalByExecution.get(execution);
		if (
			mayBeWrongPassword(refusal?.failure) ||
			isWithin(REFUSAL_HOLDS_FOR_EXECUTION_MS, refusal?.since)
		) {
			return refusal;
		}
		return isWithin(REFUSAL_HOLDS_MS, this.refusal?.since) ? this.refusal : undefined;
	}

	/** Stops waiting for a login: the next caller starts another one. */
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

	/** Whether a token is the newest one, and its login began at this time (ms since 1970) or later. */
	wasFetchedSince(token: string, time: number): boolean {
		return this.newest?.token === token && this.newest.loginStartedAt >= time;
	}

	/**
	 * Asks the service whether it accepts a token, once for all that ask before the question is sent: the answer to an earlier
	 * question may be older than a rejection.
	 */
	async accepts(helpers: Helpers, token: string): Promise<boolean> {
		let check = this.nextChecks.get(token);
		if (check === undefined) {
			check = this.lastCheck.then(async () => {
				this.nextChecks.delete(token);
				const accepted = await isAccepted(helpers, this.account, token);
				if (!accepted) this.reject(token);
				return accepted;
			});
			this.nextChecks.set(token, check);
			this.lastCheck = check;
		}
		return await check;
	}

	/** A token that needs no login. If another process has probably logged in, this waits until its token is stored. */
	private async knownToken(
		helpers: Helpers,
		isRenewal: boolean,
		own: OwnRequest | undefined,
	): Promise<string | undefined> {
		for (let reads = 0; ; reads += 1) {
			const { newest } = this;
			if (this.isUsable(newest?.token) && (isRenewal || isWithin(NEW_TOKEN_MS, newest.since))) {
				// The node's own request finds out by itself.
				if (own !== undefined || (await this.accepts(helpers, newest.token))) return newest.token;
			}
			const stored = own && (await this.storedToken(own));
			if (this.isUsable(stored)) {
				this.remember(stored);
				return stored;
			}
			// Another one may have come in the meantime.
			if (this.newest !== newest) continue;
			const wasEnded = !this.isUsable(newest?.token) && isWithin(NEW_TOKEN_MS, newest?.since);
			const maxReads = own?.lastAnswer === undefined ? Number(wasEnded) : STORE_READS;
			if (own === undefined || reads >= maxReads) return undefined;
			await this.waitForOtherProcess(own.rejections);
		}
	}

	private async storedToken({ tracked, readAgain }: OwnRequest): Promise<string | undefined> {
		tracked.waitsFor = 'n8n';
		const { accessToken } = await readAgain();
		tracked.waitsFor = 'login';
		return this.unseal(accessToken);
	}

	/** All wait together, so that one of them logs in for the others. */
	private async waitForOtherProcess(rejections: number): Promise<void> {
		const waitMs = MIN_WAIT_MS + Math.random() * JITTER_MS;
		this.waiting ??= wait(waitMs * 2 ** Math.min(rejections, MAX_DOUBLINGS)).finally(() => {
			this.waiting = undefined;
		});
		await this.waiting;
	}

	private startLogin(helpers: Helpers): Promise<LoginResult> {
		const startedAt = Date.now();
		const inFlight = login(helpers, this)
			.then((result) => {
				if ('failure' in result) {
					if (mayRetry(result.failure, { idempotent: true })) return result;
					return (this.refusal = { ...result, since: Date.now() });
				}
				this.remember(result.token, startedAt);
				this.refusal = undefined;
				this.refusalByExecution = new WeakMap();
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
}

/** Whether `since` is less than `ms` ago; false if it is undefined, or the clock went back. */
function isWithin(ms: number, since = Infinity): boolean {
	const age = Date.now() - since;
	return age >= 0 && age < ms;
}
