import { CONDITIONS, type Consequence, RETRY } from '../policy';
import { backoffMs, MEMORY_MS } from '../timers';
import type { ExecutionQueue, LimitedRequest } from './queue';

/**
 * The first backoff of an open circuit breaker, in milliseconds. `RETRY.backoff.firstMs` replaces it if the service
 * can't be reached, or if a probe that isn't idempotent has failed while `uncertain` is set, since such a probe may
 * leave a job uncertain. Measured with 300: a batch in which 3 % of the connections break takes 9 s instead of 5 s.
 * Measured with 30: twice as many requests are sent again to a service that asks for a wait of ten seconds.
 */
const FIRST_WAIT_MS = 80;
/**
 * The number of an execution's uncertain probes after which it sends only idempotent requests. Measured with 2: a
 * service that fails 30 % of the creates is given up, and a quarter of its batch is not created. Measured with 8: a
 * service that fails all creates leaves four more jobs uncertain, after 17 s instead of 5 s.
 */
const MAX_UNCERTAIN_PROBES = 4;
/**
 * How long an execution sends only idempotent requests then, in milliseconds. Short enough that a loop creates jobs
 * again soon after an outage. With five seconds, a loop that pauses in each round would send four creates in each round.
 */
const GIVEN_UP_MS = 60_000;
/**
 * The time without an answer to a health check, in milliseconds, after which a request that isn't idempotent is the
 * probe. Measured without it: if the list of work clusters takes too long, two creates that get a 500 stop all further
 * creates of the account. Measured with 20 seconds: a service that stops responding leaves one more job uncertain in
 * each execution. Measured with 60 seconds: if each health check takes ten seconds, the requests fail before.
 */
const MAX_CHECKS_MS = 45_000;
/**
 * How long a probe without a response keeps the next one from being sent, in milliseconds. Measured without it: if a
 * probe with a Timeout of five minutes gets no response, the other executions wait for five minutes, and fail.
 */
const PROBE_ALONE_MS = 15_000;

/** Returns what is counted while it is uncertain what the service did. */
const newUncertain = () => ({
	/** How many probes that aren't idempotent have failed. */
	failedProbes: 0,
	/** On how many of them the service may have acted, for each execution, and when the last of those has failed. */
	probesOf: new WeakMap<ExecutionQueue, { count: number; failedAt: number }>(),
	/** How long health checks, with the waits after them, have brought no answer since the last of these probes. */
	checksMs: 0,
});

/**
 * Decides from the outcomes of requests whether the service is failing. While the circuit breaker is closed, requests
 * may start side by side. While it is open, no request may start. While it is half-open, one request at a time may
 * start, as a probe. The methods take the current time as an argument, in milliseconds.
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
	private uncertain: ReturnType<typeof newUncertain> | undefined;

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
	 * that isn't idempotent also while `uncertain` is set.
	 */
	needsProbe({ isIdempotent }: LimitedRequest): boolean {
		return this.isOpen || (this.uncertain !== undefined && !isIdempotent);
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
		const { checksMs = Infinity } = this.uncertain ?? {};
		return this.isOpen && !isIdempotent && checksMs < MAX_CHECKS_MS;
	}

	/**
	 * Records the outcome of a request.
	 *
	 * @returns whether other requests may have to fail now, because this request opened the circuit breaker, failed as a
	 * probe, or got a long Retry-After that applies to all requests
	 */
	end(request: LimitedRequest, consequence: Consequence, now: number): boolean {
		if (request === this.probe) this.probe = undefined;
		if (consequence.condition !== 'answered') return this.failed(request, consequence, now);
		if (!request.isHealthCheck) this.answeredAt = now;
		if (request.startedAt >= this.failedAt) {
			this.failures = 0;
			if (!request.isHealthCheck && !request.isIdempotent) this.uncertain = undefined;
		}
		return false;
	}

	/** Counts a failure, and pauses all requests if it opened the circuit breaker or ended a probe. */
	private failed(request: LimitedRequest, consequence: Consequence, now: number): boolean {
		const { condition, mayHaveActed, retryAfterMs = 0, isAboutAllItems } = consequence;
		const { from } = CONDITIONS[condition];
		if (from === 'n8n') return false;
		// A long Retry-After applies to this request alone, unless the failure would affect every item, as that of a login
		// does.
		const isLong = retryAfterMs > RETRY.sharedMs;
		const isLongForAll = isLong && isAboutAllItems === true;
		if (!isLong || isLongForAll) this.pausedUntil = Math.max(this.pausedUntil, now + retryAfterMs);
		// What started before the circuit breaker opened says nothing new.
		const counts = !this.isOpen || request.isProbe;
		if (counts) {
			const isSilent = from === 'nobody' && this.answeredAt <= (request.startedAt + now) / 2;
			const least = request.isProbe || isSilent || isLongForAll ? 2 : 0;
			this.failures = Math.max(this.failures + 1, least);
			if (this.isOpen || from !== 'service') this.failedAt = now;
		}
		if (this.isOpen && mayHaveActed) this.uncertain ??= newUncertain();
		if (counts && this.isOpen) this.backOff(request, consequence, now);
		return isLongForAll || (counts && this.isOpen);
	}

	private backOff(request: LimitedRequest, consequence: Consequence, now: number): void {
		const { uncertain } = this;
		const { queue, startedAt, isProbe, isHealthCheck, isIdempotent } = request;
		if (this.answeredAt >= this.openedAt) this.openedAt = now;
		this.isUnreachable = consequence.condition === 'unreachable';
		if (uncertain && isProbe && !isHealthCheck && !isIdempotent) {
			const { probesOf } = uncertain;
			uncertain.failedProbes += 1;
			uncertain.checksMs = 0;
			const { count = 0 } = probesOf.get(queue) ?? {};
			if (consequence.mayHaveActed) probesOf.set(queue, { count: count + 1, failedAt: now });
		}
		const failedProbes = uncertain?.failedProbes ?? 0;
		const firstMs = this.isUnreachable || failedProbes > 0 ? RETRY.backoff.firstMs : FIRST_WAIT_MS;
		const earlier = Math.max(this.failures - 2, failedProbes);
		const waitMs = backoffMs(earlier, { firstMs, maxMs: RETRY.sharedMs });
		this.pausedUntil = Math.max(this.pausedUntil, now + waitMs);
		if (uncertain && isHealthCheck) uncertain.checksMs += this.pausedUntil - startedAt;
	}

	/** Returns the time since which a request has waited for the service. */
	waitsSince({ queue }: LimitedRequest): number {
		return Math.max(this.openedAt, this.answeredAt, queue.startedAt);
	}

	/** Decides whether the run of a request has ended, or ends before the pause does. */
	outlasts({ options }: LimitedRequest, now: number): boolean {
		return Math.max(now, this.pausedUntil) >= options.runEndsAt;
	}

	/**
	 * Decides whether a request must fail now, in each of these cases:
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
		const { count = 0, failedAt: at = 0 } = this.uncertain?.probesOf.get(request.queue) ?? {};
		const hasGivenUp = count >= MAX_UNCERTAIN_PROBES && now < at + GIVEN_UP_MS;
		if ((hasGivenUp && !request.isIdempotent) || pausedUntil > now + patienceMs) return true;
		if (!isOpen || runStartedAt > failedAt) return false;
		const isFirstContact = this.isUnreachable && now > this.answeredAt + MEMORY_MS;
		if (isInEditor && isFirstContact && failures - 1 > maxRetries) return true;
		return pausedUntil >= this.waitsSince(request) + patienceMs;
	}
}
