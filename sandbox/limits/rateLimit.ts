/** Milliseconds after which a client that was turned away has read the answer, even a busy one. */
const READ = 250;

/**
 * Takes a number of calls a second: a bucket that fills evenly, and holds a burst. The bucket of the library limiter
 * reads the clock itself, but the tests of the pace have one of their own.
 */
export class RateLimit {
	turnedAway = 0;
	tooEarly = 0;
	private tokens: number;
	private filledAt: number | undefined;
	private openAgainAt = -Infinity;
	private closedAt = -Infinity;

	/** @param retryAfter seconds that a client that is turned away is told to wait */
	constructor(private readonly options: { perSecond: number; burst: number; retryAfter: number }) {
		this.tokens = options.burst;
	}

	/**
	 * Whether a call is taken.
	 * @param now milliseconds
	 */
	take(now: number): boolean {
		const { perSecond, burst, retryAfter } = this.options;
		const filled = ((now - (this.filledAt ?? now)) / 1_000) * perSecond;
		this.tokens = Math.min(burst, this.tokens + filled);
		this.filledAt = now;
		if (now < this.openAgainAt && now > this.closedAt + READ) this.tooEarly += 1;
		if (this.tokens >= 1) {
			this.tokens -= 1;
			return true;
		}
		this.turnedAway += 1;
		if (now >= this.openAgainAt) this.closedAt = now;
		this.openAgainAt = Math.max(this.openAgainAt, now + retryAfter * 1_000);
		return false;
	}
}
