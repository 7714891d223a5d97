import { type Consequence, NO_ANSWER, NOT_REACHED, NOTHING_KNOWN } from '../retry/facts';
import type { Outage } from '../retry/patience';
import { RETRY } from '../retry/policy';
import { backoffMs } from '../timers';
import type { ExecutionQueue, LimitedRequest } from './queue';

/**
 * The backoff before the first probe, if the service could be reached, and no probe may have cost a job. With 300 ms, a batch
 * of which 3 % of the connections break takes 9 s in place of 5 s; with 30 ms, a service that asks to wait for ten
 * seconds is sent twice as many requests again.
 */
const FIRST_WAIT_MS = 80;
/**
 * What a failure counts if its Retry-After is longer than `RETRY.sharedMs`. With 1, a batch in which every second item gets a
 * Retry-After of an hour takes up to 19 s in place of 3 s. With 0, it would never open the breaker.
 */
const LONG_WEIGHT = 0.25;

/** Since when requests got no clear answer; how many probes failed since then, and how many of each execution were unclear. */
class Unclear {
	probes = 0;
	readonly of = new WeakMap<ExecutionQueue, number>();

	constructor(readonly since: number) {}
}

/**
 * Decides from the ends of requests whether the service fails. Closed, it lets all requests start; open, none; half-open,
 * one at a time: a probe. Its methods take the time, in milliseconds.
 */
export class CircuitBreaker implements Outage {
	/** Failures in a row. Two open the breaker; each failed probe adds one. */
	failures = 0;
	/** When a request was last answered; a health check isn't one. */
	answeredAt = -Infinity;
	/** No request starts before. */
	pausedUntil = -Infinity;
	/** Since when requests have waited, if it is open. */
	openedAt = -Infinity;
	/** An answer to what started before this failure doesn't close the breaker. */
	failedAt = -Infinity;
	private isProbing = false;
	/** Whether the last failure was that the service could not be reached. */
	isUnreachable = false;
	/** Set when a failed request may have been acted on, until one that isn't idempotent is answered. */
	unclear: Unclear | undefined;

	/**
	 * Two failures in a row open it. With one, a service that fails 30 % of the creates is given up; with three, four more
	 * jobs are uncertain if it fails all of them, and a full namespace delays other items twice as long.
	 */
	get isOpen(): boolean {
		return this.failures >= 2;
	}

	/** Whether a request may only start as a probe. */
	needsProbe({ isIdempotent }: LimitedRequest): boolean {
		return this.isOpen || (this.unclear !== undefined && !isIdempotent);
	}

	/** Milliseconds until a request may start, if more than 0; Infinity while another one probes. */
	delay(now: number, request: LimitedRequest): number {
		return this.isProbing && this.needsProbe(request) ? Infinity : this.pausedUntil - now;
	}

	start(request: LimitedRequest): void {
		request.isProbe = this.needsProbe(request);
		request.isHealthCheck = this.isOpen && this.unclear !== undefined && !request.isIdempotent;
		this.isProbing ||= request.isProbe;
	}

	/** @returns whether others may have to fail: the request has opened the breaker, failed as a probe, or met a long pause */
	end(request: LimitedRequest, consequence: Consequence, now: number): boolean {
		if (request.isProbe) this.isProbing = false;
		if (consequence.condition !== 'answered') return this.failed(request, consequence, now);
		if (!request.isHealthCheck) this.answeredAt = now;
		if (request.startedAt >= this.failedAt) {
			this.failures = 0;
			if (!request.isHealthCheck && !request.isIdempotent) this.unclear = undefined;
		}
		return false;
	}

	private failed(request: LimitedRequest, consequence: Consequence, now: number): boolean {
		const { condition, mayHaveActed, retryAfterMs = 0, isAboutAllItems } = consequence;
		const { queue, options, startedAt, isProbe, isHealthCheck, isIdempotent } = request;
		// A long one is about this request alone, unless it is a login's.
		const isLong = retryAfterMs > RETRY.sharedMs;
		const isLongForAll = isLong && isAboutAllItems === true;
		if (!isLong || isLongForAll) this.pausedUntil = Math.max(this.pausedUntil, now + retryAfterMs);
		if (this.isOpen && mayHaveActed) this.unclear ??= new Unclear(now);
		if ((this.isOpen && !isProbe) || NOTHING_KNOWN.includes(condition)) return isLongForAll;
		const isSilent = condition !== 'unavailable' && this.answeredAt <= (startedAt + now) / 2;
		const isEnough = NO_ANSWER.includes(condition) && (isSilent || options.concurrency === 1);
		const least = isProbe || isEnough || isLongForAll ? 2 : 0;
		this.failures = Math.max(this.failures + (isLong && !isProbe ? LONG_WEIGHT : 1), least);
		if (this.isOpen || NO_ANSWER.includes(condition)) this.failedAt = now;
		if (!this.isOpen) return false;
		if (this.answeredAt >= this.openedAt) this.openedAt = now;
		if (mayHaveActed) this.unclear ??= new Unclear(now);
		if (this.unclear && isProbe && !isHealthCheck && !isIdempotent) {
			this.unclear.probes += 1;
			if (mayHaveActed) this.unclear.of.set(queue, (this.unclear.of.get(queue) ?? 0) + 1);
		}
		this.isUnreachable = NOT_REACHED.includes(condition);
		const probes = this.unclear?.probes ?? 0;
		const firstMs = this.isUnreachable || probes > 0 ? RETRY.backoff.firstMs : FIRST_WAIT_MS;
		const wait = { firstMs, maxMs: RETRY.sharedMs };
		const waitMs = backoffMs(Math.max(this.failures - 2, probes), wait);
		this.pausedUntil = Math.max(this.pausedUntil, now + waitMs);
		return true;
	}

	/** What comes now has all the patience there is. It still begins with a probe. */
	forgetOutage(now: number): void {
		if (this.openedAt > this.answeredAt) this.openedAt = now;
		this.failures = Math.min(this.failures, 2);
		this.unclear &&= new Unclear(now);
	}
}
