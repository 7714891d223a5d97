import fastq from 'fastq';

import { Refusal } from '../service/refusal';
import { RateLimit } from './rateLimit';

/** The limits of a service. By default, there are none. Logins are only limited by `connections`. */
export interface LimitOptions {
	/** How many calls are accepted per second. */
	perSecond?: number;
	/** How many of these calls may arrive at once: by default `perSecond`. 1 requires evenly spaced calls. */
	burst?: number;
	/** The status of the response to the other calls: by default 429. */
	tooMany?: 429 | 503;
	/** The `Retry-After` header of this response, in seconds. By default, the response has no such header. */
	retryAfter?: number;
	/** How many calls are processed at the same time, `latency` included. The other calls wait in a queue. */
	atOnce?: number;
	/** How many connections may be open at the same time. The others are closed, including those of logins. */
	connections?: number;
}

/** Applies the limits of the service to the calls. */
export class Limits {
	private readonly rate: RateLimit | undefined;
	private readonly line: fastq.queueAsPromised<(leave: () => void) => void>;
	private most = 0;

	constructor(private readonly options: LimitOptions) {
		const { perSecond, burst = Math.max(1, perSecond ?? 1), retryAfter = 0 } = options;
		const { atOnce = Infinity } = options;
		this.line = fastq.promise(async (enter) => await new Promise<void>(enter), atOnce);
		if (perSecond !== undefined) this.rate = new RateLimit({ perSecond, burst, retryAfter });
	}

	/**
	 * Counts a call against the rate limit.
	 * @throws Refusal 429 or 503, if the call exceeds the rate limit
	 */
	take(): void {
		if (this.rate === undefined || this.rate.take(performance.now())) return;
		const { tooMany = 429, retryAfter } = this.options;
		const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
		throw tooMany === 429
			? new Refusal(429, 'too_many_requests', 'Too many requests', headers)
			: new Refusal(503, 'unavailable', 'The service is busy', headers);
	}

	/**
	 * Waits until fewer than `atOnce` calls are processed.
	 * @returns a function that ends the call, so that the next call can start; may be called more than once
	 */
	async enter(): Promise<() => void> {
		const turn = new Promise<() => void>((enter) => void this.line.push(enter));
		this.most = Math.max(this.most, this.line.running() + this.line.length());
		return await turn;
	}

	/** Returns how the limits have affected the calls so far. */
	get met() {
		return {
			/** The highest number of calls that were processed or waited in the queue at the same time. */
			most: this.most,
			/** The number of calls that the rate limit has refused. */
			turnedAway: this.rate?.turnedAway ?? 0,
			/** The number of calls before the end of a `Retry-After` that their client must have read. */
			tooEarly: this.rate?.tooEarly ?? 0,
		};
	}
}
