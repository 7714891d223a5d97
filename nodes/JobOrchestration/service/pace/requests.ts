import { type Failure, meaningOf } from '../errors/failure';
import type { RequestOptions, ServiceRequest } from '../request';
import {
	ANSWERED,
	type CallCounts,
	type CallState,
	type Consequence,
	type Decision,
} from '../retry/facts';
import { next, RETRY } from '../retry/policy';
import type { Permit } from './gate';

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

/** What is known of an attempt, beside what its request counts. */
interface AttemptFacts
	extends Pick<CallState, 'isHealthCheck' | 'wasAnswered' | 'tokenAgeMs' | 'cause'> {
	/** When it ended, and when any request of the account was last answered. */
	now: number;
	answeredAt: number;
}

/** A request, which needs a permit each time it is sent. */
export class LimitedRequest {
	/** Ends its waiting or its sleep. */
	settle: (result: Permit | Denial) => void = () => {};
	/** Whether it was sent before, and has not slept for long since. */
	hasTurn = false;
	/** How often it was sent, without those times when its token was at fault. */
	timesSent = 0;
	/** Whether others were answered between its last two throttlings. */
	isThrottledAlone = false;
	private readonly counts: CallCounts = {
		attempts: 0,
		retries: 0,
		throttlings: 0,
		tokenRejections: 0,
		notFounds: 0,
		waitedMs: 0,
	};
	private throttledAt = Infinity;

	constructor(
		readonly queue: RunQueue,
		readonly options: RequestOptions,
		private readonly call: Pick<ServiceRequest<unknown>, 'idempotent' | 'isOfNewJob'>,
	) {}

	/** Whether sending it twice does more than sending it once. */
	get isCreate(): boolean {
		return !this.call.idempotent;
	}

	get timesThrottled(): number {
		return this.counts.throttlings;
	}

	/** Whether its token was rejected before, though the service accepts it. */
	get wasRejected(): boolean {
		return this.counts.tokenRejections > 0;
	}

	/** Whether it was never throttled; with a Concurrency of 1, which keeps the order, whether it was a few times at most. */
	get isInOrder(): boolean {
		return this.timesThrottled < (this.queue.limits.concurrency === 1 ? TIMES_IN_ORDER : 1);
	}

	/** Asks the policy what to do after an attempt, and counts it unless a health check has to find the cause first. */
	decide(failure: Failure | undefined, { now, answeredAt, ...facts }: AttemptFacts): Decision {
		const consequence = failure === undefined ? ANSWERED : meaningOf(failure);
		const { counts, call, options, queue } = this;
		const isAlone = answeredAt > this.throttledAt;
		const decision = next(consequence, {
			...{ ...counts, attempts: counts.attempts + 1, ...facts, isAlone, random: Math.random() },
			isIdempotent: call.idempotent,
			isOfNewJob: call.isOfNewJob === true,
			maxRetries: options.maxRetries,
			patienceMs: queue.limits.patienceMs ?? RETRY.patienceMs,
		});
		if (decision.do === 'check health') return decision;
		if (consequence.condition === 'throttled' && !facts.isHealthCheck) {
			this.isThrottledAlone = isAlone;
			this.throttledAt = now;
		}
		this.count(consequence, facts, decision.do === 'send again' ? decision.afterMs : undefined);
		return decision;
	}

	/** @param sleepMs how long it sleeps before it is sent again; undefined if it isn't */
	private count(
		{ condition, token, notFoundBy }: Consequence,
		{ isHealthCheck, cause }: Pick<AttemptFacts, 'isHealthCheck' | 'cause'>,
		sleepMs: number | undefined,
	): void {
		const { counts } = this;
		counts.attempts += 1;
		const isOwn = cause !== 'token' && (!isHealthCheck || condition === 'n8nFailed');
		if (isOwn && RETRY.afterBackoff.includes(condition)) counts.retries += 1;
		if (isHealthCheck) return;
		if (cause !== 'token' || sleepMs === undefined) this.timesSent += 1;
		if (cause === 'call' && token === 'rejected') counts.tokenRejections += 1;
		if (notFoundBy !== undefined) counts.notFounds += 1;
		const isThrottled = condition === 'throttled';
		if (isThrottled) counts.throttlings += 1;
		if (sleepMs === undefined || sleepMs === 0) return;
		if (isThrottled) counts.waitedMs += sleepMs;
		this.hasTurn &&= this.isInOrder && sleepMs <= RETRY.sharedMs;
	}
}
