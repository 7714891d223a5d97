import { CONDITIONS, type Consequence, RETRY } from '../policy';
import { backoffMs, MEMORY_MS } from '../timers';
import type { LimitedRequest } from './queue';
import { Uncertainty } from './uncertainty';

/**
 * The first backoff of an open circuit breaker, in milliseconds. `RETRY.backoff.firstMs` replaces it if the service
 * can't be reached, or if a probe that isn't idempotent has failed while `uncertainty` is set, since such a probe may
 * leave a job uncertain. Measured with 300: a batch in which 3 % of the connections break takes 9 s instead of 5 s.
 * Measured with 30: twice as many requests are sent again to a service that asks for a wait of ten seconds.
 */
const FIRST_WAIT_MS = 80;
/**
 * How long a probe without a response keeps the next one from being sent, in milliseconds. Measured without it: if a
 * probe with a Timeout of five minutes gets no response, the other executions wait for five minutes, and fail. Measured
 * with 15 seconds: if the service stops responding, 300 executions leave 28 jobs uncertain instead of 15.
 */
const PROBE_ALONE_MS = 60_000;

/**
 * Decides from the outcomes of requests whether the service is failing. While the circuit breaker is closed, requests
 * may start side by side. While it is open, no request may start. While it is half-open, requests start one after the
 * other, as probes. The methods take the current time as an argument, in milliseconds.
 */
export class CircuitBreaker {
	/** The number of consecutive failures. Two open the circuit breaker, and each failed probe adds one. */
	failures = 0;
	/** The time of the last response to a request. Responses to health checks don't count. */
	answeredAt = -Infinity;
	/** The time before which no request starts. */
	pausedUntil = -Infinity;
	/** The time since which requests have waited for the service, if the circuit breaker is open. */
	private openedAt = -Infinity;
	/**
	 * The time of the last failure that brought no response from the service, opened the circuit breaker or ended a
	 * probe. A response to a request that started earlier neither closes the circuit breaker nor resets `failures`.
	 */
	private failedAt = -Infinity;
	/** The latest probe, until it has ended. */
	private probe: LimitedRequest | undefined;
	/** Whether the service could not be reached when the circuit breaker last opened or a probe last failed. */
	private isUnreachable = false;
	/**
	 * Set if a request fails that the service may have acted on, and the circuit breaker is open or opens because of it.
	 * Cleared when a request that isn't idempotent is answered.
	 */
	private uncertainty: Uncertainty | undefined;

	/**
	 * Whether the circuit breaker is open or half-open. Two consecutive failures open it. Measured with one: a service
	 * that fails 30 % of the creates is given up. Measured with three: if the service fails all creates, four more jobs
	 * are uncertain, and a full namespace delays other items for twice as long.
	 */
	get isOpen(): boolean {
		return this.failures >= 2;
	}

	/**
	 * Decides whether a request may start only as a probe: any request while the circuit breaker isn't closed, and one
	 * that isn't idempotent also while `uncertainty` is set.
	 */
	needsProbe({ isIdempotent }: LimitedRequest): boolean {
		return this.isOpen || (this.uncertainty !== undefined && !isIdempotent);
	}

	/** The time before which no probe starts, unless the latest one ends before. */
	get nextProbeAt(): number {
		return this.probe === undefined ? -Infinity : this.probe.startedAt + PROBE_ALONE_MS;
	}

	start(request: LimitedRequest): void {
		request.isProbe = this.needsProbe(request);
		request.isHealthCheck = this.needsHealthCheck(request);
		if (request.isProbe) this.probe = request;
	}

	private needsHealthCheck({ isIdempotent }: LimitedRequest): boolean {
		return this.isOpen && !isIdempotent && this.uncertainty?.needsHealthCheck === true;
	}

	/**
	 * Records the outcome of a request.
	 *
	 * @returns whether other requests may have to fail now, because this request opened the circuit breaker, failed as a
	 * probe, or got a long Retry-After that applies to all requests
	 */
	end(request: LimitedRequest, consequence: Consequence, now: number): boolean {
		if (request === this.probe) this.probe = undefined;
		const { condition, retryAfterMs = 0, isAboutAllItems = false } = consequence;
		const { from } = CONDITIONS[condition];
		if (from === 'n8n') return false;
		if (condition !== 'answered') {
			// A long Retry-After is for this request alone, unless the failure would affect every item, as that of a login
			// does.
			if (retryAfterMs <= RETRY.sharedMs || isAboutAllItems)
				this.pausedUntil = Math.max(this.pausedUntil, now + retryAfterMs);
			// Any answer to a health check shows that the service is there, even if it throttles or refuses it, or fails.
			const isThere = request.isHealthCheck && from === 'service' && !isAboutAllItems;
			if (!isThere) return this.failed(request, consequence, now);
		}
		if (!request.isHealthCheck) this.answeredAt = now;
		if (request.startedAt >= this.failedAt) {
			this.failures = 0;
			if (!request.isHealthCheck && !request.isIdempotent) this.uncertainty = undefined;
		}
		return false;
	}

