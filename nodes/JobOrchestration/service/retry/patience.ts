import { RETRY } from './policy';

/**
 * How long the rate limiter remembers what it has learnt about a service if nothing is sent to it in the meantime, in
 * milliseconds. Measured with one minute: the next batch sends 50 requests again instead of 16 to a service that
 * accepts two requests per second.
 */
export const MEMORY_MS = 3_600_000;
/**
 * How long an outage is remembered if no request is sent, in milliseconds. After the same time without a failure, an
 * execution that has given up tries again. The time is short, so that a loop creates jobs again soon after a short
 * outage. With five seconds, a loop that pauses in each round would send four creates in each round. Measured: no
 * simulated service becomes slower.
 */
export const OUTAGE_MEMORY_MS = 60_000;
/**
 * The number of an execution's probes without a clear response after which it sends only idempotent requests. Measured
 * with 2: a service that fails 30 % of the creates is given up, and a quarter of its batch is not created. Measured
 * with 8: a service that fails all creates leaves four more jobs uncertain, after 17 s instead of 5 s.
 */
const MAX_UNCLEAR_PROBES = 4;

/** The state of an outage. All times are those of the rate limiter's clock. */
export interface Outage {
	/** Whether requests are sent only as probes. */
	readonly isOpen: boolean;
	/** The number of consecutive failures. */
	readonly failures: number;
	/**
	 * Whether the last failure that opened the circuit breaker or ended a probe was that the service could not be
	 * reached.
	 */
	readonly isUnreachable: boolean;
	readonly openedAt: number;
	readonly failedAt: number;
	readonly answeredAt: number;
	/** The time before which no request starts. */
	readonly pausedUntil: number;
	/**
	 * Set while requests that aren't idempotent get no clear response: since when, and how many probes of each execution.
	 */
	readonly unclear:
		| { readonly since: number; readonly uncertainProbesOf: WeakMap<object, number> }
		| undefined;
}

/** A request that waits for the service. */
interface WaitingRequest {
	/** The queue of the request's execution. */
	readonly queue: { readonly startedAt: number };
	readonly isIdempotent: boolean;
	readonly options: {
		patienceMs?: number | undefined;
		maxRetries: number;
		runStartedAt: number;
		runEndsAt: number;
	};
}

/** Returns the time since which a request has waited for the service. */
export function waitsSince(outage: Outage, { queue, isIdempotent }: WaitingRequest): number {
	const since = isIdempotent ? undefined : outage.unclear?.since;
	return Math.max(since ?? Math.max(outage.openedAt, outage.answeredAt), queue.startedAt);
}

/**
 * Decides whether a request must fail now. It must fail in each of these cases:
 * - Its run has ended, or ends before the pause does.
 * - It isn't idempotent, and its execution has given up such requests.
 * - The rest of the pause is longer than its whole patience.
 * - The circuit breaker has opened or a probe has failed since its run began, and its patience ends before the pause
 *   does. If the service can't be reached and has not answered within `MEMORY_MS`, Max Request Retries failed probes
 *   are enough.
 */
export function mustFail(outage: Outage, request: WaitingRequest, now: number): boolean {
	const { isOpen, failures, failedAt, pausedUntil } = outage;
	const { patienceMs = RETRY.patienceMs, maxRetries, runStartedAt, runEndsAt } = request.options;
	if (Math.max(now, pausedUntil) >= runEndsAt) return true;
	const unclear =
		(!request.isIdempotent && outage.unclear?.uncertainProbesOf.get(request.queue)) || 0;
	const hasGivenUp = unclear >= MAX_UNCLEAR_PROBES && now < failedAt + OUTAGE_MEMORY_MS;
	if (hasGivenUp || pausedUntil > now + patienceMs) return true;
	if (!isOpen || runStartedAt > failedAt) return false;
	const isFirstContact = outage.isUnreachable && now > outage.answeredAt + MEMORY_MS;
	if (isFirstContact && failures - 1 > maxRetries) return true;
	return pausedUntil >= waitsSince(outage, request) + patienceMs;
}
