import fastq from 'fastq';

import { Refusal } from '../service/refusal';
import { RateLimit } from './rateLimit';

/** How much a service takes. There is no limit by default. The login is never turned away. */
export interface LimitOptions {
	/** Takes this number of calls a second. */
	perSecond?: number;
	/** How many of them may come at once: those of a second by default. 1 wants them evenly spread. */
	burst?: number;
	/** What the others are answered: 429 by default. */
	tooMany?: 429 | 503;
	/** The `Retry-After` of that answer, in seconds; without it there is no such header. */
	retryAfter?: number;
	/** Works on this number of calls at once, `latency` included; the others wait in line. */
	atOnce?: number;
	/** Takes this number of connections at once, and closes the others. The login needs one, too. */
	connections?: number;
}

/** Keeps the calls within what the service takes. */
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

	/** @throws Refusal where the call is one too many */
	take(): void {
		if (this.rate === undefined || this.rate.take(performance.now())) return;
		const { tooMany = 429, retryAfter } = this.options;
		const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
		throw tooMany === 429
			? new Refusal(429, 'too_many_requests', 'Too many requests', headers)
			: new Refusal(503, 'unavailable', 'The service is busy', headers);
	}

	/**
	 * Waits until it is a call's turn.
	 * @returns what gives its place back; may be called twice
	 */
	async enter(): Promise<() => void> {
		const turn = new Promise<() => void>((enter) => void this.line.push(enter));
		this.most = Math.max(this.most, this.inFlight);
		return await turn;
	}

	/** What the calls have met. */
	get met() {
		return {
			/** The calls that are worked on or wait in line at this moment. */
			inFlight: this.inFlight,
			/** The most of them at once. */
			most: this.most,
			/** How many calls were turned away. */
			turnedAway: this.rate?.turnedAway ?? 0,
			/** How many came before the time that `Retry-After` had named, though their client could know it. */
			tooEarly: this.rate?.tooEarly ?? 0,
		};
	}

	private get inFlight(): number {
		return this.line.running() + this.line.length();
	}
}
