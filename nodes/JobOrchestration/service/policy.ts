import type { ClientRun, RequestOptions } from './request';
import { backoffMs } from './timers';

/**
 * What the outcome of a request says about the service: from whom it comes, and why a call is then sent again, if it may
 * be (`mayRepeat`).
 *
 * - `wait`: The service accepts no request, or not this one. The call waits until it does or its patience ends.
 * - `failure`: The request failed. The call is repeated up to Max Request Retries times.
 */
export const CONDITIONS = {
	/** The service responded: as expected, with another success, with a redirect (304, 307, 308) or with a refusal. */
	answered: { from: 'service', resend: undefined },
	/** The service asks the client to send the request later. */
	throttled: { from: 'service', resend: 'wait' },
	/** The service responded that it failed. */
	failed: { from: 'service', resend: 'failure' },
	/** The service responded, but the response doesn't show what the service did. */
	unclear: { from: 'service', resend: undefined },
	/** A proxy responded that it got no response from the service. */
	unavailable: { from: 'proxy', resend: 'wait' },
	/** No connection was made, or it broke while the node logged in. */
	unreachable: { from: 'nobody', resend: 'wait' },
	/** The connection broke before the response was complete. */
	broken: { from: 'nobody', resend: 'failure' },
	/** No response arrived in time. */
	timedOut: { from: 'nobody', resend: 'failure' },
	/** n8n failed before it sent the request. */
	n8nFailed: { from: 'n8n', resend: 'failure' },
	/** The request itself was not sent, or was cancelled, so its end says nothing about the service. */
	noOutcome: { from: 'n8n', resend: undefined },
} as const;

export type Condition = keyof typeof CONDITIONS;

/** The conclusions that follow from the outcome of a request. */
export interface Consequence {
	condition: Condition;
	/**
	 * Whether the service may have acted on the request without saying so. It is false only if the service certainly
	 * hasn't.
	 */
	mayHaveActed: boolean;
	/**
	 * Set if the status code says that the request succeeded. A call that isn't idempotent is then not sent again by this
	 * run, even if the body says that the service refused it.
	 */
	isSuccess?: true;
	/**
	 * `rejected` if the response says that the service doesn't accept the token; `suspect` if the request may have failed
	 * because the service doesn't accept it.
	 */
	token?: 'rejected' | 'suspect' | undefined;
	/** The wait that the service asks for, in milliseconds; undefined if it asks for none. */
	retryAfterMs?: number | undefined;
	/** Set if the failure concerns the credential or the connection, so that it would affect every item. */
	isAboutAllItems?: true;
}

/** The outcome of a request that the service has answered, and has certainly not acted on without saying so. */
export const ANSWERED: Consequence = { condition: 'answered', mayHaveActed: false };

/** What follows from unexpected responses. The first row that lists the status code applies, or else `OTHERWISE`. */
const STATUSES: Array<[statuses: string, consequence: Consequence]> = [
	['429', { condition: 'throttled', mayHaveActed: false }],
	['401', { condition: 'answered', mayHaveActed: false, token: 'rejected' }],
	['404 405 409 410 413 422', { condition: 'answered', mayHaveActed: false }],
	['304', { condition: 'answered', mayHaveActed: true }],
	['408', { condition: 'failed', mayHaveActed: true }],
	['500 506-519', { condition: 'failed', mayHaveActed: true, token: 'suspect' }],
	['307 308 400-498', { condition: 'answered', mayHaveActed: false, token: 'suspect' }],
	['502-504 520-599', { condition: 'unavailable', mayHaveActed: true }],
	['200-299', { condition: 'answered', mayHaveActed: true, isSuccess: true, token: 'suspect' }],
];
const OTHERWISE: Consequence = { condition: 'unclear', mayHaveActed: true, token: 'suspect' };

/**
 * The rules for sending a failed call again. A call that isn't idempotent is sent again only if the service certainly
 * hasn't acted on it.
 */
