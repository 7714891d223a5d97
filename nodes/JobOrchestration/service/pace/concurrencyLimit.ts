/** How many requests may be under way at once, at first and at most. */
export const FIRST_CONCURRENCY = 10;
export const MAX_CONCURRENCY = 100;

/** While it grows, each answer adds up to so many. A round is as many answers as the limit, so a round triples it. */
const GROWTH = 2;

/**
 * Answers that take so many milliseconds add all of GROWTH; quicker ones add less, since where they are quick ten at
 * once are already many, and a limit would be met by a crowd.
 */
const SLOW_ENOUGH = 60;

/** An answer that takes so many times as long as with few under way has queued; from SLOWER on, it may have. */
const QUEUED = 1.4;
const SLOWER = 1.25;

/** The part of a throughput that is as good as all of it, and one that shows that no answer waited. */
const SAME_THROUGHPUT = 0.85;
const LOWER_THROUGHPUT = 0.65;

/** A load so many times as high should get more done. */
const MORE_LOAD = 1.4;

/** More than the service works on, so that it never waits for a request. */
const HEADROOM_FACTOR = 1.5;
const HEADROOM = 5;

/** The fewest answers whose average says anything. */
const FEWEST = 20;

/** The part of its time that this process may be busy: beyond it, answers wait here, and not at the service. */
const BUSY = 0.85;

/**
 * How many the number grows to if this process is busy, and by how many with each answer: enough for the limiter to
 * let them begin in bursts (limiter.ts), in which n8n gets through requests in two thirds of the time.
 */
const ENOUGH_IF_BUSY = 24;
const GROWTH_IF_BUSY = 0.5;

/** Milliseconds after which it is looked at anew how many the service works on: at first, and at most. */
const FIRST_LOOK = 4_000;
const LAST_LOOK = 30_000;

/** A request that has ended. */
interface EndedRequest {
	/** Milliseconds that its answer took; undefined where that says nothing of the service's pace. */
	duration: number | undefined;
	/** For how many of them this process had nothing to do. */
	idle: number;
	/** How many were under way when it began, itself included. */
	load: number;
	/** Which one it was, in the order in which they began. */
	number: number;
}

/** What there is to know beside, when a request ends. */
interface Moment {
	now: number;
	/** The number of the request to begin next. */
	next: number;
	/** Whether as many are under way as may be. */
	isFull: boolean;
}

/** What was measured over some answers. */
interface Measurement {
	/** Milliseconds that an answer took at the service, on average. */
	duration: number;
	/** How many were under way meanwhile, on average. */
	load: number;
	/** Answers in a millisecond: by Little's law, the load by the time that an answer took in all. */
	throughput: number;
}

/**
 * How many requests a service is best sent at once: as many as it works on, and some more.
 *
 * What is observed is an average over as many answers as are under way: how long they took with how many under
 * way. Twice as many under way that take twice as long wait for one another; so do half as many that get as
 * much done. Comparing the same average under two loads tells a queue from answers that are slow by nature or
 * vary widely, which a comparison with the quickest answer can't (Netflix's Gradient2 left the minimum of Vegas
 * for averages, too).
 *
 * - At first the number is tripled with each round of answers (TCP's slow start, which doubles), by those
 *   that are no slower than usual; until more get no more done, or a hundred are under way.
 * - Where more get no more done, it is halved until less gets done (the "drain" of BBR). What an answer then takes
 *   is what it takes without waiting; times what gets done at most, that is how many the service works on.
 * - From there it follows that number, with half as many more (Gradient2). Where answers stay slower than that,
 *   it is halved again now and then, to see what has changed.
 * - While this process itself is busy almost all of the time, as it is where answers take next to no time, they
 *   wait here, and not at the service: then the number grows to two dozen, and stays as it is.
 *
 * It converges, because with a queue each round brings the number to what the service works on, times 1.5
 * and 5, whatever it was before, and without one each round takes it up by half, to the bound.
 */
export class ConcurrencyLimit {
	/** At most so many; not a whole number. */
	limit = FIRST_CONCURRENCY;

	private mode: 'growing' | 'halving' | 'following' = 'growing';
	/** Milliseconds that an answer takes without waiting, as far as that is known. */
	private unhindered = Infinity;
	/** The most that got done in a millisecond, when the halving began. */
	private best = 0;
	/** What was measured before, while the number grows. */
	private before: Measurement = { duration: 0, load: Infinity, throughput: 0 };
	/** Whether half as many got as much done. */
	private isCrowded = false;
	/** When answers last were as quick as without waiting, or the following began. */
	private quickAt = 0;
	private lookAfter = FIRST_LOOK;

	/** How many requests are observed, from the number `from` on; and how many of them have not ended. */
	private size = FEWEST;
	private left = FEWEST;
	private count = 0;
	private durations = 0;
	private loads = 0;
	private idle = 0;

