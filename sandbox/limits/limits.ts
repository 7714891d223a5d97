import { Refusal } from '../service/refusal';
import { RateLimit } from './rateLimit';
import { Room } from './room';

/** How much a service bears. Whatever is left out has no bound. The log-in is never turned away. */
export interface LimitOptions {
	/** Takes so many calls a second. */
	perSecond?: number;
	/** So many of them may come at once; those of a second unless told otherwise. 1 wants them evenly spread. */
	burst?: number;
	/** What the others are answered: 429 unless told otherwise. */
	tooMany?: 429 | 503;
	/** The `Retry-After` of that answer, in seconds; without it there is no such header. */
	retryAfter?: number;
	/** Works on so many calls at once, `latency` included; the others wait in line. */
	atOnce?: number;
	/** Takes so many connections at once, and cuts off the others. The log-in needs one, too. */
	connections?: number;
}

/** What the calls have met, since the last reset. */
export interface Met {
	/** Under way now: those that are worked on, and those that wait in line. */
	readonly underWay: number;
	/** The most that were under way at once. */
	readonly most: number;
	/** How many waited in line, on average over the time in which any call was under way; and at most. */
	readonly averageWaiting: number;
	readonly mostWaiting: number;
	/** How many calls were turned away. */
	readonly turnedAway: number;
	/** How many came before the time that `Retry-After` had named, though their client could know it. */
	readonly tooEarly: number;
}

/** Keeps the calls within what the service bears. */
export class Limits {
	private readonly rate: RateLimit | undefined;
	private readonly room: Room;

	constructor(private readonly options: LimitOptions) {
		const { perSecond, burst = Math.max(1, perSecond ?? 1), retryAfter = 0 } = options;
		if (perSecond !== undefined) this.rate = new RateLimit({ perSecond, burst, retryAfter });
		this.room = new Room(options.atOnce ?? Infinity);
	}

	/**
	 * A call has come.
	 * @returns once it is its turn, what to call when it has been answered
	 */
	async enter(): Promise<() => void> {
		return await this.room.enter();
	}

	/** @throws Refusal where the call is one too many */
	take(): void {
		if (this.rate === undefined || this.rate.take(performance.now())) return;
		const { tooMany = 429, retryAfter } = this.options;
		throw new Refusal(
			tooMany,
			tooMany === 429 ? 'too_many_requests' : 'unavailable',
			tooMany === 429 ? 'Too many requests' : 'The service is busy',
			retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
		);
	}

	get met(): Met {
		const { underWay, most, averageWaiting, mostWaiting } = this.room;
		const { turnedAway = 0, tooEarly = 0 } = this.rate ?? {};
		return { underWay, most, averageWaiting, mostWaiting, turnedAway, tooEarly };
	}

	/** Counts anew. */
	reset(): void {
		this.room.reset();
		this.rate?.reset();
	}
}
