/** After so many requests it is known whether a lower rate helps: if it does, the share turned away differs by a factor of ANOTHER. */
const ENOUGH = 100;
const ANOTHER = 2;

/** A larger part than this is not turned away by chance. */
const MOST_BY_CHANCE = 1 / 3;

/** Milliseconds for which what is turned away by chance is taken for chance. */
const CHANCE_FOR = 10_000;

/**
 * Whether requests are turned away by chance, as where one server of many is out of order, and not because there are
 * too many. A limit turns away fewer once the rate is lower; chance turns away the same part of them whatever the
 * rate. So each rate that is lowered is a trial, and taken back where it hasn't changed that part. Without that, a
 * rate that is lowered for each request turned away ends at next to nothing.
 */
export class RandomThrottling {
	/** Since the rate was changed, or a bit less: how many got through, and how many were turned away. */
	private through = 0;
	private away = 0;
	/** What the rate was before it was lowered, and which part was turned away then. */
	private trial: { before: number; share: number } | undefined;
	private until = -Infinity;

	/** Whether it isn't known yet if the lowered rate helps. */
	get isTried(): boolean {
		return this.trial !== undefined;
	}

	passed(): void {
		this.through += 1;
	}

	throttled(): void {
		this.away += 1;
	}

	isLikely(now: number): boolean {
		return now < this.until && this.share() < MOST_BY_CHANCE;
	}

	/** The rate is lowered, from what it was before; or for good, where that is undefined. */
	lowered(before: number | undefined): void {
		this.trial = before === undefined ? undefined : (this.trial ?? { before, share: this.share() });
		this.through = this.away = 0;
	}

	/** The rate to go back to, where lowering it has not helped. */
	judge(now: number): number | undefined {
		if (this.through + this.away < ENOUGH) return undefined;
		const { trial } = this;
		const share = this.share();
		this.trial = undefined;
		this.through /= 2;
		this.away /= 2;
		if (trial === undefined || share > MOST_BY_CHANCE) return undefined;
		if (share >= trial.share * ANOTHER || share * ANOTHER <= trial.share) return undefined;
		this.until = now + CHANCE_FOR;
		return trial.before;
	}

	/** The part of the requests that was turned away. */
	private share(): number {
		return this.away / Math.max(this.through + this.away, 1);
	}
}
