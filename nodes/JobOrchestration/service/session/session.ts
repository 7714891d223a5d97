import { type Failure, mayRetry, withoutServiceText } from '../errors/failure';
import { failureFromError } from '../errors/fromError';
import type { TokenDoubt } from '../errors/meaning';
import { Secrets } from '../errors/secrets';
import { AccountLimiter } from '../pace/limiter';
import { backoffMs, isWithin, unlessAborted, wait } from '../timers';
import { type Account, hashOf, tokenOf } from './account';
import { type Helpers, login, type TokenResult } from './login';
import { Question } from './question';
import type { Sending, SendingOptions } from './sending';

/** How long a token is young. With less, a user who isn't allowed something (403) would log in each time. */
const YOUNG_MS = 60_000;

/** The wait for another process's token. Without jitter and growth, processes would go on ending each other's tokens. */
const WAITS = { firstMs: 500, maxMs: 4_000, jitter: 0.8 };

/** Waits once logins don't help any more. With fewer, another process's slow login would be missed. */
const MAX_WAITS = 3;

/** Logins in a row without an accepted token. With one, a token that is overwritten in n8n's store would fail requests. */
const MAX_UNACCEPTED_LOGINS = 2;

/** How long a refused login isn't repeated. With less, executions that start together could lock the account. */
const HOLDS_MS = 5_000;

/** Tokens that are known as rejected. With fewer, an old one that is stored could be sent again. */
const MAX_REJECTED = 50;

/** Of a request that isn't sent, since the last tokens were rejected when other requests were sent with them. */
const NO_TOKEN = withoutServiceText({ kind: 'status', status: 401 });

/** What this process knows of one account: its limiter, and the token that all its requests share, and so the login. */
export class Session {
	readonly limiter = new AccountLimiter();
	/** The password and the latest tokens, which no error may show. */
	readonly secrets: Secrets;
	readonly question: Question;
	newest: string | undefined;
	private hash: string | undefined;
	private readonly rejected = new Set<string>();
	/** The token of the last login, and when it came, in ms since 1970. The age of other tokens is unknown. */
	lastLogin: { token: string; at: number } | undefined;
	/** Logins since a request was answered as expected. */
	unacceptedLogins = 0;
	/** What all requests without a token wait for: the search for another token, with the login if that finds none. */
	private renewal: Promise<TokenResult | undefined> | undefined;
	private login: Promise<TokenResult> | undefined;
	private refused: { failure: Failure; at: number } | undefined;
	/** Failed logins by the executions that were told; by their runs if the service may not have answered. */
	private told = new WeakMap<object, Failure>();

