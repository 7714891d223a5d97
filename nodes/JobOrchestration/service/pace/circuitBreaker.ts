import { type Consequence, NO_ANSWER, NOT_REACHED } from '../retry/facts';
import { RETRY } from '../retry/policy';
import { backoffMs } from '../timers';
import type { ExecutionQueue, LimitedRequest } from './queue';

/** How long what was learnt holds. With less, a schedule that comes every few minutes would meet an unknown service. */
export const MEMORY_MS = 3_600_000;
/** The backoff before the first probe. */
const FIRST_WAIT_MS = 100;
/** Probes of an execution that end without a clear answer, after which it sends nothing more that isn't idempotent. */
const MAX_UNCLEAR_PROBES = 4;

/**
 * Decides from the ends of requests whether the service fails. Closed, it lets all requests start; open, none; half-open,
 * one at a time: a probe. It is told the time, in milliseconds.
 */
export class CircuitBreaker {
	/** In a row: two open the breaker, and each probe that fails is one more. */
	failures = 0;
	/** When a request was last answered; a health check isn't one. */
	answeredAt = -Infinity;
	/** Since when requests wait, if it is open. */
	openedAt = -Infinity;
	/** No request starts before. */
	pausedUntil = -Infinity;
	/** An answer to what started before this failure doesn't close the breaker. */
	private failedAt = -Infinity;
	private isProbing = false;
	/** Whether nothing was sent in the last of them, since the service could not be reached. */
	private isAway = false;
	/**
	 * Set from a failure that may have had an effect until a request that isn't idempotent is answered: how many probes of
	 * each execution ended without a clear answer, and how many in all.
	 */
	private unclear: { inAll: number; of: WeakMap<ExecutionQueue, number> } | undefined;

	get isOpen(): boolean {
		return this.failures > 1;
	}

	/** Whether a request may only start as a probe. */
	needsProbe({ isIdempotent }: LimitedRequest): boolean {
		return this.isOpen || (this.unclear !== undefined && !isIdempotent);
	}

	/** Milliseconds until a request may start, if more than 0; Infinity while another one probes. */
	delay(now: number, request: LimitedRequest): number {
		return this.isProbing && this.needsProbe(request) ? Infinity : this.pausedUntil - now;
	}

	/**
	 * Whether a request is not to wait any longer: all wait for longer than its patience lasts, its execution has given up,
	 * or it is overdue since a probe failed during its run.
	 */
	isHopeless({ queue, isIdempotent, options }: LimitedRequest, now: number): boolean {
		const { patienceMs = RETRY.patienceMs, maxRetries, runStartedAt } = options;
		const unclearProbes = (!isIdempotent && this.unclear?.of.get(queue)) || 0;
		if (this.pausedUntil > now + patienceMs || unclearProbes >= MAX_UNCLEAR_PROBES) return true;
		if (!this.isOpen || runStartedAt > this.failedAt) return false;
		const wasNeverThere = this.isAway && now > this.answeredAt + MEMORY_MS;
		if (wasNeverThere && this.failures - queue.failuresBefore > maxRetries) return true;
		const since = Math.max(this.openedAt, this.answeredAt, queue.startedAt);
		return this.pausedUntil >= since + patienceMs;
	}

	start(request: LimitedRequest): void {
		request.isProbe = this.needsProbe(request);
		request.isHealthCheck = this.isOpen && this.unclear !== undefined && !request.isIdempotent;
		this.isProbing ||= request.isProbe;
	}

	/** @returns whether the request has opened the breaker, or has failed as a probe */
	end(request: LimitedRequest, consequence: Consequence, now: number): boolean {
		if (request.isProbe) this.isProbing = false;
		if (consequence.condition !== 'answered') return this.failed(request, consequence, now);
		if (!request.isHealthCheck) this.answeredAt = now;
		if (request.startedAt < this.failedAt) return false;
		this.failures = 0;
		if (!request.isHealthCheck && !request.isIdempotent) this.unclear = undefined;
		return false;
	}

	private failed(request: LimitedRequest, consequence: Consequence, now: number): boolean {
		const { condition, mayHaveActed, retryAfterMs = 0, isAboutAllItems } = consequence;
		const { queue, options, startedAt, isProbe, isHealthCheck, isIdempotent } = request;
		if (condition === 'unknown' || condition === 'n8nFailed') return false;
		// A longer one is about this request alone, unless it is a login's.
		const isShared = retryAfterMs <= RETRY.sharedMs || isAboutAllItems === true;
		if (isShared) this.pausedUntil = Math.max(this.pausedUntil, now + retryAfterMs);
		if (this.isOpen && !isProbe) return false;
		const isSilent = condition !== 'unavailable' && this.answeredAt <= (startedAt + now) / 2;
		const isTelling = NO_ANSWER.includes(condition) && (isSilent || options.concurrency === 1);
		this.failures = Math.max(this.failures + 1, isProbe || isTelling ? 2 : 1);
		if (this.isOpen || NO_ANSWER.includes(condition)) this.failedAt = now;
		if (!this.isOpen) return false;
		if (this.answeredAt >= this.openedAt) this.openedAt = now;
		if (mayHaveActed) this.unclear ??= { inAll: 0, of: new WeakMap() };
		if (this.unclear && mayHaveActed && isProbe && !isHealthCheck && !isIdempotent) {
			this.unclear.inAll += 1;
			this.unclear.of.set(queue, (this.unclear.of.get(queue) ?? 0) + 1);
		}
		this.isAway = NOT_REACHED.includes(condition);
		const firstMs = this.isAway ? RETRY.backoff.firstMs : FIRST_WAIT_MS;
		const earlier = Math.max(this.failures - 2, this.unclear?.inAll ?? 0);
		const waitMs = backoffMs(earlier, { firstMs, maxMs: RETRY.sharedMs, jitter: 0 });
		this.pausedUntil = Math.max(this.pausedUntil, now + waitMs);
		return true;
	}

	/** What comes now has all the patience there is. It still begins with a probe. */
	forgetOutage(now: number): void {
		this.openedAt = now;
		this.failures = Math.min(this.failures, 2);
		if (this.unclear !== undefined) this.unclear = { inAll: 0, of: new WeakMap() };
	}
}
