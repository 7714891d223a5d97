/** Milliseconds after which even a busy client has read the response to a refused call. */
const READ = 250;

/**
 * A token bucket: accepts a number of calls per second, and bursts of a limited size. The bucket of the library limiter
 * isn't used, because it reads the clock itself, and the tests in test/pace need a clock of their own.
 */
export class RateLimit {
	/** The number of calls that were refused. */
	turnedAway = 0;
	/** The number of calls before the end of a `retryAfter` that their client must have read. */
	tooEarly = 0;
	private tokens: number;
	private filledAt: number | undefined;
	private openAgainAt = -Infinity;
	private closedAt = -Infinity;

	/**
	 * @param options.perSecond calls per second
	 * @param options.burst the capacity of the bucket, in calls
	 * @param options.retryAfter seconds that the response to a refused call tells the client to wait
	 */
	constructor(private readonly options: { perSecond: number; burst: number; retryAfter: number }) {
		this.tokens = options.burst;
	}

	/**
	 * Counts a call, and returns whether it is accepted.
	 * @param now the current time in milliseconds, from any origin
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
