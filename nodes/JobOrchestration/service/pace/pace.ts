import { ConcurrencyLimit, FIRST_CONCURRENCY } from './concurrencyLimit';
import { RateLimit } from './rateLimit';
import { FIRST_DELAY } from '../request/retryPolicy';

/** What came of a request, as far as it says something of the service's pace. */
export type Outcome =
	/** The service did what was asked. Only this says how fast it is. */
	| { kind: 'done' }
	/** It answered otherwise, about this request alone. */
	| { kind: 'otherAnswer' }
	/** Too many requests, and how long to wait (ms), where it says so: 429, or 503 with Retry-After. */
	| { kind: 'throttled'; retryAfter: number | undefined }
	/** It, or a gateway before it, can't take requests: 502, 503, 504. */
	| { kind: 'unavailable' }
	/** No connection could be made. */
	| { kind: 'unreachable' }
	/** The connection was made, and broke. */
	| { kind: 'broken' }
	/** Its log-in failed, and may succeed another time. */
	| { kind: 'loginFailed' }
	| { kind: 'timedOut' }
	/** Nothing was sent: its log-in was refused, say. */
	| { kind: 'nothingSent' }
	/** Nothing is known of it: it was cancelled, say. */
	| { kind: 'unknown' };

/** A request that is under way. */
export interface InFlightRequest {
	readonly at: number;
	/** For how long this process had had nothing to do by then, since some time. */
	readonly idle: number;
	/** Which one it is, in the order in which they began. */
	readonly number: number;
	/** How many were under way with it. */
	readonly load: number;
	/** Whether it finds out, for all, whether the service takes requests again. */
	readonly isProbe: boolean;
}

/** Outcomes after which the service may not be there at all. */
export const AWAY = ['unreachable', 'broken', 'loginFailed'] as const;

/** Why all wait, and since when. */
export interface Hold {
	reason: 'throttled' | 'unavailable' | (typeof AWAY)[number];
	since: number;
	/** Nothing begins before. */
	until: number;
	/** The time that the service itself has named, if any. */
	retryAfterUntil: number;
	/** How many probes found that the service still takes none. */
	probes: number;
	/** How many requests were turned away meanwhile, and how many were taken. */
	throttled: number;
	taken: number;
	/** Whether a rate was told from those that were turned away. */
	isMeasured: boolean;
}

/** Milliseconds that all wait the first time, doubled with each probe in vain; and the longest. */
const FIRST_WAIT = 50;
const LONGEST_WAIT = 8_000;
/** However long the service asks for, it is probed after so many milliseconds. */
const LONGEST_RETRY_AFTER = 60_000;
/** Probing a service that isn't there costs nobody anything. */
const LONGEST_WAIT_UNREACHABLE = 1_000;

/** Milliseconds without a request after which the service may have become another. */
const KNOWN_FOR = 60_000;

/**
 * The pace at which a service takes requests: how many at once, how many a second, and when none.
 *
 * Where a request is turned away, its connection breaks, its log-in fails, or the service can't be reached, all wait:
 * as long as the service says, else a moment. Then one request, the probe, finds out for all whether the service takes
 * requests again; while it doesn't, the waits double, and as soon as it does all go on. So a service that is busy or
 * away meets one request at a time, and nobody is stuck while it lets something through: a probe is a request, too.
 * (Retry quotas, as AWS's and Finagle's, keep retries from making it worse; here there is nothing to save up:
 * there is one probe at a time.)
 *
 * How many at once: concurrencyLimit.ts. How many a second, after requests were turned away: rateLimit.ts.
 *
 * This is arithmetic: it knows neither promises nor timers, and is told what time it is, in milliseconds.
 * limiter.ts lets requests in by it.
 */
export class Pace {
	/** How many requests are under way. */
	underWay = 0;
	/** When the service last took a request; undefined where it never has. */
	lastTaken: number | undefined;
	/** Why all wait now, where they do. */
	hold: Hold | undefined;