	/** Counts a failure, and pauses all requests if it opened the circuit breaker or ended a probe. */
	private failed(request: LimitedRequest, consequence: Consequence, now: number): boolean {
		const { condition, mayHaveActed, retryAfterMs = 0, isAboutAllItems } = consequence;
		const { from } = CONDITIONS[condition];
		const isLongForAll = isAboutAllItems === true && retryAfterMs > RETRY.sharedMs;
		// What started before the circuit breaker opened says nothing new. The same applies to a probe if it has closed.
		const isProbe = request.isProbe && this.needsProbe(request);
		const counts = !this.isOpen || isProbe;
		if (counts) {
			const isSilent = from === 'nobody' && this.answeredAt <= (request.startedAt + now) / 2;
			const least = isProbe || isSilent || isLongForAll ? 2 : 0;
			this.failures = Math.max(this.failures + 1, least);
			if (this.isOpen || from !== 'service') this.failedAt = now;
		}
		if (this.isOpen && mayHaveActed) this.uncertainty ??= new Uncertainty();
		if (counts && this.isOpen) this.backOff(request, consequence, now);
		return isLongForAll || (counts && this.isOpen);
	}

	private backOff(request: LimitedRequest, consequence: Consequence, now: number): void {
		const { uncertainty } = this;
		const { queue, startedAt, isProbe, isHealthCheck, isIdempotent } = request;
		if (this.answeredAt >= this.openedAt) this.openedAt = now;
		this.isUnreachable = consequence.condition === 'unreachable';
		if (isProbe && !isHealthCheck && !isIdempotent)
			uncertainty?.probeFailed(queue, consequence, this.openedAt, now);
		const { failedProbes = 0 } = uncertainty ?? {};
		const firstMs = this.isUnreachable || failedProbes > 0 ? RETRY.backoff.firstMs : FIRST_WAIT_MS;
		const earlier = Math.max(this.failures - 2, failedProbes);
		const waitMs = backoffMs(earlier, { firstMs, maxMs: RETRY.sharedMs });
		this.pausedUntil = Math.max(this.pausedUntil, now + waitMs);
		if (isHealthCheck) uncertainty?.healthCheckFailed(this.pausedUntil - startedAt);
	}

	/** Returns the time since which a request has waited for the service. */
	waitsSince({ queue, isIdempotent }: LimitedRequest): number {
		const since = isIdempotent ? undefined : this.uncertainty?.since;
		return Math.max(since ?? Math.max(this.openedAt, this.answeredAt), queue.startedAt);
	}

	/** Decides whether the run of a request has ended, or ends before the pause does. */
	outlasts({ options }: LimitedRequest, now: number): boolean {
		return Math.max(now, this.pausedUntil) >= options.runEndsAt;
	}

	/**
	 * Decides whether a request must fail now:
	 * - Its run has ended, or ends before the pause does.
	 * - It isn't idempotent, and its execution has given up such requests.
	 * - The rest of the pause is longer than its whole patience.
	 * - The circuit breaker has opened or a probe has failed since its run began, and its patience ends before the pause
	 *   does. For a run in the editor at first contact, Max Request Retries failed probes are enough.
	 */
	mustFail(request: LimitedRequest, now: number): boolean {
		const { isOpen, failures, failedAt, pausedUntil } = this;
		const { patienceMs = RETRY.patienceMs, maxRetries, runStartedAt, isInEditor } = request.options;
		if (this.outlasts(request, now)) return true;
		const hasGivenUp = this.uncertainty?.isGivenUpBy(request, now) === true;
		if (hasGivenUp || pausedUntil > now + patienceMs) return true;
		if (!isOpen || runStartedAt > failedAt) return false;
		const isFirstContact = this.isUnreachable && now > this.answeredAt + MEMORY_MS;
		if (isInEditor && isFirstContact && failures - 1 > maxRetries) return true;
		return pausedUntil >= this.waitsSince(request) + patienceMs;
	}
}
