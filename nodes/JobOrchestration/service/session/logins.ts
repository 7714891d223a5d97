import { type Failure, meaningOf } from '../errors/kinds';
import { consequenceOf, mayResend } from '../retry/policy';
import { isWithin } from '../timers';
import type { AttemptOptions } from './attempt';
import { COUNTS_MS, type HealthChecks } from './healthCheck';
import { type Helpers, login, type Sender, type TokenResult } from './login';
import type { Tokens } from './tokens';

/** Logins in a row whose tokens are not accepted. With one, a token that another process has ended would fail requests. */
const MAX_LOGINS = 2;

/** The logins of one account: one at a time, not too many, and none again that was refused. */
export class Logins {
	/** Logins since the service accepted a token. */
	unaccepted = 0;
	/** Logins of which each came within a minute of the one before. */
	recent = 0;
	private current: Promise<TokenResult> | undefined;
	private refusal: { failure: Failure; at: number } | undefined;
	/** Why there is no token, by the executions that know of it; by their runs if the service may not have answered. */
	private failures = new WeakMap<object, Failure>();

	constructor(
		private readonly sender: Sender,
		private readonly tokens: Tokens,
		private readonly health: HealthChecks,
	) {}

	/** A login, which all share that want one at the same time. It goes on if nobody waits for it any more. */
	async logIn(helpers: Helpers): Promise<TokenResult> {
		this.current ??= this.logInOnce(helpers).finally(() => (this.current = undefined));
		return await this.current;
	}

	/** The same, unless a login was just refused, or the service has accepted none of the tokens of the last logins. */
	async logInUnlessRefused(helpers: Helpers): Promise<TokenResult> {
		const failure = this.knownFailure();
		if (failure !== undefined) return { failure };
		this.forgetOld();
		if (this.unaccepted >= MAX_LOGINS) return { failure: { kind: 'noToken', status: 401 } };
		return await this.logIn(helpers);
	}

	/** After a minute without a login, the next ones are the first again. */
	forgetOld(): void {
		if (!this.tokens.isRecent()) this.unaccepted = this.recent = 0;
	}

	/** Notes for the execution of an attempt why it gets no token, unless another attempt may get one. */
	noteFailure(failure: Failure, { run }: AttemptOptions): void {
		if (isFinal(failure)) this.failures.set('status' in failure ? run.execution : run, failure);
	}

	/** Why no login may be made; undefined if one may. One that ran out of time may be tried again with more of it. */
	knownFailure({ run, timeout = 0 }: Partial<AttemptOptions> = {}): Failure | undefined {
		const known = run && (this.failures.get(run.execution) ?? this.failures.get(run));
		const hasMoreTime = known?.kind === 'timeout' && timeout > (known.after ?? Infinity);
		const isOver = known?.kind === 'noToken' && !this.tokens.isRecent();
		if (known !== undefined && !hasMoreTime && !isOver) return known;
		return isWithin(COUNTS_MS, this.refusal?.at) ? this.refusal?.failure : undefined;
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
		// The address is right if the service has answered there before. It may be away.
		const mayBeAway =
			failure.kind === 'status' && consequenceOf(failure).notFoundBy === 'service or proxy';
		if (mayBeAway && this.health.wasAnswered && (await this.health.check(helpers, '')) === 'away') {
			return { failure: { ...failure, cause: 'outage' } };
		}
		if ('status' in failure && isFinal(failure)) this.refusal = { failure, at };
		return result;
	}
}

/** Whether an execution doesn't ask for a token again: to wait once for a login without an answer is enough. */
const isFinal = (failure: Failure) =>
	(failure.ofLogin === true || failure.kind === 'noToken') && !mayResend(meaningOf(failure), true);
