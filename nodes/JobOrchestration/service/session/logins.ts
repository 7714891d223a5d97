import { type Failure, failureOf } from '../errors/failure';
import { mayResend } from '../retry/policy';
import { isWithin } from '../timers';
import type { AttemptOptions } from './attempt';
import { REUSE_MS } from './healthCheck';
import { type Helpers, login, type Sender, type TokenResult } from './login';
import type { Tokens } from './tokens';

/**
 * Maximum number of logins in a row whose tokens the service doesn't accept. More than one, so that requests don't fail
 * if another process has ended the token of the first login.
 */
const MAX_LOGINS = 2;

/**
 * The logins of one account. They are made one at a time, their number is limited, and a refused login is not repeated
 * at once.
 */
export class Logins {
	/** Number of successful logins since the service last accepted a token. */
	unaccepted = 0;
	/** Number of logins in a series in which each one starts within a minute of the last successful one. */
	recent = 0;
	private current: Promise<TokenResult> | undefined;
	private refusal: { failure: Failure; at: number } | undefined;
	/**
	 * Why there is no token. The key is the execution if the failure has a status code. Otherwise, the service may not
	 * have answered, and the key is the run.
	 */
	private failures = new WeakMap<object, Failure>();

	constructor(
		private readonly sender: Sender,
		private readonly tokens: Tokens,
	) {}

	/** Logs in. Concurrent callers share one login, which continues even if no caller waits for it any more. */
	async logIn(helpers: Helpers): Promise<TokenResult> {
		this.current ??= this.logInOnce(helpers).finally(() => (this.current = undefined));
		return await this.current;
	}

	/**
	 * Logs in, unless a login was refused within the last `REUSE_MS`, or the service has accepted none of the tokens of
	 * the last `MAX_LOGINS` logins.
	 */
	async logInUnlessRefused(helpers: Helpers): Promise<TokenResult> {
		const failure = this.knownFailure();
		if (failure !== undefined) return { failure };
		this.forgetOld();
		if (this.unaccepted >= MAX_LOGINS) return { failure: NO_TOKEN };
		return await this.logIn(helpers);
	}

	/** Resets the counters if the last successful login is more than a minute old. */
	forgetOld(): void {
		if (!this.tokens.isRecent()) this.unaccepted = this.recent = 0;
	}

	/**
	 * Records why an attempt got no token, so that its execution or run doesn't request one again. Only final failures
	 * are recorded.
	 */
	noteFailure(failure: Failure, { run }: AttemptOptions): void {
		if (isFinal(failure))
			this.failures.set(failure.httpStatus === null ? run : run.execution, failure);
	}

	/**
	 * Returns why no login may be made; undefined if a login may be made. A login that exceeded the Timeout of a request
	 * may be repeated by a request with a longer Timeout.
	 */
	knownFailure({ run, timeout = 0 }: Partial<AttemptOptions> = {}): Failure | undefined {
		const known = run && (this.failures.get(run.execution) ?? this.failures.get(run));
		const hasMoreTime = timeout > (known?.limitMs ?? Infinity);
		const isOver = known?.noToken === true && !this.tokens.isRecent();
		if (known !== undefined && !hasMoreTime && !isOver) return known;
		return isWithin(REUSE_MS, this.refusal?.at) ? this.refusal?.failure : undefined;
	}

	private async logInOnce(helpers: Helpers): Promise<TokenResult> {
		this.recent += 1;
		const result = await login(helpers, this.sender);
		const at = Date.now();
		if ('token' in result) {
			this.unaccepted += 1;
			this.tokens.use(result.token);
			this.tokens.issued = { ...result, at };
			this.refusal = undefined;
			this.failures = new WeakMap();
			return result;
		}
		const { failure } = result;
		if (failure.httpStatus !== null && isFinal(failure)) this.refusal = { failure, at };
		return result;
	}
}

/**
 * Decides whether a failure is final, so that no token is requested again. A login that timed out is final, too: one
 * wait for it is enough.
 */
const isFinal = (failure: Failure) =>
	(failure.ofLogin === true || failure.noToken === true) && !mayResend(failure, true);

/** The failure of a request for which no login is made. */
const NO_TOKEN = failureOf({
	title: 'The service rejected the token that it had just issued',
	advice:
		"The login works, but its token doesn't. Check the user's permissions, that the clocks of the service's machines agree, and that the 'Base URL' in the credential leads to one service, not to several that each issue their own tokens.",
	facts: ['The service has rejected the tokens of other requests.'],
	...{ httpStatus: 401, noToken: true, isAboutAllItems: true },
});
