import type { Consequence } from '../errors/rules';
import type { Change, Permit } from './breaker';
import { CircuitBreaker, INITIAL_LIMIT } from './breaker';

/** The unit of rates. Over less time, a burst that the service allows once would be taken for its rate. */
const SECOND_MS = 1_000;
/** Requests in flight at most. With more, one n8n could take all connections of a service. */
export const MAX_LIMIT = 100;
/** Milliseconds that n8n is idle per answer. With less, more requests would only block its event loop. */
const MIN_IDLE_MS = 10;
/** Idle milliseconds per answer that tell a busy n8n. With more, services that answer so quickly would wait for n8n. */
const BUSY_MS = 3;
/** Requests in flight while n8n is busy. More would gain no time, and leave more jobs uncertain if the service fails. */
const BUSY_LIMIT = 4;
/** Factor of a limit that proved too high. With less, each mistake would cost half of the throughput. */
const DECREASE = 0.7;
/** Growth of the rate per second in slow start. With less, it would take too long to find a high limit. */
const SLOW_START = 3;
/** Growth of a limit per round or second. With more, requests would be throttled again at once. */
const INCREASE = 0.1;

/**
 * Limits the requests in flight (AIMD). Each round of as many answers raises the limit by half (slow start), until answers
 * take twice as long as usual or requests are lost; if it doubled, more would be lost. From then on it grows slowly.
 */
class ConcurrencyLimit {
	limit = INITIAL_LIMIT;
	private growth = 1.5;
	/** The mean time of an answer in the latest round with few requests in flight. */
	private usual = 0;
	private round = { time: 0, count: 0, isFull: false };
	private decreasedAt = -Infinity;

	answered(time: number, isFull: boolean): void {
		const { round } = this;
		round.time += time;
		round.count += 1;
		round.isFull ||= isFull;
		if (round.count < this.limit) return;
		const mean = round.time / round.count;
		if (this.limit <= INITIAL_LIMIT) this.usual = mean;
		const isBusy = mean < BUSY_MS;
		const isUseful = mean > MIN_IDLE_MS || this.limit < (isBusy ? BUSY_LIMIT : INITIAL_LIMIT);
		if (mean > 2 * this.usual) {
			this.growth = Math.min(this.growth, 1 + INCREASE);
			this.change(DECREASE);
		} else if (isBusy && this.limit > BUSY_LIMIT) this.change(DECREASE);
		else this.change(round.isFull && isUseful ? this.growth : 1);
	}

	/** A request got no clear answer. That may leave a job uncertain, so the limit grows even more slowly. */
	lost(startedAt: number, now: number): void {
		if (startedAt < this.decreasedAt) return;
		this.decreasedAt = now;
		this.growth = 1 + INCREASE ** 2;
		this.change(DECREASE);
	}

	private change(factor: number): void {
		this.limit = Math.min(Math.max(this.limit * factor, 1), MAX_LIMIT);
		this.round = { time: 0, count: 0, isFull: false };
	}
}

/**
 * Limits the requests per second (AIMD): a token bucket without burst. The first throttling sets the limit to what was
 * accepted in the last second. It is tripled each second (slow start) until that proves too high.
 */
class RateLimit {
	value = Infinity;
	private growth = 1;
	private grownAt = 0;
	/** When requests last went on after a wait, which said nothing about the rate. */
	resumedAt = -Infinity;
	nextAt = 0;
	private acceptedAt: number[] = [];

	started(now: number): void {
		const spacing = SECOND_MS / this.value;
		// Timers are late by a millisecond or two, which must not lower the rate.
		this.nextAt = Math.max(this.nextAt, now - Math.max(spacing / 5, 2)) + spacing;
	}

	accepted(now: number): void {
		if (this.acceptedAt.push(now) > 2 * SECOND_MS) this.acceptedAt.splice(0, SECOND_MS);
		// A time without requests says nothing about the rate either.
		const elapsed = Math.min(now - Math.max(this.grownAt, this.resumedAt), SECOND_MS);
		this.value *= this.growth ** (elapsed / SECOND_MS);
		this.grownAt = now;
		// Timers can't keep to less than a millisecond.
		if (this.value > SECOND_MS) this.value = Infinity;
	}

	startSlowly(): void {
		this.growth = SLOW_START;
	}

	/** @param mayBeChance whether the service neither asks all to wait nor leaves a job uncertain */
	throttled(now: number, mayBeChance: boolean): void {
		const accepted = this.acceptedAt.filter((at) => at >= now - SECOND_MS).length;
		if (this.value === Infinity) {
			this.value = Math.max(accepted, INITIAL_LIMIT);
			this.grownAt = now;
			this.startSlowly();
		} else if (!mayBeChance || this.value > 2 * accepted) {
			const perSecond = accepted / Math.min(1, (now - this.resumedAt) / SECOND_MS);
			this.value = Math.max(1, DECREASE * Math.min(this.value, perSecond));
			this.growth = 1 + INCREASE;
		} else this.value *= 1 - INCREASE / 2;
	}
}

/** When the next request of an account may start: arithmetic without timers, which is told the time in milliseconds. */
export class Pace {
	readonly concurrency = new ConcurrencyLimit();
	readonly breaker = new CircuitBreaker();
	rate = new RateLimit();
	inFlight = 0;
	endedAt = -Infinity;

	/** Milliseconds until the next request may start, if more than 0; Infinity during a probe. */
	delay(now: number, isCreate: boolean): number {
		return Math.max(this.breaker.delay(now, isCreate), this.rate.nextAt - now);
	}

	/** @param idle how long n8n has been idle in all: while it is busy, answers wait for n8n, not for the service */
	start(now: number, idle: number, isCreate: boolean): Permit {
		this.inFlight += 1;
		this.rate.started(now);
		return this.breaker.start(now, idle, isCreate);
	}

	end(permit: Permit, consequence: Consequence, now: number, idle: number): Change {
		const { condition, retryAfterMs = 0 } = consequence;
		const isFull = this.inFlight + 1 > this.concurrency.limit;
		this.inFlight -= 1;
		this.endedAt = now;
		const isLost = ['timedOut', 'broken', 'unavailable'].includes(condition) && permit.probe === 0;
		if (isLost) this.concurrency.lost(permit.startedAt, now);
		if ((condition === 'answered' || condition === 'failed') && !permit.isQuestion) {
			this.concurrency.answered(idle - permit.idleBefore, isFull);
			this.rate.accepted(now);
		}
		const wasLong = this.breaker.isLong(now);
		const change = this.breaker.end(permit, consequence, now);
		if (change === 'opened' && (condition === 'throttled' || condition === 'unavailable')) {
			this.rate.throttled(now, condition === 'throttled' && retryAfterMs === 0);
		}
		if (change === 'closed') {
			// The long waits concerned one request each, so they say nothing about the rate.
			if (wasLong) this.rate = new RateLimit();
			this.rate.resumedAt = now;
		}
		return change;
	}
}