export const RETRY = {
	/**
	 * With a Retry-After, these status codes mean that the service doesn't accept the request now. They don't if the body
	 * may be a web page, because a web page comes from a proxy.
	 */
	throttledIfRetryAfter: '400 402-499 503',
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
	 * The longest backoff while the service accepts no calls, and the longest Retry-After that all calls of the account
	 * wait for, in milliseconds.
	 */
	sharedMs: 5_000,
	/**
	 * The maximum number of times that a call is sent again is this number plus Max Request Retries. Of 343,000 simulated
	 * calls, none needed more than 30.
	 */
	maxResends: 40,
};

/** Decides whether a list of numbers and ranges, such as '408 500-599', has a status code. */
export const isIn = (ranges: string, status: number) =>
	ranges.split(' ').some((range) => +range.slice(0, 3) <= status && status <= +range.slice(-3));

/**
 * Returns what follows from an unexpected response. A login has no side effects, so each Retry-After but that of a 401
 * counts as throttling, unless the body may be a web page.
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
	const consequence = STATUSES.find(([list]) => isIn(list, status))?.[1] ?? OTHERWISE;
	if (!canWait || mayBePage || retryAfterMs === undefined) return { ...consequence, retryAfterMs };
	// A 503 says that the service hasn't acted. A 408 or a 499 only says that the time was over.
	const mayHaveActed = status !== 503 && consequence.mayHaveActed;
	return { condition: 'throttled', mayHaveActed, retryAfterMs };
}

/** Decides whether a call may be sent twice, since it is idempotent or the service certainly hasn't acted on it. */
export const mayRepeat = ({ mayHaveActed, isSuccess }: Consequence, isIdempotent: boolean) =>
	isIdempotent || (!mayHaveActed && isSuccess !== true);

/** Decides whether a failed call may be sent again in another attempt. */
export const mayResend = (failure: Consequence, isIdempotent: boolean) =>
	CONDITIONS[failure.condition].resend !== undefined && mayRepeat(failure, isIdempotent);

/** Why a call is sent again, and after how many milliseconds. The rate limiter may delay it further. */
export interface Resend {
	because: 'failure' | 'wait';
	afterMs: number;
}

/** The facts about a call whose last attempt has failed. */
export interface CallState extends Pick<RequestOptions & ClientRun, 'maxRetries' | 'patienceMs'> {
	isIdempotent: boolean;
	/** How often the call was sent again, by reason. */
	resends: Readonly<Record<Resend['because'], number>>;
	/** How long the call has slept for the reason `wait`, in milliseconds. */
	waitedMs: number;
	/** How long the run of the call may still send requests, in milliseconds; Infinity if the run has no time limit. */
	remainingMs: number;
	/** Whether the service has answered other requests since it last throttled this call. */
	othersAreAnswered: boolean;
}

/**
 * Decides whether a call is sent again after a failed attempt; undefined if it fails. It has no side effects, and its
 * decision depends on nothing but the arguments and, for the length of a backoff, on chance.
 */
export function next(failure: Consequence, call: CallState): Resend | undefined {
	const { condition, retryAfterMs = 0 } = failure;
	const { isIdempotent, maxRetries, othersAreAnswered, resends, waitedMs } = call;
	const again = (because: Resend['because'], maxMs: number): Resend | undefined => {
		const backoff = backoffMs(resends[because], { ...RETRY.backoff, maxMs });
		const afterMs = Math.max(backoff, retryAfterMs);
		return afterMs < call.remainingMs ? { because, afterMs } : undefined;
	};

	if (resends.failure + resends.wait >= RETRY.maxResends + maxRetries) return undefined;
	if (!mayResend(failure, isIdempotent)) return undefined;
	const { patienceMs = RETRY.patienceMs } = call;
	const mostMs = othersAreAnswered ? RETRY.patienceIfOthersAreAnsweredMs : patienceMs;
	if (CONDITIONS[condition].resend === 'failure') {
		const mayRetry = resends.failure < maxRetries && retryAfterMs <= mostMs;
		return mayRetry ? again('failure', RETRY.backoff.maxMs) : undefined;
	}
	if (waitedMs >= mostMs || waitedMs + retryAfterMs > mostMs) return undefined;
	return again('wait', othersAreAnswered ? RETRY.backoff.maxMs : RETRY.sharedMs);
}
