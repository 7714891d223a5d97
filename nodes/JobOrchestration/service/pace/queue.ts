import type { Failure } from '../errors/kinds';
import type { RequestOptions, Run } from '../request';

/**
 * The longest sleep of a request for which the others wait at a Concurrency of 1. Without it, 15 of 60 items change their
 * order if a rate limit is met; with five seconds, 15 items of a full namespace keep all others from being sent.
 */
export const KEEPS_PLACE_MS = 1_000;
/** Why a request isn't sent: it was stopped, or given up with all that waited for the service. */
export interface Denial {
	failure?: Failure | undefined;
	/** How long all had waited. */
	waitedMs?: number;
	/** How many probes of the service failed in that time. */
	failedProbes?: number;
}

/** The requests of one execution, which may run several nodes, and tools at once. */
export class ExecutionQueue {
	/** Those that wait to be sent, the next one first. */
	readonly waiting: LimitedRequest[] = [];
	/** Those that wait for their own Retry-After or backoff. */
	readonly asleep = new Set<LimitedRequest>();
	/** Those that count for a Concurrency: in flight, or soon again. */
	readonly places = new Set<LimitedRequest>();

	constructor(readonly startedAt: number) {}

	/**
	 * A random one that was not throttled, if there is one. At a Concurrency of 1: the next one, if it is the first probe or
	 * has kept its place.
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
	/** Ends its waiting or its sleep. */
	settle: (denial?: Denial) => void = () => {};
	/** When it was last permitted, and how long n8n had been idle in all at that time. */
	startedAt = -Infinity;
	idleBefore = 0;
	isProbe = false;
	/** Whether a health check is to be sent in its place. */
	isHealthCheck = false;
	/** Whether no other request of the execution takes its place while it sleeps. */
	keepsPlace = false;
	throttledAt = Infinity;
	/** Whether others were answered between its last two throttlings: they say nothing about the service. */
	isThrottledAlone = false;

	constructor(
		readonly queue: ExecutionQueue,
		readonly options: RequestOptions & Run,
		readonly isIdempotent: boolean,
	) {}
}