	private concurrencyLimit = new ConcurrencyLimit();
	private rateLimit = new RateLimit();
	/** The number of the next request. */
	private next = 1;
	private lastActive = -Infinity;
	/** The number of the probe that is under way. */
	private probe: number | undefined;
	/** A request with a lower number began before the last hold: what comes of it is known already. */
	private firstAfterHold = 0;

	/** @param random a number from 0 to 1, by chance */
	constructor(private readonly random: () => number = Math.random) {}

	/** How many may be under way at once. */
	get limit(): number {
		return Math.floor(this.concurrencyLimit.limit);
	}

	/** Whether a request is under way that finds out whether the service takes requests again. */
	get isProbing(): boolean {
		return this.probe !== undefined;
	}

	/** Forgets why all wait, where nobody has asked for long whether that goes on. */
	forget(now: number): void {
		if (this.underWay > 0 || this.hold === undefined) return;
		if (now - Math.max(this.lastActive, this.hold.until) > KNOWN_FOR) this.hold = undefined;
	}

	/** How many requests a second; Infinity where nothing is known of a limit. */
	rate(now: number): number {
		return this.rateLimit.rate(now);
	}

	/**
	 * Milliseconds until the next request may begin: 0 is now, Infinity is not before one under way has ended.
	 *
	 * @param ignoreUnreachable whether it may begin though the service can't be reached
	 * @param paced how many are under way of those whose number the pace decides: some may be, however many others are;
	 * 0 for a request whose number somebody else has set
	 */
	delay(now: number, { ignoreUnreachable = false, paced = this.underWay } = {}): number {
		const { hold } = this;
		if (this.underWay >= this.limit && paced >= Math.min(FIRST_CONCURRENCY, this.limit)) {
			return Infinity;
		}
		if (
			hold !== undefined &&
			!(ignoreUnreachable && hold.reason === 'unreachable' && now >= hold.retryAfterUntil)
		) {
			return this.probe !== undefined ? Infinity : Math.max(0, hold.until - now);
		}
		return this.rateLimit.delay(now);
	}

	/** @param idle milliseconds for which this process has had nothing to do, since some time */
	begin(now: number, idle = now): InFlightRequest {
		if (this.underWay === 0 && now - this.lastActive > KNOWN_FOR)
			this.concurrencyLimit = new ConcurrencyLimit(this.next);
		const isProbe = this.hold !== undefined && this.probe === undefined && now >= this.hold.until;
		if (isProbe) this.probe = this.next;
		this.underWay += 1;
		this.rateLimit.begun(now);
		const request = { at: now, idle, number: this.next, load: this.underWay, isProbe };
		this.next += 1;
		return request;
	}

	/**
	 * @param present for how many milliseconds this process has had nothing to do, since some time; how many requests
	 * wait for their turn
	 */
	end(
		request: InFlightRequest,
		outcome: Outcome,
		now: number,
		{ idle = now, waiting = 0 } = {},
	): void {
		const isFull = this.underWay + waiting >= this.limit;
		this.underWay -= 1;
		this.lastActive = now;
		// Others may have gone on meanwhile, and wait anew.
		const isProbe = request.number === this.probe;
		if (isProbe) this.probe = undefined;
		const duration = outcome.kind === 'done' ? now - request.at : undefined;
		const { number, load } = request;
		this.concurrencyLimit.ended(
			{ number, load, duration, idle: idle - request.idle },
			{ now, next: this.next, isFull },
		);

		switch (outcome.kind) {
			case 'done':
			case 'otherAnswer':
				this.lastTaken = now;
				this.rateLimit.passed(now);
				if (isProbe || isAway(this.hold, now)) this.endHold(now);
				else if (this.hold !== undefined) this.hold.taken += 1;
				return;
			case 'throttled':
				this.holdAll(
					{ number, isProbe },
					{ reason: 'throttled', atLeast: Math.min(outcome.retryAfter ?? 0, LONGEST_RETRY_AFTER) },
					now,
				);
				return;
			case 'unavailable':
			case 'unreachable':
			case 'loginFailed':
				this.holdAll({ number, isProbe }, { reason: outcome.kind, atLeast: 0 }, now);
				return;
			case 'broken':
				// Some services cut off whoever is one too many.
				this.concurrencyLimit.failed(number, this.next);
				this.holdAll({ number, isProbe }, { reason: 'broken', atLeast: 0 }, now);
				return;
			case 'timedOut':
				this.concurrencyLimit.failed(number, this.next);
				if (isProbe) this.probeLater(now);
				return;
			case 'unknown':
				if (isProbe) this.probeLater(now);
				return;
			case 'nothingSent':
			// The next one is the probe, at once: where all are refused, none waits.
		}
	}

