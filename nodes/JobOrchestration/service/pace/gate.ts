import type { Condition, Consequence } from '../retry/facts';
import { RETRY } from '../retry/policy';
import { backoffMs } from '../timers';
import { ConcurrencyLimit, INITIAL_LIMIT, RateLimit } from './limits';

/** For so long, creates fail after too many unclear ones; and after so long without a request, an outage is forgotten. */
export const MINUTE_MS = 60_000;
/** The first wait for a probe, doubled by each that fails. With less, a busy service would be flooded. */
const FIRST_WAIT_MS = 50;
/** The same if no connection or login succeeds. With less, four attempts would not outlast a restart. */
const FIRST_WAIT_AWAY_MS = 300;
/** The longest wait for a probe. If all waited for a longer Retry-After, one namespace's quota would stop them. */
const LONG_WAIT_MS = RETRY.sharedMs;
/** Long ones in a row that concern all. With fewer, the full namespaces of a few items would stop the others. */
const MAX_LONG = INITIAL_LIMIT;
/** Unclear creates in a row that end the trying. With more, more jobs are uncertain; with fewer, two items stop all. */
const MAX_UNCLEAR = INITIAL_LIMIT + 2;

/** What a request has got for being sent once. */
export interface Permit {
	readonly startedAt: number;
	/** How long n8n had been idle in all at that time. */
	readonly idleBefore: number;
	readonly isCreate: boolean;
	readonly isProbe: boolean;
	/** Whether a health check is to be sent in place of the request. */
	readonly isHealthCheck: boolean;
}

/** Whether the service can't be reached: nothing was sent. */
export function cannotBeReached(condition: Condition): boolean {
	return condition === 'unreachable' || condition === 'loginFailed';
}

/**
 * When a request of an account may start: arithmetic that is told the time, in milliseconds. A failure that concerns all
 * closes the gate. Then one request at a time probes; the first one answered opens it for all.
 */
export class Gate {
	readonly concurrency = new ConcurrencyLimit();
	readonly rate = new RateLimit();
	inFlight = 0;
	endedAt = -Infinity;
	/** When a request was last answered; a health check isn't one. */
	answeredAt = -Infinity;
	isClosed = false;
	/** Since when, unless a request has been answered since. */
	closedAt = -Infinity;
	failedProbes = 0;
	private pausedUntil = -Infinity;
	private isProbing = false;
	/** No create has been answered since a request got no clear answer. */
	private checksBeforeCreates = false;
	private unclearCreates = 0;
	private longRetryAfters = 0;
	private gaveUpAt = -Infinity;
	/** When it last closed or opened. */
	private changedAt = -Infinity;

	/** Whether as many as may be are in flight. While one long Retry-After follows another, the next would get one, too. */
	isFull(most: number): boolean {
		return this.inFlight > 0 && this.inFlight + this.longRetryAfters + 1 > most;
	}

	/** Milliseconds until a request may start, if more than 0; Infinity during a probe. */
	delay(now: number, isCreate: boolean): number {
		if (this.isProbing && this.needsProbe(isCreate)) return Infinity;
		return Math.max(this.pausedUntil, this.rate.nextAt) - now;
	}

	/** When the health check is answered, all but creates go on, and creates go one at a time until one is answered. */
	private needsProbe(isCreate: boolean): boolean {
		return this.isClosed || (this.checksBeforeCreates && isCreate);
	}

	/** After a long Retry-After, requests from the other end probe, since neighbours often share a namespace. */
	get probesFromEnd(): boolean {
		return this.longRetryAfters >= MAX_LONG;
	}

	/** After twelve creates in a row without a clear answer, creates fail for a minute; others go on. */
	hasGivenUp(now: number): boolean {
		return now < this.gaveUpAt + MINUTE_MS;
	}

	/** Once a request got no clear answer, a health check goes before the next create. @param idle see `Permit` */
	start(now: number, idle: number, isCreate: boolean): Permit {
		const isProbe = this.needsProbe(isCreate);
		const isHealthCheck = this.isClosed && this.checksBeforeCreates && isCreate;
		this.inFlight += 1;
		this.rate.started(now);
		this.isProbing ||= isProbe;
		return { startedAt: now, idleBefore: idle, isCreate, isProbe, isHealthCheck };
	}

