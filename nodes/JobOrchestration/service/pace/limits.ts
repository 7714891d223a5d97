import { CONDITIONS, type Consequence, RETRY } from '../policy';

/**
 * The initial concurrency limit, in requests in flight. Measured with 5: 15 items that are always throttled delay the
 * other items by 13 s instead of 6 s. Measured with 20: a service that processes ten requests at once leaves eleven jobs
 * uncertain instead of three.
 */
const INITIAL_CONCURRENCY = 10;
/**
 * The first rate limit that is set, in requests per second. Measured with 5: 15 items that are always throttled delay the
 * other items by 12 s instead of 6 s. Measured with 20: 127 requests instead of 59 are sent again to a service that
 * accepts two requests per second.
 */
const INITIAL_RATE = 10;
/**
 * The mean response time in milliseconds below which the concurrency limit doesn't rise above its initial value. Measured
 * with 0: a service that stops responding for 20 s leaves 26 jobs uncertain instead of 17. Measured with 20: 3,000
 * executions of one item take 6 s instead of 1.4 s.
 */
const QUICK_MS = 10;
/**
 * The number of responses of which the mean response time is formed. Measured with 80: 32 requests instead of 23 are in
 * flight at a service that slows down.
 */
const MEAN_OF = 20;
/**
 * The concurrency limit up to which the mean response time is that with few requests in flight. Measured with 11: 600
 * requests that take 300 ms on average take 25 s instead of 14 s. Measured with 30: 49 requests instead of 23 are in
 * flight at a service that slows down.
 */
const FEW_IN_FLIGHT = 15;
/**
 * The maximum number of requests in flight. Measured with 50: some services are used at only half of their capacity.
 * Measured with 200: a single n8n takes most of the connections of a service.
 */
export const MAX_LIMIT = 100;
/**
 * The growth of the concurrency limit with each response. Measured with 0.1: 300 jobs of 5 s each take 75 s instead of
 * 45 s. Measured with 1: a service that breaks all but 20 connections leaves 18 jobs uncertain instead of 1.
 */
const INCREASE = 0.3;
/**
 * The growth of the concurrency limit with each response, once a request has got no response. Measured with 0.1: a
 * service that breaks all but 20 connections leaves 8 jobs uncertain. Measured with 0.003: nothing changes.
 */
const SLOW_INCREASE = 0.01;
/**
 * The concurrency limit while n8n is busy, in requests in flight. Measured with 2: a busy n8n takes one and a half times
 * as long. Measured with 8: a service that rejects requests without a Retry-After leaves four more jobs uncertain.
 */
const BUSY_LIMIT = 4;
/**
 * The idle time of n8n per response in milliseconds below which it is busy. Measured with 2: a service that stops
 * responding for 20 s leaves 23 jobs uncertain instead of 17. Measured with 8: nothing changes.
 */
const BUSY_MS = 4;
/**
 * The factor by which a limit is multiplied after a failure which shows that it is too high. Measured with 0.5: 600
 * jobs take 55 s instead of 21 s if a tenth of the requests is throttled at random. Measured with 0.85: 430 requests
 * instead of 80 are sent again to a service that accepts two requests per second.
 */
const DECREASE = 0.7;
/**
 * The maximum growth factor of the rate limit per response. It also becomes the maximum growth factor per second once a
 * failure under a rate limit has had a cost: a Retry-After, or a job that may exist. Measured with 1.05: 500 jobs take
 * 540 s instead of 41 s beside 100 jobs that are always throttled. Measured with 1.2: 370 requests instead of 80 are
 * sent again to a service that accepts two requests per second.
 */
const GROWTH = 1.1;
/**
 * The maximum growth factor of the rate limit per second. Measured with 1.5: the rate of a service that accepts 500
 * requests per second is found in 12 s instead of 7 s. Measured with 6: a service that accepts 100 requests per second
 * throttles 150 of 3,000 requests instead of 90.
 */
