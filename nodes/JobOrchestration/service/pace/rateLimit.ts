import { RandomThrottling } from './randomThrottling';

/** Milliseconds over which what gets through is counted at least: most limits are about a second. */
const SECOND = 1_000;
const SLOTS = 20;
const SLOT = SECOND / SLOTS;

/** The part of the rate that is left when it is lowered (CUBIC: 0.7; what got through is nearer to the limit). */
const DECREASE_FACTOR = 0.9;

/** Milliseconds until the rate is back where it was; in between it isn't lowered for a single request. */
const RECOVERY_TIME = 4_000;

/** A rate that was told from fewer requests is no more than a beginning: it is doubled each second. */
const FEW_REQUESTS = 20;

/** Where fewer got through between two that were turned away, it is no chance. */
const MIN_BETWEEN_THROTTLED = 4;

/** What got through is less than this part of the rate: the rate is too high. */
const TOO_HIGH_BELOW = 0.8;

/** Requests a second, up to which it would take too long to find out whether a lower rate helps. */
const SLOW_RATE = 5;

/** A rate that has grown to so many times what it was, and above FAST, is dropped. */
const FORGOTTEN = 50;
/** Requests a second. */
const FAST = 1_000;

/** The lowest rate, in requests a second. */
const LOWEST = 0.5;
/** The lowest where others get through: it may be chance. */
const LOWEST_BY_CHANCE = 10;

/** A request that begins late may pull the next one forward by so many milliseconds at least: timers are late by as much. */
const CATCH_UP = 2;

/**
 * How many requests a second a service takes, once it has turned some away.
 *
 * What got through since it did so before, and at least in the last second, is what it takes. (AWS's adaptive
 * mode measures what it sends; what passes says more.) The rate is set a tenth below that, comes back to it
 * within four seconds, stays near it for as long again and then rises faster and faster: CUBIC's curve, in
 * proportion to the rate. Requests are spread evenly, as a limit without a burst wants them.
 *
 * It converges, because each time that requests are turned away in numbers the rate becomes what the service
 * took in that time. A single one among others that get through takes back a tenth at most, and no more often than a
 * tenth is regained. Where a lower rate does not help, it is chance (randomThrottling.ts): then the rate goes back to
 * where it was, and is doubled each second for a while, instead of ending at next to nothing.
 */
export class RateLimit {
	/** Requests a second from which the rate rises; undefined where nothing is known of a limit. */
	private baseRate: number | undefined;
	private loweredAt = 0;
	/** Whether the rate is a beginning that is doubled. */
	private isDoubling = false;
	private nextSlot = -Infinity;

	private cycleBegan: number | undefined;
	private passedInCycle = 0;
	/** How many cycles in a row let few through. */
	private inARow = 0;
	/** What passed when the last request was turned away, and whether it was enough to tell a rate from. */
	private measured = { rate: 0, isFew: true };
	private readonly randomThrottling = new RandomThrottling();
	private readonly slots = new Array<number>(SLOTS).fill(0);
	private slot = 0;

	/** Requests a second; Infinity where nothing is known of a limit. */
	rate(now: number): number {
		if (this.baseRate === undefined) return Infinity;
		const waited = Math.max(0, now - this.loweredAt);
		const part = this.isDoubling
			? DECREASE_FACTOR * 2 ** (waited / SECOND)
			: 1 + (1 - DECREASE_FACTOR) * (waited / RECOVERY_TIME - 1) ** 3;
		if (part < FORGOTTEN || this.baseRate * part < FAST) return this.baseRate * part;
		this.baseRate = undefined;
		return Infinity;
	}

	/** Milliseconds until the next request may begin. */
	delay(now: number): number {
		return this.baseRate === undefined ? 0 : Math.max(0, this.nextSlot - now);
	}

	begun(now: number): void {
		this.cycleBegan ??= now;
		const spacing = SECOND / this.rate(now);
		this.nextSlot = Math.max(this.nextSlot, now - Math.max(spacing / 5, CATCH_UP)) + spacing;
	}

