import { backoffMs } from '../timers';
import type { CallState, Condition, Consequence, Reason, Resend } from './facts';

/**
 * The rules for sending a failed call again. A call that isn't idempotent is sent again only if the service certainly
 * hasn't acted on it.
 */
export const RETRY = {
	/** The meanings of unexpected responses. The first entry that lists the status code applies, or else `OTHERWISE`. */
	statuses: [
		['429', { condition: 'throttled', mayHaveActed: false }],
		['401', { condition: 'answered', mayHaveActed: false, token: 'rejected' }],
		['404 405 409 410 413 422', { condition: 'answered', mayHaveActed: false }],
		['304', { condition: 'answered', mayHaveActed: true }],
		['408', { condition: 'failed', mayHaveActed: true }],
		['500 506-519', { condition: 'failed', mayHaveActed: true, token: 'suspect' }],
		['307 308 400-498', { condition: 'answered', mayHaveActed: false, token: 'suspect' }],
		['502-504 520-599', { condition: 'unavailable', mayHaveActed: true }],
		['200-299', { condition: 'answered', mayHaveActed: true, isSuccess: true, token: 'suspect' }],
	] as Array<[statuses: string, means: Consequence]>,
	/**
	 * With a Retry-After, these status codes mean that the service hasn't acted on the request. They don't if the body
	 * may be a web page, because a web page comes from a proxy.
	 */
	throttledIfRetryAfter: '400 402-499 503',
	/**
	 * The conditions in which the service doesn't accept a call. If the call may be sent again (`mayResend`), it is sent
	 * after a backoff until its patience is exhausted.
	 */
	untilPatienceEnds: ['unreachable', 'unavailable', 'throttled'] as Condition[],
	/** The conditions after which such a call is sent again after a backoff, up to Max Request Retries times. */
	upToMaxRetries: ['failed', 'broken', 'timedOut', 'n8nFailed'] as Condition[],
	/**
	 * The backoff, in milliseconds, which doubles each time and is reduced by a random share of up to `jitter`. A
	 * Retry-After replaces the backoff if it is longer.
	 */
	backoff: { firstMs: 300, maxMs: 30_000, jitter: 0.5 },
	/**
	 * How long a call waits in total while the service accepts no calls, in milliseconds. A call whose Retry-After would
	 * exceed this time fails at once.
	 */
	patienceMs: 70_000,
	/**
	 * The same limit if the service accepts other calls in the meantime. It is longer so that no call fails because a
	 * namespace is full for a while.
	 */
	patienceIfOthersAreAnsweredMs: 240_000,
	/**
	 * The time after which a call of a tool sends no more requests, in milliseconds. It covers all tries of Retry On
	 * Fail. MCP clients usually give up a call after a minute, and call again.
	 */
	toolLimitMs: 45_000,
	/**
	 * The longest backoff while the service accepts no calls, and the longest Retry-After that all calls of the account
	 * wait for, in milliseconds.
	 */
	sharedMs: 5_000,
	/**
	 * How long it is remembered that the service has answered, and what has been learnt about it, in milliseconds.
	 * Measured with one minute: the next batch sends 50 requests again instead of 16 to a service that accepts two
	 * requests per second.
	 */
	memoryMs: 3_600_000,
	/**
	 * The maximum number of times that a call is sent again is this number plus Max Request Retries. Of 343,000 simulated
	 * calls, none needed more than 30.
	 */
	maxResends: 40,
};
const OTHERWISE: Consequence = { condition: 'unclear', mayHaveActed: true, token: 'suspect' };

/** Decides whether a list of numbers and ranges, such as '408 500-599', has a status code. */
export const isIn = (ranges: string, status: number) =>
	ranges.split(' ').some((range) => +range.slice(0, 3) <= status && status <= +range.slice(-3));

/**
 * Returns what an unexpected response means. A login has no side effects, so each Retry-After but that of a 401 counts
 * as throttling, unless the body may be a web page.
 *
 * @param answer the response. `mayBePage` says whether its body may be a web page or a part of one, judging by its text
 * or its content type
 */
export function consequenceOf(
	answer: { status: number; retryAfterMs?: number | undefined; mayBePage?: boolean },
	isLogin = false,
): Consequence {
	const { status, retryAfterMs, mayBePage = false } = answer;
	const canWait = isLogin ? status !== 401 : isIn(RETRY.throttledIfRetryAfter, status);
	if (canWait && !mayBePage && retryAfterMs !== undefined)
		return { condition: 'throttled', mayHaveActed: false, retryAfterMs };
	const means = RETRY.statuses.find(([list]) => isIn(list, status))?.[1] ?? OTHERWISE;
	return { ...means, retryAfterMs };
}

/** Decides whether a call may be sent twice, since it is idempotent or the service certainly hasn't acted on it. */
export const mayRepeat = ({ mayHaveActed, isSuccess }: Consequence, isIdempotent: boolean) =>
	isIdempotent || (!mayHaveActed && isSuccess !== true);

/** Decides whether a failed call may be sent again in another attempt. */
export const mayResend = (failure: Consequence, isIdempotent: boolean) =>
	[...RETRY.untilPatienceEnds, ...RETRY.upToMaxRetries].includes(failure.condition) &&
	mayRepeat(failure, isIdempotent);

/**
 * Decides whether a call is sent again after a failed attempt; undefined if it fails. It has no side effects, and its
 * decision depends on nothing but the arguments and, for the length of a backoff, on chance.
 */
export function next(failure: Consequence, call: CallState): Resend | undefined {
	const { condition, retryAfterMs = 0 } = failure;
	const { isIdempotent, maxRetries, othersAreAnswered, resends, waitedMs } = call;
	const again = (because: Reason, maxMs: number): Resend | undefined => {
		const backoff = backoffMs(resends[because], { ...RETRY.backoff, maxMs });
		const afterMs = Math.max(backoff, retryAfterMs);
		return afterMs < call.remainingMs ? { because, afterMs } : undefined;
	};

	if (resends.failure + resends.wait >= RETRY.maxResends + maxRetries) return undefined;
	if (!mayResend(failure, isIdempotent)) return undefined;
	const { patienceMs = RETRY.patienceMs } = call;
	const mostMs = othersAreAnswered ? RETRY.patienceIfOthersAreAnsweredMs : patienceMs;
	if (RETRY.upToMaxRetries.includes(condition)) {
		const mayRetry = resends.failure < maxRetries && retryAfterMs <= mostMs;
		return mayRetry ? again('failure', RETRY.backoff.maxMs) : undefined;
	}
	if (waitedMs >= mostMs || waitedMs + retryAfterMs > mostMs) return undefined;
	return again('wait', othersAreAnswered ? RETRY.backoff.maxMs : RETRY.sharedMs);
}