	constructor(readonly account: Account) {
		this.secrets = new Secrets(account);
		this.question = new Question(this);
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

	/** Takes the token in what is stored for the newest, if it may be used: another process may have stored it. */
	noteStored(stored: unknown): void {
		// It may be another account's.
		this.secrets.add(tokenOf(stored));
		const token = this.fromStored(stored);
		if (token !== undefined) this.remember(token);
	}

	/**
	 * Whether the service accepts a token that got an answer with a doubt, or one that isn't known: then that answer is about
	 * the request itself. A token that it doesn't accept is never used again.
	 */
	async accepts(helpers: Helpers, token: string, doubt?: TokenDoubt): Promise<boolean> {
		if (this.rejected.has(token)) return false;
		const isYoung = token === this.lastLogin?.token && isWithin(YOUNG_MS, this.lastLogin.at);
		// A list that is public or comes from a cache would keep a dead token alive for ever: an old one's rejection is believed.
		const isClear = doubt === (isYoung ? 'doubtful' : 'rejected');
		const said = isClear ? doubt : await this.question.about(helpers, token, doubt);
		if (said === undefined || (said === 'doubtful' && isYoung)) {
			this.unacceptedLogins = 0;
			return true;
		}
		this.rejected.add(token);
		const [oldest = ''] = this.rejected;
		if (this.rejected.size > MAX_REJECTED) this.rejected.delete(oldest);
		if (this.newest === token) this.newest = undefined;
		return false;
	}

	/** The newest token, or one that all look for together. @param sending undefined for another node, which logs in */
	async token(helpers: Helpers, sending?: Sending): Promise<TokenResult> {
		if (sending !== undefined && this.newest !== undefined) return { token: this.newest };
		const known = this.knownFailure(sending?.options);
		if (known !== undefined) return { failure: known };
		const renewal = (this.renewal ??= this.findOrLogIn(helpers, sending)
			// Without a failure, those that wait would take its request for a stopped one, and search again at once, for ever.
			.catch((error: unknown) => {
				const redact = (text: string) => this.secrets.redact(text);
				return { failure: failureFromError(error, { isUnsent: true, redact }) };
			})
			.finally(() => {
				if (this.renewal === renewal) this.renewal = undefined;
			}));
		const found = await unlessAborted(renewal, sending?.signal).catch(() => undefined);
		const failure = found === undefined ? sending?.failure : undefined;
		// It is left to those that still wait for it: the next request begins another one.
		if (failure?.kind === 'timeout' && this.renewal === renewal) {
			this.renewal = undefined;
			this.login = undefined;
		}
		const result = found ?? (failure && { failure });
		// Another request was stopped before it could log in for all.
		if (result === undefined) return await this.token(helpers, sending);
		if (sending !== undefined && 'failure' in result && isFinal(result.failure)) {
			const { run } = sending.options;
			this.told.set('status' in result.failure ? run.execution : run, result.failure);
		}
		return result;
	}

	/** A login, which all share that want one at the same time. */
	async logIn(helpers: Helpers): Promise<TokenResult> {
		const attempt: Promise<TokenResult> = (this.login ??= login(helpers, this).then((result) => {
			if (this.login === attempt) this.login = undefined;
			const at = Date.now();
			if ('token' in result) {
				this.remember(result.token);
				this.lastLogin = { ...result, at };
				this.refused = undefined;
				this.told = new WeakMap();
			} else if ('status' in result.failure && isFinal(result.failure)) {
				this.refused = { ...result, at };
			}
			return result;
		}));
		return await attempt;
	}

	/** @returns undefined if the request was stopped before there was a login */
	private async findOrLogIn(helpers: Helpers, sending?: Sending): Promise<TokenResult | undefined> {
		if (!isWithin(YOUNG_MS, this.lastLogin?.at)) this.unacceptedLogins = 0;
		// Else other processes are logging in, too, and each login ends the token before it.
		const mayLogIn = this.unacceptedLogins < MAX_UNACCEPTED_LOGINS;
		const waits = mayLogIn ? Math.min(this.rejected.size, 1) : MAX_WAITS;
		const token = sending && (await this.look(sending, waits));
		if (token !== undefined) return { token };
		if (sending?.signal.aborted === true) return undefined;
		const result = mayLogIn ? await this.logIn(helpers) : { failure: NO_TOKEN };
		if ('token' in result) this.unacceptedLogins += 1;
		if (!mayLogIn) this.refused = { failure: NO_TOKEN, at: Date.now() };
		return result;
	}

	/** Looks for a token that another process has stored, or that came by a login meanwhile. */
	private async look({ options, signal }: Sending, maxWaits: number): Promise<string | undefined> {
		for (let waits = 0; ; waits += 1) {
			// An error of n8n comes again for each request before it is sent.
			const read = unlessAborted(options.readAgain(), signal).catch(() => undefined);
			this.noteStored((await read)?.accessToken);
			if (this.newest !== undefined || waits === maxWaits) return this.newest;
			await wait(backoffMs(waits, WAITS), signal);
		}
	}

	/** Why no login may be made; undefined if one may. One that ran out of time may be tried again with more of it. */
	private knownFailure({ run, timeout = 0 }: Partial<SendingOptions> = {}): Failure | undefined {
		const told = run && (this.told.get(run.execution) ?? this.told.get(run));
		const hasMoreTime = told?.kind === 'timeout' && timeout > (told.after ?? Infinity);
		if (told !== undefined && !hasMoreTime) return told;
		return isWithin(HOLDS_MS, this.refused?.at) ? this.refused?.failure : undefined;
	}

	private remember(token: string): void {
		// A service may give the same token again.
		this.rejected.delete(token);
		this.secrets.add(token);
		this.newest = token;
	}
}

/** Whether a login failed in a way that isn't repeated: to wait once for one without an answer is enough. */
const isFinal = (failure: Failure) =>
	failure.ofLogin === true && !mayRetry(failure, { idempotent: true });
