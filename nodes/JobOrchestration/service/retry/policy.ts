import { backoffMs } from '../timers';
import {
	type CallState,
	type Condition,
	type Consequence,
	type Decision,
	NOTHING_KNOWN,
	type Reason,
} from './facts';

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
	whileNotAccepted: ['unreachable', 'loginFailed', 'unavailable', 'throttled'] as Condition[],
	/** The conditions after which such a call is sent again after a backoff, up to Max Request Retries times. */
	afterBackoff: ['failed', 'broken', 'timedOut', 'n8nFailed'] as Condition[],
	/**
	 * The conditions of a failed login after which the call that waits for it is sent again, which repeats the login.
	 * After any other failure of a login, the call fails.
	 */
	loginAgain: ['throttled', 'unavailable', 'unreachable', 'broken', 'n8nFailed'] as Condition[],
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
	/** How many more tokens one call uses. Four are enough if several processes end each other's tokens. */
	maxMoreTokens: 4,
	/**
	 * The waits of a call whose token may not be valid yet, since a replica of the service may not know the token yet, or
	 * may have a clock that is slow.
	 */
	lagWaitsMs: [1_000, 2_000, 3_000, 4_000],
	/** The wait before a call is sent again whose token was rejected although the service accepts it in other requests. */
	confirmMs: 1_000,
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

/** Decides whether a call may be sent again with the same token. */
export function mayResend({ condition, mayHaveActed }: Consequence, isIdempotent: boolean) {
	const isResent = [...RETRY.whileNotAccepted, ...RETRY.afterBackoff].includes(condition);
	return isResent && (isIdempotent || !mayHaveActed);
}

/** Decides whether a failed call may be sent again with another token. */
export const mayChangeToken = ({ mayHaveActed, isSuccess }: Consequence, isIdempotent: boolean) =>
	isIdempotent || (!mayHaveActed && isSuccess !== true);

const FAIL: Decision = { do: 'fail' };

/**
 * Decides what to do about a failed call. It has no side effects, and its decision depends on nothing but the arguments
 * and, for the length of a backoff, on chance. If it lets a call fail whose token is rejected or suspect, the session
 * judges the token, and the decision is made again with its verdict.
 */
export function next(failure: Consequence, call: CallState): Decision {
	const { condition, retryAfterMs = 0 } = failure;
	const { isIdempotent, maxRetries, othersAreAnswered, patienceMs, resends, verdict, waitedMs } =
		call;
	const again = (because: Reason, afterMs: number): Decision =>
		afterMs < call.remainingMs ? { do: 'send again', because, afterMs } : FAIL;
	const againWithBackoff = (because: 'failure' | 'wait', maxMs: number) => {
		const backoff = backoffMs(resends[because], { ...RETRY.backoff, maxMs });
		return again(because, Math.max(backoff, retryAfterMs));
	};

	const timesResent = Object.values(resends).reduce((sum, count) => sum + count);
	if (timesResent >= RETRY.maxResends + maxRetries) return FAIL;
	// A health check has failed in place of the call. The rate limiter decides how long the call waits for the next one.
	// If the check says nothing about the service, the rules below apply to it.
	if (call.isHealthCheck && !NOTHING_KNOWN.includes(condition)) return again('check', 0);
	if (verdict !== undefined) {
		if (!mayChangeToken(failure, isIdempotent)) return FAIL;
		if (verdict === 'replaced')
			return resends.token < RETRY.maxMoreTokens ? again('token', 0) : FAIL;
		if (verdict === 'not valid yet') return again('lag', RETRY.lagWaitsMs[resends.lag] ?? Infinity);
		return verdict === 'accepted since' ? again('confirm', RETRY.confirmMs) : FAIL;
	}
	if (!mayResend(failure, isIdempotent)) return FAIL;
	const mostMs = othersAreAnswered ? RETRY.patienceIfOthersAreAnsweredMs : patienceMs;
	if (RETRY.afterBackoff.includes(condition)) {
		const mayRetry = resends.failure < maxRetries && retryAfterMs <= mostMs;
		return mayRetry ? againWithBackoff('failure', RETRY.backoff.maxMs) : FAIL;
	}
	if (waitedMs >= mostMs || waitedMs + retryAfterMs > mostMs) return FAIL;
	return againWithBackoff('wait', othersAreAnswered ? RETRY.backoff.maxMs : RETRY.sharedMs);
}