	passed(now: number): void {
		this.passedInCycle += 1;
		this.randomThrottling.passed();
		this.moveTo(now);
		this.slots[this.slot % SLOTS] = (this.slots[this.slot % SLOTS] ?? 0) + 1;
	}

	throttled(now: number): void {
		this.randomThrottling.throttled();
		this.moveTo(now);
		const elapsed = now - (this.cycleBegan ?? now);
		const inLastSecond = this.slots.reduce((sum, passed) => sum + passed, 0);
		const isLong = elapsed > SECOND && !this.isDoubling;
		this.measured = isLong
			? { rate: (this.passedInCycle * SECOND) / elapsed, isFew: this.passedInCycle < FEW_REQUESTS }
			: { rate: inLastSecond, isFew: inLastSecond < FEW_REQUESTS };
	}

	/**
	 * Requests go on after some were turned away.
	 *
	 * @param inNumbers whether it was more than one among others that got through
	 * @param probes how many found that the service still takes none
	 * @param isCostly whether each leaves a job uncertain: then any that is turned away is one too many
	 */
	resumed(
		now: number,
		{ inNumbers, probes, isCostly }: { inNumbers: boolean; probes: number; isCostly: boolean },
	): void {
		const before = this.randomThrottling.judge(now);
		if (before !== undefined) this.rise(now, before);
		const rate = this.rate(now);
		const isKnown = this.baseRate !== undefined;
		this.inARow = this.passedInCycle < MIN_BETWEEN_THROTTLED ? this.inARow + 1 : 0;
		const isOften =
			isKnown && (this.isDoubling ? this.passedInCycle < FEW_REQUESTS : this.inARow > 2);
		const isTooHigh =
			isKnown &&
			now - this.loweredAt > SECOND &&
			this.measured.rate < (isCostly ? 1 : TOO_HIGH_BELOW) * rate;

		const isSure = probes > 2;
		const isByChance = this.randomThrottling.isLikely(now);
		const isTried = this.randomThrottling.isTried && !this.isDoubling;
		// While it is doubled, a single request that is turned away may be chance, and only the first of them.
		const keepsRate =
			isByChance || (this.isDoubling && !inNumbers && probes === 0 && this.inARow <= 2);
		if (
			isSure ||
			(inNumbers && !isByChance) ||
			((isOften || isTooHigh) && !isTried && !keepsRate)
		) {
			const isBeginning = isKnown ? this.isDoubling : this.measured.isFew;
			if (isSure) this.randomThrottling.lowered(undefined);
			else if (!isBeginning && this.measured.rate > SLOW_RATE) this.randomThrottling.lowered(rate);
			this.baseRate = Math.min(
				Math.max(
					this.measured.rate * (isCostly ? DECREASE_FACTOR : 1),
					inNumbers ? LOWEST : LOWEST_BY_CHANCE,
				),
				rate,
			);
			this.isDoubling = !isKnown && this.measured.isFew;
			this.loweredAt = now;
		} else if (
			isKnown &&
			!keepsRate &&
			(this.isDoubling || now - this.loweredAt >= RECOVERY_TIME)
		) {
			this.baseRate = rate;
			this.isDoubling = false;
			this.loweredAt = now;
		}
		this.cycleBegan = now;
		this.passedInCycle = 0;
		this.nextSlot = now + SECOND / this.rate(now);
	}

	/** From this rate on it is doubled each second; Infinity where nothing was known of a limit. */
	private rise(now: number, rate: number): void {
		this.baseRate = rate === Infinity ? undefined : rate;
		this.isDoubling = true;
		this.loweredAt = now;
	}

	private moveTo(now: number): void {
		const slot = Math.floor(now / SLOT);
		const gone = Math.min(Math.max(slot - this.slot, 0), SLOTS);
		for (let n = 1; n <= gone; n += 1) this.slots[(this.slot + n) % SLOTS] = 0;
		if (gone === SLOTS) this.slots.fill(0);
		this.slot = Math.max(slot, this.slot);
	}
}
