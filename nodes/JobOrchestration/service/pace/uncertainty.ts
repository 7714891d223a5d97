import type { Consequence } from '../policy';
import type { ExecutionQueue, LimitedRequest } from './queue';

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
 * What is counted from the time on at which the service may have acted on a failed request, until a request that isn't
 * idempotent is answered. Such requests are then sent one at a time, as probes.
 */
export class Uncertainty {
	/** How many of these probes have failed. */
	failedProbes = 0;
	/** Since when requests that aren't idempotent have waited, once a probe of them has failed. */
	since: number | undefined;
	/** On how many of its probes the service may have acted, for each execution, and when the last of them has failed. */
	private readonly probesOf = new WeakMap<ExecutionQueue, { count: number; failedAt: number }>();
	/** How long health checks, with the waits after them, have brought no answer since the last probe. */
	private checksMs = 0;

	/** Whether a health check goes before the next probe. */
	get needsHealthCheck(): boolean {
		return this.checksMs < MAX_CHECKS_MS;
	}

	/** @param openedAt the time since which requests have waited for the service */
	probeFailed(queue: ExecutionQueue, { mayHaveActed }: Consequence, openedAt: number, now: number) {
		this.since ??= openedAt;
		this.failedProbes += 1;
		this.checksMs = 0;
		const { count = 0 } = this.probesOf.get(queue) ?? {};
		if (mayHaveActed) this.probesOf.set(queue, { count: count + 1, failedAt: now });
	}

	/** @param ms how long the health check and the wait after it take */
	healthCheckFailed(ms: number): void {
		this.checksMs += ms;
	}

	/** Decides whether the execution of a request sends no such requests at present. */
	isGivenUpBy({ queue, isIdempotent }: LimitedRequest, now: number): boolean {
		const { count, failedAt } = this.probesOf.get(queue) ?? { count: 0, failedAt: 0 };
		return !isIdempotent && count >= MAX_UNCERTAIN_PROBES && now < failedAt + GIVEN_UP_MS;
	}
}
