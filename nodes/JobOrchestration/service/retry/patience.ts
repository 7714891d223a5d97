import { RETRY } from './policy';

/**
 * How long the limits of a service are remembered, if nothing is sent to it meanwhile. With one minute, the next batch
 * at a service that takes two requests a second sends 50 requests again in place of 16.
 */
export const MEMORY_MS = 3_600_000;
/**
 * After so long without a request, an outage is forgotten; after so long without a failure, an execution that has given up
 * tries again. With more, a loop would create nothing for longer after a short outage; with five seconds, one that pauses in
 * each round would send four creates in each. It makes no simulated service slower.
 */
export const OUTAGE_MEMORY_MS = 60_000;
/**
 * Probes of an execution without a clear answer, after which it sends nothing more that isn't idempotent. With two, a service
 * that fails 30 % of the creates is given up, and a quarter of its batch is not created; with eight, a service that fails all
 * of them leaves four more jobs uncertain, after 17 s in place of 5 s.
 */
const MAX_UNCLEAR_PROBES = 4;

/** What is known of a service that fails, by the clock of the rate limiter. */
export interface Outage {
	/** Whether no request is sent but probes. */
	readonly isOpen: boolean;
	/** In a row. */
	readonly failures: number;
	/** Whether the last failure was that the service could not be reached. */
	readonly isUnreachable: boolean;
	readonly openedAt: number;
	readonly failedAt: number;
	readonly answeredAt: number;
	/** No request starts before. */
	readonly pausedUntil: number;
	/** Set while requests that aren't idempotent get no clear answer: since when, and how many of each execution. */
	readonly unclear: { readonly since: number; readonly of: WeakMap<object, number> } | undefined;
}

/** A request that waits for the service. */
interface WaitingRequest {
	/** Of its execution. */
	readonly queue: { readonly startedAt: number };
	readonly isIdempotent: boolean;
	readonly options: {
		patienceMs?: number | undefined;
		maxRetries: number;
		runStartedAt: number;
		runEndsAt: number;
	};
}

/** Since when a request has waited. */
export function waitsSince(outage: Outage, { queue, isIdempotent }: WaitingRequest): number {
	const since = isIdempotent ? undefined : outage.unclear?.since;
	return Math.max(since ?? Math.max(outage.openedAt, outage.answeredAt), queue.startedAt);
}

/**
 * Whether a request must fail now: the pause is longer than its patience or the rest of its run, its execution has given up,
 * or it has waited for too long, and a probe has failed since its run began.
 */
export function mustFail(outage: Outage, request: WaitingRequest, now: number): boolean {
	const { isOpen, failures, failedAt, pausedUntil } = outage;
	const { patienceMs = RETRY.patienceMs, maxRetries, runStartedAt, runEndsAt } = request.options;
	if (Math.max(now, pausedUntil) >= runEndsAt) return true;
	const unclear = (!request.isIdempotent && outage.unclear?.of.get(request.queue)) || 0;
	const hasGivenUp = unclear >= MAX_UNCLEAR_PROBES && now < failedAt + OUTAGE_MEMORY_MS;
	if (hasGivenUp || pausedUntil > now + patienceMs) return true;
	if (!isOpen || runStartedAt > failedAt) return false;
	const isFirstContact = outage.isUnreachable && now > outage.answeredAt + MEMORY_MS;
	if (isFirstContact && failures - 1 > maxRetries) return true;
	return pausedUntil >= waitsSince(outage, request) + patienceMs;
}