	/** @returns whether a failure has closed the gate, or was a probe's */
	end(permit: Permit, consequence: Consequence, now: number, idle: number): boolean {
		const isFull = this.inFlight + 1 > this.concurrency.value;
		this.inFlight -= 1;
		this.endedAt = now;
		if (permit.isProbe) this.isProbing = false;
		if (consequence.condition !== 'answered') return this.failed(permit, consequence, now);
		this.longRetryAfters = 0;
		if (!permit.isHealthCheck) {
			this.answeredAt = now;
			if (permit.isCreate) this.unclearCreates = 0;
			// While n8n is busy, answers wait for n8n, not for the service.
			this.concurrency.answered(idle - permit.idleBefore, isFull);
			this.rate.accepted(now);
		}
		if (!permit.isProbe || permit.startedAt < this.changedAt) return false;
		this.changedAt = now;
		this.isClosed = false;
		this.checksBeforeCreates &&= permit.isHealthCheck || !permit.isCreate;
		return false;
	}

	/**
	 * A request that is slow while others are answered, and a first odd answer to a create, are about that item only, as is
	 * a Retry-After above five seconds until ten in a row got one. A request that started before the gate closed or opened
	 * says nothing new, but how long to wait. All else closes the gate: see `close`.
	 */
	private failed(permit: Permit, consequence: Consequence, now: number): boolean {
		const { condition, mayHaveActed, retryAfterMs = 0 } = consequence;
		const isThrottled = condition === 'throttled';
		const { isCreate, isProbe, isHealthCheck, startedAt } = permit;
		const isLong = isThrottled && !isHealthCheck && retryAfterMs > LONG_WAIT_MS;
		const isAnswer = condition === 'failed' || condition === 'unclear';
		if (isLong) this.longRetryAfters += 1;
		else if (condition === 'unknown' || condition === 'n8nFailed') return false;
		if (mayHaveActed && !isAnswer && !isProbe) this.concurrency.unclear(startedAt, now);
		if (mayHaveActed && isCreate && !isHealthCheck) {
			// However many were in flight together, one probe follows.
			const most = isProbe ? MAX_UNCLEAR : MAX_UNCLEAR - 1;
			this.unclearCreates = Math.min(this.unclearCreates + 1, most);
		}
		const isSlow = condition === 'timedOut' && this.answeredAt > (startedAt + now) / 2;
		const isOdd = isAnswer && !(isCreate && this.unclearCreates > 1);
		if (isLong ? !this.probesFromEnd : !isProbe && (isSlow || isOdd)) return false;
		const pauseMs = Math.min(retryAfterMs, LONG_WAIT_MS);
		if (!isLong) this.pausedUntil = Math.max(this.pausedUntil, now + pauseMs);
		if (startedAt < this.changedAt) return false;
		this.close(isProbe, consequence, now);
		return true;
	}

	/** Closes for Retry-After, or for a wait that each failed probe doubles, five seconds at most. */
	private close(isProbe: boolean, consequence: Consequence, now: number): void {
		const { condition, mayHaveActed, retryAfterMs } = consequence;
		let firstMs = cannotBeReached(condition) ? FIRST_WAIT_AWAY_MS : FIRST_WAIT_MS;
		// The health check was answered, the create wasn't: to try again soon would cost another create.
		if (this.probesFromEnd || (isProbe && !this.isClosed)) firstMs = LONG_WAIT_MS;
		if (!this.isClosed) {
			this.changedAt = now;
			if (this.answeredAt >= this.closedAt) this.forgetOutage(now);
			const isThrottled = condition === 'throttled';
			const isTooMuch = isThrottled || condition === 'unavailable';
			if (isTooMuch && !this.probesFromEnd) this.rate.throttled(now, isThrottled && !retryAfterMs);
		}
		this.isClosed = true;
		this.checksBeforeCreates ||= mayHaveActed;
		this.failedProbes += Number(isProbe);
		if (isProbe && this.unclearCreates === MAX_UNCLEAR) this.gaveUpAt = now;
		const wait = { firstMs, maxMs: LONG_WAIT_MS, jitter: 0.25 };
		this.pausedUntil = Math.max(this.pausedUntil, now + backoffMs(this.failedProbes, wait));
	}

	/** What comes now has all the patience there is. */
	forgetOutage(now: number): void {
		this.closedAt = now;
		this.failedProbes = 0;
	}
}
