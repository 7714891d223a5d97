import { type Consequence, NO_ANSWER } from '../retry/facts';
import { RETRY } from '../retry/policy';

/*
 * What is said of less and more was measured at simulated services, in virtual time.
 */

/**
 * Requests in flight at first, and the first rate per second. With 5, the others wait five times as long (29 s) for 15 items
 * that are always throttled; with 20, a service that works on ten at once leaves eleven jobs uncertain in place of three.
 */
const INITIAL_LIMIT = 10;
/** Requests in flight at most. With 50, some services are used half; with 200, one n8n takes most connections of a service. */
export const MAX_LIMIT = 100;
/**
 * Growth of the concurrency limit by an answer. With 0.1, 300 jobs of 5 s each take 75 s in place of 45 s; with 1, a service
 * that breaks all but 20 connections leaves 18 jobs uncertain in place of 1.
 */
const INCREASE = 0.3;
/** The same once a request got no answer. With 0.1, that service leaves 8 jobs uncertain; with 0.003, nothing changes. */
const SLOW_INCREASE = 0.01;
/**
 * Requests in flight while n8n is idle for fewer milliseconds an answer. With 2, a busy n8n takes half as long again; with 8,
 * a service that falls silent leaves four more jobs uncertain.
 */
const BUSY_LIMIT = 4;
/**
 * What is left of a limit that proved too high. With 0.5, 600 jobs take 55 s in place of 21 s if a tenth is throttled by
 * chance; with 0.85, at a service that takes two a second, 430 requests are sent again in place of 80.
 */
const DECREASE = 0.7;
/**
 * Growth of the rate by an answer at most, and in a second once a mistake had a cost. With 1.05, 500 jobs beside 100 that are
 * always throttled take 540 s in place of 41 s; with 1.2, at a service that takes two a second, 370 are sent again, not 80.
 */
const GROWTH = 1.1;
/**
 * Growth of the rate in a second at most. With 1.5, a service that takes 500 a second is found out in 12 s in place of 7 s;
 * with 6, one that takes 100 a second throttles 150 of 3,000 requests in place of 90.
 */
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

	/** A request failed. If the service may have acted on it without an answer, that lowers the limit, once for all in flight. */
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

	/** A request failed. If the service takes fewer requests a second, that lowers the rate, once for all in flight. */
	failed({ condition, retryAfterMs = 0 }: Consequence, startedAt: number, now: number): void {
		const isUnavailable = condition === 'unavailable';
		const isThrottled = condition === 'throttled' && retryAfterMs <= RETRY.sharedMs;
		if ((!isUnavailable && !isThrottled) || startedAt < this.decreasedAt) return;
		if (this.value < Infinity && (isUnavailable || retryAfterMs > 0)) this.growth = GROWTH;
		this.value = this.value === Infinity ? INITIAL_LIMIT : Math.max(1, DECREASE * this.value);
		this.changedAt = this.decreasedAt = now;
	}
}