const QUICK_GROWTH = 3;

/** Limits how many requests are in flight. The limit increases additively and decreases multiplicatively, as in TCP. */
export class ConcurrencyLimit {
	value = INITIAL_CONCURRENCY;
	/** The requests in flight that count towards the limit. */
	inFlight = 0;
	private increase = INCREASE;
	/**
	 * The mean response time of the latest requests, and its value when few requests were in flight. Both are measured in
	 * milliseconds of n8n's idle time.
	 */
	private recentMs: number | undefined;
	private usualMs = 0;
	private decreasedAt = -Infinity;

	get isFull(): boolean {
		return this.inFlight + 1 > this.value;
	}

	/** Whether more than half of the limit is in use. Otherwise, a response doesn't show whether the limit is right. */
	private get isUsed(): boolean {
		return 2 * this.inFlight > this.value;
	}

	/**
	 * Adjusts the limit after a response.
	 *
	 * @param timeMs how long n8n was idle between the request and the response. The time that has passed is not used,
	 * because responses to a busy n8n wait for n8n and not for the service
	 */
	answered(timeMs: number): void {
		const { recentMs: beforeMs = timeMs } = this;
		const recentMs = beforeMs + (timeMs - beforeMs) / MEAN_OF;
		this.recentMs = recentMs;
		if (this.value <= FEW_IN_FLIGHT) this.usualMs = recentMs;
		const isBusy = recentMs < BUSY_MS;
		const isSlow = recentMs > 2 * this.usualMs;
		const most = isBusy ? BUSY_LIMIT : recentMs < QUICK_MS ? INITIAL_CONCURRENCY : MAX_LIMIT;
		if (isBusy && this.value > most) this.value -= this.increase;
		else if (this.isUsed && !isSlow && this.value < most) this.value += this.increase;
	}

	/**
	 * Lowers the limit if the service may have acted on a failed request and gave no response. Requests that are in
	 * flight at the same time lower it only once.
	 */
	failed({ condition, mayHaveActed }: Consequence, startedAt: number, now: number): void {
		const isUnanswered = mayHaveActed && ['nobody', 'proxy'].includes(CONDITIONS[condition].from);
		if (!isUnanswered || !this.isUsed || startedAt < this.decreasedAt) return;
		this.decreasedAt = now;
		this.increase = SLOW_INCREASE;
		this.value = Math.max(1, DECREASE * this.value);
	}
}

/** Limits how many requests start per second, as a token bucket without a burst. */
export class RateLimit {
	value = Infinity;
	/** The earliest time at which the next request may start. */
	nextAt = 0;
	private growth = QUICK_GROWTH;
	private changedAt = 0;
	private decreasedAt = -Infinity;

	started(now: number): void {
		const spacing = 1_000 / this.value;
		// Timers fire a millisecond or two late, and this delay must not lower the rate.
		this.nextAt = Math.max(this.nextAt, now - Math.max(spacing / 5, 2)) + spacing;
	}

	answered(now: number): void {
		const growth = Math.min(GROWTH, this.growth ** ((now - this.changedAt) / 1_000));
		this.value *= growth;
		this.changedAt = now;
	}

	/**
	 * Sets or lowers the limit if a failure shows that the service accepts fewer requests per second. Requests that are
	 * in flight at the same time do so only once.
	 */
	failed({ condition, retryAfterMs = 0 }: Consequence, startedAt: number, now: number): void {
		const isUnavailable = condition === 'unavailable';
		const isThrottled = condition === 'throttled' && retryAfterMs <= RETRY.sharedMs;
		if ((!isUnavailable && !isThrottled) || startedAt < this.decreasedAt) return;
		if (this.value < Infinity && (isUnavailable || retryAfterMs > 0)) this.growth = GROWTH;
		this.value = this.value === Infinity ? INITIAL_RATE : Math.max(1, DECREASE * this.value);
		this.changedAt = this.decreasedAt = now;
	}
}