	/** @param from the number of the next request */
	constructor(private from = 1) {}

	/** A request has ended. */
	ended({ duration, idle, load, number }: EndedRequest, { now, next, isFull }: Moment): void {
		if (number >= this.from && number < this.from + this.size) {
			this.left -= 1;
			if (duration !== undefined) {
				this.count += 1;
				this.durations += duration;
				this.loads += load;
				this.idle += idle;
			}
		}
		if (this.mode === 'growing' && isFull && duration !== undefined) this.grow(duration, idle);
		if (this.left > 0) return;
		if (this.count * 2 >= this.size) {
			const measured = {
				duration: this.durationAtService(),
				load: this.loads / this.count,
				throughput: this.loads / Math.max(this.durations, 1e-3),
			};
			// Where answers wait in this process, neither more under way would help nor fewer.
			if (!isBusy(this.idle, this.durations)) this.learn(measured, now, isFull);
			else if (this.mode === 'halving') this.follow(now);
		}
		this.observeFrom(next);
	}

	private grow(duration: number, idle: number): void {
		if (isBusy(idle, duration)) {
			if (this.limit < ENOUGH_IF_BUSY) this.set(this.limit + GROWTH_IF_BUSY);
			return;
		}
		const usual = Math.min(this.unhindered, this.count > 0 ? this.durationAtService() : Infinity);
		const growth = GROWTH * Math.min(1, duration / SLOW_ENOUGH) ** 2;
		if (atService(duration, idle) <= QUEUED * usual) this.set(this.limit + growth);
	}

	/** A request got no answer: half as many. */
	failed(number: number, next: number): void {
		if (number < this.from) return;
		// What an answer takes without waiting isn't known before some have come.
		if (this.unhindered < Infinity) this.mode = 'following';
		this.set(this.limit / 2);
		this.observeFrom(next);
	}

	private observeFrom(next: number): void {
		this.from = next;
		this.size = this.mode === 'growing' ? FEWEST : Math.max(FEWEST, Math.floor(this.limit));
		this.left = this.size;
		this.count = this.durations = this.loads = this.idle = 0;
	}

	/** Milliseconds that an answer took at the service, on average over what is observed. */
	private durationAtService(): number {
		return atService(this.durations, this.idle) / this.count;
	}

	private learn(measured: Measurement, now: number, isFull: boolean): void {
		const { duration, load, throughput } = measured;
		switch (this.mode) {
			case 'growing': {
				const isSlow = duration > QUEUED * this.unhindered || load > MORE_LOAD * this.before.load;
				this.unhindered = Math.min(this.unhindered, duration);
				if (isSlow && throughput * SAME_THROUGHPUT < this.before.throughput) this.halve(measured);
				else if (this.limit >= MAX_CONCURRENCY) this.follow(now);
				this.before = measured;
				return;
			}
			case 'halving':
				this.unhindered = duration;
				if (throughput < LOWER_THROUGHPUT * this.best && !this.isCrowded) {
					this.mode = 'growing';
					this.set(load * 2);
					return;
				}
				this.isCrowded ||= throughput >= SAME_THROUGHPUT * this.best;
				if (throughput >= SAME_THROUGHPUT * this.best && this.limit > 1) {
					this.best = Math.max(this.best, throughput);
					this.set(Math.floor(load / 2));
				} else {
					this.set(Math.max(this.best, throughput) * duration * HEADROOM_FACTOR + HEADROOM);
					this.follow(now);
				}
				return;
			case 'following': {
				if (!isFull) {
					this.unhindered = Math.min(this.unhindered, duration);
					return;
				}
				if (duration < SLOWER * this.unhindered) this.quickAt = now;
				if (now - this.quickAt > this.lookAfter) {
					this.lookAfter = Math.min(this.lookAfter * 2, LAST_LOOK);
					this.halve(measured);
				} else
					this.set(load * Math.min(1, this.unhindered / duration) * HEADROOM_FACTOR + HEADROOM);
			}
		}
	}

	private halve({ load, throughput }: Measurement): void {
		this.mode = 'halving';
		this.isCrowded = false;
		this.best = throughput;
		this.set(Math.floor(load / 2));
	}

	private follow(now: number): void {
		this.mode = 'following';
		this.quickAt = now;
	}

	private set(limit: number): void {
		this.limit = Math.min(Math.max(limit, 1), MAX_CONCURRENCY);
	}
}

/** Whether this process was too busy for an answer's time to be the service's. */
function isBusy(idle: number, duration: number): boolean {
	return idle < (1 - BUSY) * duration;
}

/**
 * How much of an answer's time was the service's: all but half of the time that this process was busy meanwhile.
 * With a burst of answers it is busy with each of them, while all of them wait for one another.
 */
function atService(duration: number, idle: number): number {
	return (duration + idle) / 2;
}