	/** All wait: from now on, or, where they do already, as long as this answer says. */
	private holdAll(
		request: { number: number; isProbe: boolean },
		{ reason, atLeast }: { reason: Hold['reason']; atLeast: number },
		now: number,
	) {
		// A service that was down for a while takes as many a second afterwards as before.
		const isMeasured = reason === 'throttled' || (reason === 'unavailable' && !request.isProbe);
		if (isMeasured) this.rateLimit.throttled(now);
		if (this.hold === undefined) {
			// Where others have gone on since it began, it comes late, and only a time that it names counts.
			const isLate = request.number < this.firstAfterHold;
			if (isLate && atLeast === 0) return;
			const until = now + Math.max(isLate ? 0 : this.withJitter(firstWait(reason)), atLeast);
			this.hold = {
				reason,
				since: now,
				until,
				retryAfterUntil: now + atLeast,
				probes: 0,
				throttled: 1,
				taken: 0,
				isMeasured,
			};
			if (!isLate) this.firstAfterHold = this.next;
			return;
		}
		if (reason === 'throttled' || reason === 'unavailable') this.hold.throttled += 1;
		this.hold.isMeasured ||= isMeasured;
		// What may be about this request alone does not hide why the others were turned away.
		const isMinor = reason === 'broken' || reason === 'loginFailed';
		if (!isMinor || isAway(this.hold, now)) this.hold.reason = reason;
		if (request.isProbe) this.probeLater(now);
		this.hold.retryAfterUntil = Math.max(this.hold.retryAfterUntil, now + atLeast);
		this.hold.until = Math.max(this.hold.until, this.hold.retryAfterUntil);
	}

	/** A little less than so many milliseconds: processes that were turned away together come back apart. */
	private withJitter(milliseconds: number): number {
		return Math.round(milliseconds * (0.75 + this.random() / 4));
	}

	/** A probe was in vain. */
	private probeLater(now: number): void {
		const { hold } = this;
		if (hold === undefined) return;
		hold.probes += 1;
		const longest = hold.reason === 'unreachable' ? LONGEST_WAIT_UNREACHABLE : LONGEST_WAIT;
		const wait = Math.min(firstWait(hold.reason) * 2 ** hold.probes, longest);
		hold.until = Math.max(hold.until, now + this.withJitter(wait));
	}

	/** The service takes requests again. */
	private endHold(now: number): void {
		const { hold } = this;
		if (hold === undefined) return;
		const { throttled, taken, isMeasured, probes } = hold;
		this.hold = undefined;
		this.probe = undefined;
		this.firstAfterHold = this.next;
		if (hold.reason === 'unreachable' || (probes > 0 && !isMeasured)) {
			// It may have become another meanwhile. A connection that broke alone says nothing of it.
			this.concurrencyLimit = new ConcurrencyLimit(this.next);
		} else if (isMeasured) {
			const inNumbers = probes > 1 || (throttled > 2 && throttled * 2 > taken);
			this.rateLimit.resumed(now, { inNumbers, probes, isCostly: hold.reason === 'unavailable' });
		}
	}
}

/** Milliseconds that all wait the first time; after a log-in that failed as long as a request that did. */
function firstWait(reason: Hold['reason']): number {
	return reason === 'loginFailed' ? FIRST_DELAY : FIRST_WAIT;
}

/** Whether all wait for a service that seems to be away: then any answer shows that it isn't. */
function isAway(hold: Hold | undefined, now: number): boolean {
	return (
		hold !== undefined && AWAY.some((away) => away === hold.reason) && now >= hold.retryAfterUntil
	);
}
