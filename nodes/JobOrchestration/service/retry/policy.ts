import { backoffMs } from '../timers';
import {
	type CallState,
	type Condition,
	type Consequence,
	type Decision,
	NOTHING_KNOWN,
	type Refusal,
} from './facts';

/** When a failed call is sent again. A call that isn't idempotent is, only if the service certainly hasn't acted on it. */
export const RETRY = {
	/** The meaning of an unexpected answer. The first line with its status applies, or `OTHERWISE`. */
	statuses: [
		['429', { condition: 'throttled', mayHaveActed: false }],
		['401', { condition: 'answered', mayHaveActed: false, token: 'rejected' }],
		['404', { condition: 'answered', mayHaveActed: false, notFoundBy: 'service' }],
		['405 409 410 422', { condition: 'answered', mayHaveActed: false }],
		['408 500 506-519', { condition: 'failed', mayHaveActed: true, token: 'suspect' }],
		['307 308 400-498', { condition: 'answered', mayHaveActed: false, token: 'suspect' }],
		['502-504 520-599', { condition: 'unavailable', mayHaveActed: true }],
		['200-299', { condition: 'answered', mayHaveActed: true, token: 'suspect' }],
	] as Array<[statuses: string, means: Consequence]>,
	/** With Retry-After, these mean that the service hasn't acted, unless the body is a web page: that is a proxy's. */
	throttledIfRetryAfter: '400 402-499 503',
	/** The service doesn't accept the call: it is sent again after a backoff, for as long as its patience lasts. */
	whileNotAccepted: ['unreachable', 'loginFailed', 'throttled'] as Condition[],
	/** After these, a call is sent again after a backoff, up to Max Request Retries times. */
	afterBackoff: ['failed', 'unavailable', 'broken', 'timedOut', 'n8nFailed'] as Condition[],
	/** After these, a failed login is made again, as a call that waits for it. Any other failure of a login fails the call. */
	loginAgain: ['throttled', 'unavailable', 'unreachable', 'broken', 'n8nFailed'] as Condition[],
	/** A wait that doubles each time, reduced by a random share of up to `jitter`. A Retry-After replaces it if it is longer. */
	backoff: { firstMs: 300, maxMs: 30_000, jitter: 0.5 },
	/** How long a call waits in all while the service accepts no calls. A Retry-After that is longer fails it at once. */
	patienceMs: 70_000,
	/** The same if the service accepts other calls meanwhile, so that a namespace that is full for a while fails nothing. */
	patienceAloneMs: 240_000,
	/**
	 * After this time, a call of a tool sends nothing more, in all tries of Retry On Fail: MCP clients usually give up a call
	 * after a minute, and call again.
	 */
	toolLimitMs: 45_000,
	/** The longest backoff while the service accepts no calls, and the longest Retry-After for which all calls of the account wait. */
	sharedMs: 5_000,
	/** The waits if a token of this age at most gets 401, though a health check accepts it: a replica may not know it yet. */
	newToken: { maxAgeMs: 10_000, waitsMs: [1_000, 2_000, 3_000, 4_000] },
	/** The waits if a job isn't found that this execution has just created: a replica may not know it yet. */
	newJob: { waitsMs: [500, 1_000, 1_500, 2_000] },
	/** The waits if a proxy may have answered 404, as it does while the service is rolled out. */
	maybeOutage: { waitsMs: [1_000, 2_000, 4_000, 8_000, 8_000] },
	/** How often a call is sent, in addition to Max Request Retries. Of 343,000 simulated calls, none needed more than 30. */
	maxAttempts: 40,
};
const OTHERWISE: Consequence = { condition: 'unclear', mayHaveActed: true, token: 'suspect' };

const isIn = (ranges: string, status: number) =>
	ranges.split(' ').some((range) => +range.slice(0, 3) <= status && status <= +range.slice(-3));

/** The meaning of an unexpected answer. A login has no effect, so it waits for any Retry-After but a 401's. */
export function consequenceOf(answer: Refusal, isLogin = false): Consequence {
	const { status, retryAfterMs, form, mayBePage, saysRefused } = answer;
	const canWait = isLogin ? status !== 401 : isIn(RETRY.throttledIfRetryAfter, status);
	if (canWait && mayBePage !== true && retryAfterMs !== undefined)
		return { condition: 'throttled', mayHaveActed: false, retryAfterMs };
	const means = RETRY.statuses.find(([list]) => isIn(list, status))?.[1] ?? OTHERWISE;
	const mayBeByProxy = means.notFoundBy !== undefined && form !== 'json';
	return {
		...{ ...means, retryAfterMs },
		...(mayBeByProxy && { notFoundBy: 'service or proxy' }),
		...(saysRefused === true && { mayHaveActed: false }),
	};
}

const FAIL: Decision = { do: 'fail' };
const sendAgain = (afterMs: number | undefined): Decision =>
	afterMs === undefined ? FAIL : { do: 'send again', afterMs };

/** Whether a call may be sent again after a failure that isn't about its token. */
export function mayResend({ condition, mayHaveActed }: Consequence, isIdempotent: boolean) {
	const isResent = [...RETRY.whileNotAccepted, ...RETRY.afterBackoff].includes(condition);
	return isResent && (isIdempotent || !mayHaveActed);
}

/** What to do about a failed call. It changes nothing, and says the same if it is asked twice. */
export function next(failure: Consequence, call: Readonly<CallState>): Decision {
	const decision = nextIfInTime(failure, call);
	const isTooLate = decision.do === 'send again' && decision.afterMs >= call.remainingMs;
	return isTooLate ? FAIL : decision;
}

function nextIfInTime(failure: Consequence, call: Readonly<CallState>): Decision {
	const { condition, token, notFoundBy, mayHaveActed, retryAfterMs = 0 } = failure;
	if (call.attempts >= RETRY.maxAttempts + call.maxRetries) return FAIL;
	const mayBeOutage = notFoundBy === 'service or proxy' && call.wasAnswered;
	if (call.cause === undefined && (token || mayBeOutage)) return { do: 'check health' };
	// After a health check that was sent before the call, the limiter decides, unless the check didn't reach the service.
	if (call.isHealthCheck && !NOTHING_KNOWN.includes(condition)) return sendAgain(0);
	if (call.cause === 'token') return mayHaveActed && !call.isIdempotent ? FAIL : sendAgain(0);
	if (token === 'rejected' && call.tokenAgeMs <= RETRY.newToken.maxAgeMs)
		return sendAgain(RETRY.newToken.waitsMs[call.tokenRejections]);
	if (call.cause === 'maybe outage') return sendAgain(RETRY.maybeOutage.waitsMs[call.notFounds]);
	if (notFoundBy && call.isOfNewJob) return sendAgain(RETRY.newJob.waitsMs[call.notFounds]);

	const isCounted = RETRY.afterBackoff.includes(condition);
	const patienceMs = call.isAlone ? RETRY.patienceAloneMs : call.patienceMs;
	const hasRetry = isCounted ? call.retries < call.maxRetries : call.waitedMs < patienceMs;
	const isPatient = call.waitedMs + retryAfterMs <= patienceMs;
	if (!mayResend(failure, call.isIdempotent) || !hasRetry || !isPatient) return FAIL;
	const earlier = isCounted ? call.retries : call.waits;
	const isShared = !isCounted && !call.isAlone;
	const maxMs = isShared ? RETRY.sharedMs : RETRY.backoff.maxMs;
	const waitMs = backoffMs(earlier, { ...RETRY.backoff, maxMs }, call.random);
	return sendAgain(Math.max(waitMs, retryAfterMs));
}
