import type { Failure } from '../errors/failure';
import type { ClientRun, RequestOptions } from '../request';

/**
 * The longest sleep, in milliseconds, during which a request keeps its place at a Concurrency of 1, so that the other
 * requests wait for it. Measured without this rule: 15 of 60 items are sent out of order after a rate limit is reached.
 * Measured with 5,000: 15 items of a full namespace prevent all other items from being sent.
 */
export const KEEPS_PLACE_MS = 1_000;
/**
 * The reason why a request gets no permit. If there is no failure, the request was stopped. Otherwise, it was given up,
 * because it must not wait for the service any longer.
 */
export interface Denial {
	failure?: Failure | undefined;
	/** How long the requests have waited for the service, in milliseconds. */
	waitedMs?: number;
	/** The number of probes that failed in that time. */
	failedProbes?: number;
}

/** The requests of one execution, which may run several nodes, and several tools at the same time. */
export class ExecutionQueue {
	/** The requests that wait for a permit, the next one first. */
	readonly waiting: LimitedRequest[] = [];
	/**
	 * The requests that wait for their own Retry-After or backoff. Other requests are sent in the meantime, unless a
	 * sleeping request keeps its place.
	 */
	readonly asleep = new Set<LimitedRequest>();
	/**
	 * The requests that count towards a Concurrency: those in flight, and those that keep their place while they sleep.
	 */
	readonly places = new Set<LimitedRequest>();

	constructor(readonly startedAt: number) {}

	/**
	 * Chooses the request that is sent as a probe: a random one, and one that was never throttled if there is one. At a
	 * Concurrency of 1, the next request is sent instead if it is the first probe or has kept its place.
	 */
	probe(first: LimitedRequest, isFirstProbe: boolean): LimitedRequest {
		const { concurrency } = first.options;
		if (concurrency === 1 && (isFirstProbe || first.keepsPlace)) return first;
		const alike = this.waiting.filter(({ options }) => options.concurrency === concurrency);
		const unthrottled = alike.filter(({ throttledAt }) => throttledAt === Infinity);
		const among = unthrottled.length > 0 ? unthrottled : alike;
		return among[Math.floor(Math.random() * among.length)] ?? first;
	}
}

/** A request, which needs a permit each time it is sent. */
export class LimitedRequest {
	/** Ends the request's wait for a permit, or its sleep. */
	settle: (denial?: Denial) => void = () => {};
	/** The time of the last permit or sending, and for how long n8n had been idle in total at that time. */
	startedAt = -Infinity;
	idleBefore = 0;
	/** In how many attempts the request was sent. */
	timesSent = 0;
	isProbe = false;
	/** Whether the permit is for a health check that is sent in place of the request. */
	isHealthCheck = false;
	/** Whether no other request of the execution takes the request's place while it sleeps. */
	keepsPlace = false;
	throttledAt = Infinity;
	/**
	 * Whether other requests were answered between the last two times that this one was throttled. If so, the throttling
	 * says nothing about the service.
	 */
	isThrottledAlone = false;

	constructor(
		readonly queue: ExecutionQueue,
		readonly options: RequestOptions & ClientRun,
		readonly isIdempotent: boolean,
	) {}
}
