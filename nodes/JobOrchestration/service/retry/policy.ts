import type { Attempts, Condition, Consequence, Decision, Refusal } from './facts';
import { ANSWERED, FAILED, THROTTLED, UNAVAILABLE, UNCLEAR } from './facts';
import { backoffMs } from '../timers';

const suspect = (means: Consequence): Consequence => ({ ...means, token: 'suspect' });

/** When a failed call is sent again. One that isn't idempotent is, only if the service certainly hasn't acted on it. */
export const RETRY = {
	/** What an answer means that isn't the expected one: the first line with its status, else `suspect(UNCLEAR)`. */
	statuses: [
		['429', THROTTLED],
		['401', { ...ANSWERED, token: 'rejected' }],
		['404', { ...ANSWERED, notFound: 'not there' }],
		['405 409 410 422', ANSWERED],
		['408 500 506-519', suspect(FAILED)],
		['307 308 400-498', suspect(ANSWERED)],
		['502-504 520-599', UNAVAILABLE],
		['200-299', suspect({ ...UNCLEAR, condition: 'answered' })],
	] as Array<[statuses: string, means: Consequence]>,
	/** THROTTLED, too, with Retry-After and without a web page: proxies send such pages also after the service has acted. */
	notNow: '400 402-499 503',
	/** After these, a call is sent again as soon as the rate limiter permits it, within `patienceMs`. */
	atOnce: ['unreachable', 'loginFailed', 'throttled'] as Condition[],
	/** After these, a call is sent again after Retry-After or a backoff, up to Max Request Retries times. */
	afterBackoff: ['failed', 'unavailable', 'broken', 'timedOut', 'n8nFailed'] as Condition[],
	/** After these, a login is made again. Any other failure of a login is the call's, and isn't repeated. */
	login: ['throttled', 'unavailable', 'unreachable', 'broken', 'n8nFailed'] as Condition[],
	/** A wait that doubles each time. Chance takes off up to `jitter` of it. */
	backoff: { firstMs: 300, maxMs: 30_000, jitter: 0.5 },
	/** How long a call waits for a service that accepts none. A longer Retry-After fails the call at once. */
	patienceMs: 70_000,
	/** Up to this Retry-After, all calls of the account wait, in the rate limiter; after a longer one, the call by itself. */
	sharedMs: 5_000,
	/** A call that is throttled while others are answered waits by itself: `firstMs` times n squared. */
	alone: { firstMs: 50, maxMs: 60_000, patienceMs: 240_000 },
	/** The waits if a token is rejected that a health check accepts, while it is new: a replica may not know it yet. */
	newToken: { untilMs: 10_000, waitsMs: [1_000, 2_000, 3_000, 4_000] },
	/** The waits if a job isn't found that this execution has just created, for the same reason. */
	newJob: { waitsMs: [500, 1_000, 1_500, 2_000] },
	/** The waits after a 404 that isn't the service's own, perhaps: it may be being rolled out. */
	perhapsAway: { waitsMs: [1_000, 2_000, 4_000, 8_000] },
	/** How often a call is sent at most, beside Max Request Retries. Of 343,000 simulated calls, none needed more than 30. */
	maxAttempts: 40,
};

const isIn = (ranges: string, status: number) =>
	ranges.split(' ').some((range) => +range.slice(0, 3) <= status && status <= +range.slice(-3));

/** What an answer means that isn't the expected one. A login never acts: it waits whenever its answer asks for that. */
export function consequenceOf(answer: Refusal, isLogin = false): Consequence {
	const { status, retryAfterMs, form, isPage } = answer;
	const isNotNow = isPage !== true && (isIn(RETRY.notNow, status) || (isLogin && status !== 401));
	if (isNotNow && retryAfterMs !== undefined) return { ...THROTTLED, retryAfterMs };
	const means = RETRY.statuses.find(([list]) => isIn(list, status))?.[1] ?? suspect(UNCLEAR);
	const mayBeAway = means.notFound !== undefined && form !== 'json';
	return { ...means, retryAfterMs, ...(mayBeAway && { notFound: 'mayBeAway' }) };
}

const FAIL: Decision = { do: 'fail' };
const sendAgain = (afterMs: number | undefined): Decision =>
	afterMs === undefined ? FAIL : { do: 'send again', afterMs };

/** Whether a call may be sent again after a failure that isn't about its token. */
export function mayResend({ condition, mayHaveActed }: Consequence, isIdempotent: boolean) {
	const isResent = RETRY.atOnce.includes(condition) || RETRY.afterBackoff.includes(condition);
	return isResent && (isIdempotent || !mayHaveActed);
}

/** What to do about a failed call. It changes nothing, and says the same if it is asked twice. */
export function next(failure: Consequence, call: Readonly<Attempts>): Decision {
	const { condition, token, notFound, mayHaveActed, retryAfterMs } = failure;
	if (call.sent >= RETRY.maxAttempts + call.maxRetries) return FAIL;
	const isUnexplained = token !== undefined || (notFound === 'mayBeAway' && call.wasAnswered);
	if (isUnexplained && call.cause === undefined) return { do: 'check health' };
	// Whatever the service says, the call waits for it with all others.
	if (call.isHealthCheck === true && !['unknown', 'n8nFailed'].includes(condition))
		return sendAgain(0);
	if (call.cause === 'token') return mayHaveActed && !call.isIdempotent ? FAIL : sendAgain(0);

	const isNewToken = token === 'rejected' && call.tokenAgeMs <= RETRY.newToken.untilMs;
	if (isNewToken) return sendAgain(RETRY.newToken.waitsMs[call.rejected]);
	if (call.cause === 'perhaps an outage')
		return sendAgain(RETRY.perhapsAway.waitsMs[call.notFound]);
	if (notFound && call.isOfNewJob) return sendAgain(RETRY.newJob.waitsMs[call.notFound]);

	const patienceMs = call.isAlone ? RETRY.alone.patienceMs : call.patienceMs;
	if (!mayResend(failure, call.isIdempotent) || (retryAfterMs ?? 0) > patienceMs) return FAIL;
	if (condition === 'throttled')
		return call.waitedMs < patienceMs ? sendAgain(ownWaitMs(failure, call)) : FAIL;
	if (RETRY.atOnce.includes(condition)) return sendAgain(0);
	const waitMs = retryAfterMs ?? backoffMs(call.failed, RETRY.backoff, call.random);
	return call.failed < call.maxRetries ? sendAgain(waitMs) : FAIL;
}

/** For how long a throttled call waits by itself. */
function ownWaitMs({ retryAfterMs = 0 }: Consequence, { isAlone, throttled }: Attempts): number {
	const { firstMs, maxMs } = RETRY.alone;
	if (isAlone) return Math.max(retryAfterMs, Math.min(firstMs * throttled ** 2, maxMs));
	return retryAfterMs > RETRY.sharedMs ? retryAfterMs : 0;
}
