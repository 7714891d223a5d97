import { type Consequence, NO_ANSWER } from '../retry/facts';
import { RETRY } from '../retry/policy';

/** Requests in flight at first, and the first rate per second. With more, a service that takes only a few at once would meet a crowd. */
const INITIAL_LIMIT = 10;
/** Requests in flight at most. With more, one n8n could take all connections of a service. */
export const MAX_LIMIT = 100;
/** Growth of the concurrency limit by an answer: a third for each round of answers. */
const INCREASE = 0.3;
/** The same once a request was lost. */
const SLOW_INCREASE = 0.01;
/** Requests in flight while n8n is busy. More would gain no time, and leave more jobs uncertain if the service fails. */
const BUSY_LIMIT = 4;
/** What is left of a limit that proved too high. With less, each mistake would cost half of the throughput. */
const DECREASE = 0.7;
/** Growth of the rate by an answer at most, and in a second once a mistake had a cost. */
const GROWTH = 1.1;
/** Growth of the rate in a second at most. With less, it would take too long to find a high limit. */
const QUICK_GROWTH = 3;

/** How many requests may be in flight: additive increase, multiplicative decrease, as in TCP. */
export class ConcurrencyLimit {
	value = INITIAL_LIMIT;
	/** Those that it counts. */
	inFlight = 0;
	private increase = INCREASE;
	/** The mean time of the latest answers, and of those when few requests were in flight. */
	private recentMs = 0;
	private usualMs = 0;
	private decreasedAt = -Infinity;

	get isFull(): boolean {
		return this.inFlight + 1 > this.value;
	}

	/** @param timeMs how long n8n was idle meanwhile: if it is busy, answers wait for n8n, not for the service */
	answered(timeMs: number): void {
		this.recentMs += (timeMs - this.recentMs) / (this.recentMs === 0 ? 1 : 2 * INITIAL_LIMIT);
		if (this.value <= 1.5 * INITIAL_LIMIT) this.usualMs = this.recentMs;
		const isBusy = this.recentMs < BUSY_LIMIT;
		const isSlow = this.recentMs > 2 * this.usualMs;
		const isUsed = 2 * this.inFlight > this.value;
		const most = isBusy ? BUSY_LIMIT : this.recentMs < INITIAL_LIMIT ? INITIAL_LIMIT : MAX_LIMIT;
		if (isBusy && this.value > most) this.value -= this.increase;
		else if (isUsed && !isSlow && this.value < most) this.value += this.increase;
	}

	/** A request failed; if nobody can tell whether the service acted on it, that lowers the limit, once for all in flight. */
	failed({ condition, mayHaveActed }: Consequence, startedAt: number, now: number): void {
		if (!mayHaveActed || !NO_ANSWER.includes(condition) || startedAt < this.decreasedAt) return;
		this.decreasedAt = now;
		this.increase = SLOW_INCREASE;
		this.value = Math.max(1, DECREASE * this.value);
	}
}

/** How many requests may start per second: a token bucket without burst. */
export class RateLimit {
	value = Infinity;
	/** When the next request may start. */
	nextAt = 0;
	private isUsed = false;
	private growth = QUICK_GROWTH;
	private changedAt = 0;
	private decreasedAt = -Infinity;

	started(now: number): void {
		const spacing = 1_000 / this.value;
		this.isUsed = now < this.nextAt + spacing;
		// Timers are late by a millisecond or two, which must not lower the rate.
		this.nextAt = Math.max(this.nextAt, now - Math.max(spacing / 5, 2)) + spacing;
	}

	answered(now: number): void {
		const growth = Math.min(GROWTH, this.growth ** ((now - this.changedAt) / 1_000));
		if (this.isUsed) this.value *= growth;
		this.changedAt = now;
	}

	/** A request failed; if the service can't take so many, that lowers the rate, once for all in flight. */
	failed({ condition, retryAfterMs = 0 }: Consequence, startedAt: number, now: number): void {
		const isUnavailable = condition === 'unavailable';
		const isThrottled = condition === 'throttled' && retryAfterMs <= RETRY.sharedMs;
		if ((!isUnavailable && !isThrottled) || startedAt < this.decreasedAt) return;
		if (this.value < Infinity && (isUnavailable || retryAfterMs > 0)) this.growth = GROWTH;
		this.value = this.value === Infinity ? INITIAL_LIMIT : Math.max(1, DECREASE * this.value);
		this.changedAt = this.decreasedAt = now;
	}
}
