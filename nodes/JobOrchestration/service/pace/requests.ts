import { type Failure, mayRetry, meaningOf } from '../errors/failure';
import type { RequestOptions } from '../request';
import { backoffMs } from '../timers';
import { cannotBeReached, FIRST_WAIT_MS, LONG_WAIT_MS, MINUTE_MS, type Permit } from './gate';

/** How long requests wait for a service that accepts none. With less, a quota of a minute would fail them. */
export const PATIENCE_MS = 70_000;
/** How long a request sleeps in all while others are answered. With less, a quota of some minutes would fail it. */
const OWN_PATIENCE_MS = 240_000;
/** How often a throttled request is still the next one at a Concurrency of 1. With fewer, items would change their order. */
const TIMES_IN_ORDER = 5;

/** With less, retries would keep a restarting service down; with more, a Retry-After of an hour would hold an item. */
const RETRIES = { firstMs: 300, maxMs: 30_000, jitter: 0.5 };

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

/** The requests of one run of the node. */
export class RunQueue {
	/** Those that wait for a permit, the next one first. */
	readonly waiting: LimitedRequest[] = [];
	readonly asleep = new Set<LimitedRequest>();
	/** Why its last request failed, if that concerns all requests. */
	failure: Failure | undefined;
	/** Why it sends nothing more. */
	denial: Denial | undefined;

	/**
	 * @param execution what the runs of one execution share: it may run several nodes, and tools at once. `places` are those
	 * that count for a Concurrency: in flight, or soon again
	 */
	constructor(
		readonly limits: RunLimits,
		readonly execution: { readonly places: Set<LimitedRequest>; wasAnswered: boolean },
		readonly startedAt: number,
	) {}

	/** One that had its turn goes before those that had none, else each in turn would be throttled. */
	add(request: LimitedRequest): void {
		const index = request.hasTurn ? this.waiting.findIndex(({ hasTurn }) => !hasTurn) : -1;
		this.waiting.splice(index < 0 ? this.waiting.length : index, 0, request);
	}

	/** A probe is a request that was never throttled: the next one or, after a long Retry-After, the last one. */
	probe(isFromEnd: boolean): LimitedRequest | undefined {
		return this.waiting.filter(({ isInOrder }) => isInOrder).at(isFromEnd ? -1 : 0);
	}
}

/** A request, which needs a permit each time it is sent. */
export class LimitedRequest {
	/** Ends its waiting or its sleep. */
	settle: (result: Permit | Denial) => void = () => {};
	/** Whether it was sent before, and has not slept for long since. */
	hasTurn = false;
	timesThrottled = 0;
	/** Whether others were answered between the last two times. */
	isThrottledAlone = false;
	/** Milliseconds for which it has slept after it was throttled. */
	private sleptMs = 0;
	private throttledAt = -Infinity;
	private firstThrottledAt = Infinity;
	private retries = 0;

	/** @param isCreate whether sending it twice does more than sending it once */
	constructor(
		readonly queue: RunQueue,
		readonly options: RequestOptions,
		readonly isCreate: boolean,
	) {}

	/** Whether it was never throttled; with a Concurrency of 1, which keeps the order, whether it was a few times at most. */
	get isInOrder(): boolean {
		return this.timesThrottled < (this.queue.limits.concurrency === 1 ? TIMES_IN_ORDER : 1);
	}

	/** @returns for how many milliseconds it sleeps before it is sent again; 0 if it waits with all; undefined if it fails */
	sleepAfter(failure: Failure, now: number, answeredAt: number): number | undefined {
		const { condition, retryAfterMs } = meaningOf(failure);
		if (!mayRetry(failure, { idempotent: !this.isCreate })) return undefined;
		if (condition === 'throttled') return this.sleepAfterThrottling(retryAfterMs, now, answeredAt);
		if (cannotBeReached(condition)) return 0;
		this.retries += 1;
		if (this.retries > this.options.maxRetries) return undefined;
		const asked = failure.kind === 'status' ? failure.retryAfterMs : undefined;
		return Math.min(asked ?? backoffMs(this.retries - 1, RETRIES), RETRIES.maxMs);
	}

	/**
	 * The same after a failed question that went before it. If the failure says nothing about the service's state, as a refused
	 * login does, it is the request's own. Otherwise the request waits with all others, until the question is answered.
	 */
	sleepAfterQuestion(
		failure: Failure | undefined,
		now: number,
		answeredAt: number,
	): number | undefined {
		const isOwn = failure !== undefined && meaningOf(failure).condition === 'unknown';
		const isStopped = this.options.signal?.aborted === true;
		return isOwn && !isStopped ? this.sleepAfter(failure, now, answeredAt) : 0;
	}

	/**
	 * After a Retry-After above five seconds, the request itself sleeps, a minute at most. So does one that is throttled
	 * again though others were answered meanwhile: 50 ms times n squared; after four minutes of that it fails.
	 */
	private sleepAfterThrottling(retryAfterMs = 0, now: number, answeredAt: number) {
		this.isThrottledAlone = answeredAt > this.throttledAt && this.timesThrottled > 0;
		this.throttledAt = now;
		this.firstThrottledAt = Math.min(this.firstThrottledAt, now);
		// Squared, since doubled waits would waste what a slow service takes.
		const backoff = this.isThrottledAlone ? FIRST_WAIT_MS * this.timesThrottled ** 2 : 0;
		this.timesThrottled += 1;
		if (!this.isThrottledAlone && retryAfterMs <= LONG_WAIT_MS) return 0;
		const sleepMs = Math.min(Math.max(retryAfterMs, backoff), MINUTE_MS);
		const { patienceMs = PATIENCE_MS } = this.queue.limits;
		const mostMs = answeredAt > this.firstThrottledAt ? OWN_PATIENCE_MS : patienceMs;
		if (this.sleptMs >= mostMs || sleepMs > mostMs) return undefined;
		this.sleptMs += sleepMs;
		this.hasTurn = this.isInOrder && sleepMs <= LONG_WAIT_MS;
		return sleepMs;
	}
}
