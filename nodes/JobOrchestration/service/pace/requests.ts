import type { Failure } from '../errors/failure';
import type { RequestOptions } from '../request';
import type { Permit } from './gate';
import { FIRST_WAIT_MS, LONG_WAIT_MS, MINUTE_MS } from './gate';

/** How long requests wait for a service that accepts none. With less, a quota of a minute would fail them. */
export const PATIENCE_MS = 70_000;
/** How long a request sleeps in all while others are answered. With less, a quota of some minutes would fail it. */
const OWN_PATIENCE_MS = 240_000;
/** How long a request that sleeps keeps its turn and its place. With less, items would change their order at a Concurrency of 1. */
const IN_ORDER_MS = 1_000;
/** How often a throttled request is still the next one at a Concurrency of 1. With fewer, items would change their order. */
const TIMES_IN_ORDER = 5;

/** What a run of the node sets. */
export interface RunLimits {
	/** Requests of the execution in flight at most, instead of the account's limit. */
	concurrency?: number | undefined;
	/** Milliseconds to wait for a service that accepts no requests. */
	patienceMs?: number | undefined;
	/** The same object for all runs of one execution. */
	execution?: object | undefined;
}

/** Why a request isn't sent: it was stopped, or given up with all that waited for the service. */
export interface Denial {
	failure?: Failure | undefined;
	/** How long all had waited. */
	waitedMs?: number;
	/** How many probes of the service failed in that time. */
	failedProbes?: number;
}

/** The requests of one run of the node that wait for a permit, the next one first. */
export class RunQueue {
	readonly waiting: LimitedRequest[] = [];
	/** What wakes those that sleep for themselves. */
	readonly sleeping = new Set<() => void>();
	/** Why its last request failed, if that concerns all requests. */
	failure: Failure | undefined;
	/** Why it sends nothing more. */
	denial: Denial | undefined;

	/** @param execution what the runs of one execution share: it may run several nodes, and tools at once */
	constructor(
		readonly limits: RunLimits,
		readonly execution: { inFlight: number; wasAnswered: boolean },
		readonly startedAt: number,
	) {}

	add(request: LimitedRequest): void {
		// One that has had its turn keeps it, else each in turn would be throttled.
		const index = request.hasTurn ? this.waiting.findIndex(({ hasTurn }) => !hasTurn) : -1;
		this.waiting.splice(index < 0 ? this.waiting.length : index, 0, request);
	}

	remove(request: LimitedRequest): void {
		const index = this.waiting.indexOf(request);
		if (index >= 0) this.waiting.splice(index, 1);
	}

	/** A probe is a request that was never throttled: the next one, or the last one. */
	takeProbe(isFromEnd: boolean): LimitedRequest | undefined {
		const times = this.limits.concurrency === 1 ? TIMES_IN_ORDER : 1;
		const mayProbe = this.waiting.map(({ timesThrottled }) => timesThrottled < times);
		const index = isFromEnd ? mayProbe.lastIndexOf(true) : mayProbe.indexOf(true);
		return this.waiting.splice(Math.max(index, 0), 1)[0];
	}
}

/** A request, which needs a permit each time it is sent. */
export class LimitedRequest {
	/** Ends its waiting. */
	settle: (result: Permit | Denial) => void = () => {};
	/** Whether it goes before those that haven't been sent yet. */
	hasTurn = false;
	/** Whether it counts for a Concurrency: in flight, or asleep for a short time. */
	hasPlace = false;
	timesThrottled = 0;
	/** Whether others were answered between the last two times. */
	isThrottledAlone = false;
	/** Milliseconds for which it has slept for itself. */
	sleptMs = 0;
	private throttledAt = -Infinity;
	private firstThrottledAt = Infinity;

	/** @param isCreate whether sending it twice does more than sending it once */
	constructor(
		readonly queue: RunQueue,
		readonly options: RequestOptions,
		readonly isCreate: boolean,
	) {}

	/**
	 * After a Retry-After above five seconds, the request itself sleeps, a minute at most. So does one that is throttled
	 * again though others were answered meanwhile: 50 ms times n squared; after four minutes of that it fails.
	 *
	 * @param answeredAt when a request of the account was last answered
	 * @returns for how many milliseconds it sleeps; 0 if it waits with all; undefined if it fails
	 */
	sleepAfterThrottling(retryAfterMs = 0, now: number, answeredAt: number): number | undefined {
		this.isThrottledAlone = answeredAt > this.throttledAt && this.timesThrottled > 0;
		this.timesThrottled += 1;
		this.throttledAt = now;
		this.firstThrottledAt = Math.min(this.firstThrottledAt, now);
		if (!this.isThrottledAlone && retryAfterMs <= LONG_WAIT_MS) return 0;
		// Squared, since doubled waits would waste what a slow service takes.
		const backoff = this.isThrottledAlone ? FIRST_WAIT_MS * (this.timesThrottled - 1) ** 2 : 0;
		const sleepMs = Math.min(Math.max(retryAfterMs, backoff), MINUTE_MS);
		const { patienceMs = PATIENCE_MS } = this.queue.limits;
		const mostMs = answeredAt > this.firstThrottledAt ? OWN_PATIENCE_MS : patienceMs;
		if (this.sleptMs >= mostMs || sleepMs > mostMs) return undefined;
		this.sleptMs += sleepMs;
		this.hasTurn = this.queue.limits.concurrency === 1 && this.sleptMs <= IN_ORDER_MS;
		return sleepMs;
	}
}
