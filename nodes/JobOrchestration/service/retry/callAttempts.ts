import type { CallCounts, CallState, Consequence, Decision } from './facts';
import { next, RETRY } from './policy';

/** The facts about one attempt that the retry policy needs. */
type AttemptFacts = Pick<
	CallState,
	'isHealthCheck' | 'othersAreAnswered' | 'remainingMs' | 'wasAnswered' | 'tokenAgeMs' | 'cause'
>;

/** Counts the attempts of one call for the retry policy. */
export class CallAttempts {
	/**
	 * How often the call was sent. An attempt that failed because of its token counts only if the call isn't sent again.
	 */
	timesSent = 0;
	private readonly counts: CallCounts = {
		attempts: 0,
		retries: 0,
		waits: 0,
		tokenRejections: 0,
		notFounds: 0,
		waitedMs: 0,
	};

	constructor(
		private readonly call: { idempotent: boolean },
		private readonly options: { maxRetries: number; patienceMs?: number | undefined },
	) {}

	/** Whether the call's token was rejected before although the service accepts it. */
	get wasRejected(): boolean {
		return this.counts.tokenRejections > 0;
	}

	/**
	 * Asks the retry policy what to do after an attempt, and counts the attempt. If a health check has to find the cause
	 * first, the attempt isn't counted yet.
	 */
	decide(consequence: Consequence, facts: AttemptFacts): Decision {
		const { call, counts, options } = this;
		const decision = next(consequence, {
			...{ ...counts, attempts: counts.attempts + 1, ...facts, random: Math.random() },
			isIdempotent: call.idempotent,
			maxRetries: options.maxRetries,
			patienceMs: options.patienceMs ?? RETRY.patienceMs,
		});
		const sleepMs = decision.do === 'send again' ? decision.afterMs : undefined;
		if (decision.do !== 'check health') this.count(consequence, facts, sleepMs);
		return decision;
	}

	/**
	 * @param sleepMs how long the call waits before it is sent again, in milliseconds; undefined if it isn't sent again
	 */
	private count(
		{ condition, token, notFoundBy }: Consequence,
		{ isHealthCheck, cause }: AttemptFacts,
		sleepMs: number | undefined,
	): void {
		const { counts } = this;
		counts.attempts += 1;
		const isOwn = cause !== 'token' && (!isHealthCheck || condition === 'n8nFailed');
		if (isOwn && RETRY.afterBackoff.includes(condition)) counts.retries += 1;
		if (isHealthCheck) return;
		if (cause !== 'token' || sleepMs === undefined) this.timesSent += 1;
		if (cause === 'call' && token === 'rejected') counts.tokenRejections += 1;
		if (notFoundBy !== undefined) counts.notFounds += 1;
		if (!RETRY.whileNotAccepted.includes(condition)) return;
		counts.waits += 1;
		counts.waitedMs += sleepMs ?? 0;
	}
}
