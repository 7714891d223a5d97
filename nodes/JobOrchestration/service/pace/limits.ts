/** Requests in flight at first. With more, a service that takes only a few at once would meet a crowd. */
export const INITIAL_LIMIT = 10;
/** Requests in flight at most. With more, one n8n could take all connections of a service. */
export const MAX_LIMIT = 100;
/** The unit of rates. Over less time, a burst that the service allows once would be taken for its rate. */
const SECOND_MS = 1_000;
/** Milliseconds that n8n is idle per answer. With less, more requests would only block its event loop. */
const MIN_IDLE_MS = 10;
/** Idle milliseconds per answer that tell a busy n8n. With more, services that answer so quickly would wait for n8n. */
const BUSY_MS = 3;
/** Requests in flight while n8n is busy. More would gain no time, and leave more jobs uncertain if the service fails. */
const BUSY_LIMIT = 4;
/** Factor of a limit that proved too high. With less, each mistake would cost half of the throughput. */
const DECREASE = 0.7;
/** The same if it may be chance. With less, a service that rejects some by chance would be sent ever fewer. */
const CHANCE_DECREASE = 0.96;
/** Growth of the rate per second in slow start. With less, it would take too long to find a high limit. */
const SLOW_START = 3;
/** Growth of a limit per round or second. With more, requests would be throttled again at once. */
const INCREASE = 0.1;

/** Ten requests at first; a round of quick answers raises that by half, up to 100; slow ones, and those without a clear answer, lower it (AIMD). */
export class ConcurrencyLimit {
	value = INITIAL_LIMIT;
	private growth = 1.5;
	/** The mean time of an answer in the latest round with few requests in flight. */
	private usual = 0;
	private round = { time: 0, count: 0, isFull: false };
	private decreasedAt = -Infinity;

	/** @param isFull whether as many requests as allowed were in flight */
	answered(time: number, isFull: boolean): void {
		const { round } = this;
		round.time += time;
		round.count += 1;
		round.isFull ||= isFull;
		if (round.count < this.value) return;
		const mean = round.time / round.count;
		if (this.value <= INITIAL_LIMIT) this.usual = mean;
		const isBusy = mean < BUSY_MS;
		const isUseful = mean > MIN_IDLE_MS || this.value < (isBusy ? BUSY_LIMIT : INITIAL_LIMIT);
		if (mean > 2 * this.usual) {
			this.growth = Math.min(this.growth, 1 + INCREASE);
			this.change(DECREASE);
		} else if (isBusy && this.value > BUSY_LIMIT) this.change(DECREASE);
		else this.change(round.isFull && isUseful ? this.growth : 1);
	}

	/** A request got no clear answer. That may leave a job uncertain, so the limit grows even more slowly. */
	unclear(startedAt: number, now: number): void {
		if (startedAt < this.decreasedAt) return;
		this.decreasedAt = now;
		this.growth = 1 + INCREASE ** 2;
		this.change(DECREASE);
	}

	private change(factor: number): void {
		this.value = Math.min(Math.max(this.value * factor, 1), MAX_LIMIT);
		this.round = { time: 0, count: 0, isFull: false };
	}
}

/**
 * Requests per second: a token bucket without burst, which has no limit at first. The first 429 sets the rate to what was
 * accepted in the last second; it then triples each second until it is too high, falls to what was accepted (0.7 of it at
 * most), and grows slowly.
 */
export class RateLimit {
	value = Infinity;
	/** When the next request may start. */
	nextAt = 0;
	private growth = 1;
	private grownAt = 0;
	private acceptedAt: number[] = [];

	started(now: number): void {
		const spacing = SECOND_MS / this.value;
		// Timers are late by a millisecond or two, which must not lower the rate.
		this.nextAt = Math.max(this.nextAt, now - Math.max(spacing / 5, 2)) + spacing;
	}

	accepted(now: number): void {
		if (this.acceptedAt.push(now) > 2 * SECOND_MS) this.acceptedAt.splice(0, SECOND_MS);
		// A time without requests says nothing about the rate.
		const elapsed = Math.min(now - this.grownAt, SECOND_MS);
		this.value *= this.growth ** (elapsed / SECOND_MS);
		this.grownAt = now;
		// Timers can't keep to less than a millisecond.
		if (this.value > SECOND_MS) this.value = Infinity;
	}

	growQuickly(): void {
		this.growth = SLOW_START;
	}

	/** @param mayBeChance whether the service neither asks all to wait nor leaves a job uncertain */
	throttled(now: number, mayBeChance: boolean): void {
		const accepted = this.acceptedAt.filter((at) => at >= now - SECOND_MS).length;
		if (this.value === Infinity) {
			this.value = Math.max(accepted, INITIAL_LIMIT);
			this.grownAt = now;
			this.growQuickly();
		} else if (!mayBeChance || this.value > 2 * accepted) {
			this.value = Math.max(1, Math.min(DECREASE * this.value, accepted));
			this.growth = 1 + INCREASE;
		} else this.value *= CHANCE_DECREASE;
	}
}
