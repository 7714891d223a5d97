import { type Failure, meaningOf, withoutServiceText } from '../errors/failure';
import { ANSWERED } from '../retry/facts';
import { RETRY } from '../retry/policy';
import { onAbort, realClock } from '../timers';
import { cannotBeReached, Gate, MINUTE_MS, type Permit } from './gate';
import { MAX_LIMIT } from './limits';
import { type Denial, type LimitedRequest, type RunLimits, RunQueue } from './requests';

/** How long what was learnt holds. With less, a schedule that comes every few minutes would meet an unknown service. */
export const MEMORY_MS = 3_600_000;
/** Requests that start before the event loop gets a turn. With more, n8n's other work would wait for all of them. */
const MAX_BURST = 4;

/** Gives permits to the requests of one account at its pace. Executions take turns. */
export class AccountLimiter {
	gate = new Gate();
	private readonly executions = new WeakMap<object, RunQueue['execution']>();
	/** Runs with waiting requests, the next one first. */
	private readonly turns = new Set<RunQueue>();
	private failure: Failure | undefined;
	private hasTimer = false;
	private burst = 0;

	constructor(readonly clock = realClock) {}

	/** A run of the node takes its place. */
	begin(limits: RunLimits = {}): RunQueue {
		const key = limits.execution ?? limits;
		const execution = this.executions.get(key) ?? { places: new Set(), wasAnswered: false };
		this.executions.set(key, execution);
		return new RunQueue(limits, execution, this.clock.now());
	}

	/** Waits until a request may be sent. A cancel ends that at once. */
	async acquire(request: LimitedRequest): Promise<Permit | Denial> {
		const { queue, isCreate, options } = request;
		const now = this.clock.now();
		queue.execution.places.delete(request);
		if (options.signal?.aborted === true) return {};
		if (this.gate.inFlight + this.turns.size === 0) this.forget(now);
		const hasGivenUp = isCreate && this.gate.hasGivenUp(now);
		const denial = queue.denial ?? (hasGivenUp ? this.denialOf(queue) : undefined);
		if (denial !== undefined) {
			// Thousands of items may come here, one after the other.
			await this.clock.pause();
			return denial;
		}
		return await new Promise((resolve) => {
			const stopListening = onAbort(options.signal, () => request.settle({}));
			request.settle = (result) => {
				stopListening();
				queue.waiting.splice(queue.waiting.indexOf(request), 1);
				resolve(result);
			};
			queue.add(request);
			this.turns.add(queue);
			this.admit();
		});
	}

	/**
	 * A request waits for itself alone, at least for a turn of the event loop. A cancel, and a failure of all that waits, end
	 * a longer wait at once.
	 */
	async sleep(request: LimitedRequest, milliseconds: number): Promise<void> {
		const { queue, options } = request;
		if (queue.denial !== undefined) return;
		if (milliseconds === 0) return await this.clock.pause();
		queue.asleep.add(request);
		await new Promise<void>((resolve) => {
			request.settle = () => resolve();
			void this.clock.wait(milliseconds, options.signal).then(resolve);
		});
		queue.asleep.delete(request);
	}

	/** After an idle minute, an outage is forgotten; after an hour, everything. */
	private forget(now: number): void {
		const idleMs = now - this.gate.endedAt;
		if (idleMs > MEMORY_MS) this.gate = new Gate();
		else if (idleMs > MINUTE_MS) this.gate.forgetOutage(now);
	}

	/** Ends a permit, so that others may start. @param comesBack whether the request is to be sent again */
	release(request: LimitedRequest, permit: Permit, failure?: Failure, comesBack = false): void {
		const { clock, gate } = this;
		const { queue, hasTurn, isThrottledAlone } = request;
		const consequence = failure === undefined ? ANSWERED : meaningOf(failure);
		const { condition } = consequence;
		if (!comesBack || !hasTurn) queue.execution.places.delete(request);
		queue.execution.wasAnswered ||= failure === undefined || 'status' in failure;
		// That a request is throttled while others are answered says nothing about the service.
		const isOwn = condition === 'throttled' && isThrottledAlone && !permit.isProbe;
		const ofService = isOwn ? { ...consequence, condition: 'unknown' as const } : consequence;
		const concernsAll = gate.end(permit, ofService, clock.now(), clock.idle());
		// Its first times have lowered the rate of all.
		if (isOwn && request.timesThrottled > 3) gate.rate.growQuickly();
		if (concernsAll || condition === 'answered') queue.failure = failure;
		if (concernsAll) {
			this.failure = failure;
			this.failOverdue(request, cannotBeReached(condition));
		}
		this.admit();
	}

	/**
	 * What waits 70 seconds without any answer fails with the service's words. At first contact, an unreachable service fails
	 * all after about two seconds: its probes are the retries. This is looked at when a probe fails.
	 */
	private failOverdue({ queue: own, options }: LimitedRequest, isAway: boolean): void {
		const { closedAt, answeredAt, failedProbes } = this.gate;
		const now = this.clock.now();
		const hasGivenUp = this.gate.hasGivenUp(now);
		for (const queue of new Set([own, ...this.turns])) {
			const { execution, startedAt, waiting, asleep } = queue;
			const { patienceMs = RETRY.patienceMs } = queue.limits;
			const isLate = now >= Math.max(closedAt, answeredAt, startedAt) + patienceMs;
			const wasNeverThere = isAway && !execution.wasAnswered && failedProbes >= options.maxRetries;
			if (!hasGivenUp && !isLate && !wasNeverThere) continue;
			const denial = this.denialOf(queue);
			if (isLate || wasNeverThere) queue.denial = denial;
			// The execution's next run doesn't wait as long again.
			if (isLate) execution.wasAnswered = false;
			for (const request of [...waiting, ...asleep]) {
				if (queue.denial !== undefined || request.isCreate) request.settle(denial);
			}
		}
	}

	private denialOf({ failure: own, startedAt }: RunQueue): Denial {
		const { closedAt, failedProbes } = this.gate;
		const failure = own ?? withoutServiceText(this.failure ?? { kind: 'timeout' });
		return { failure, waitedMs: this.clock.now() - Math.max(closedAt, startedAt), failedProbes };
	}

	/** Starts the requests that may start now, and comes back when the next one may. */
	private admit(): void {
		const now = this.clock.now();
		while (this.burst < MAX_BURST) {
			const next = this.next(now);
			if (typeof next === 'number') return this.comeBack(next);
			this.start(next, now);
		}
	}

	/** The request that may start now, or else in how many milliseconds one may; Infinity if one must end first. */
	private next(now: number): LimitedRequest | number {
		const { gate } = this;
		for (const queue of this.turns) {
			const { execution, limits } = queue;
			const { concurrency = Infinity } = limits;
			const [first] = queue.waiting;
			if (first === undefined) this.turns.delete(queue);
			// A Concurrency is never exceeded.
			if (first === undefined || execution.places.size >= concurrency) continue;
			const most = Math.max(gate.concurrency.value, limits.concurrency ?? 0);
			if (gate.isFull(Math.min(most, MAX_LIMIT))) return Infinity;
			const delay = gate.delay(now, first.isCreate);
			if (delay <= 0) return (gate.isClosed && queue.probe(gate.probesFromEnd)) || first;
			// While one create goes at a time, others go on.
			if (gate.isClosed || delay < Infinity) return delay;
		}
		return Infinity;
	}

	/** Four starts, then the event loop's turn. */
	private start(request: LimitedRequest, now: number): void {
		const { queue } = request;
		queue.execution.places.add(request);
		request.hasTurn = true;
		// It is the last one's turn again.
		this.turns.delete(queue);
		this.turns.add(queue);
		request.settle(this.gate.start(now, this.clock.idle(), request.isCreate));
		this.burst += 1;
		if (this.burst !== MAX_BURST) return;
		void this.clock.pause().then(() => {
			this.burst = 0;
			this.admit();
		});
	}

	private comeBack(waitMs: number): void {
		if (this.hasTimer || waitMs === Infinity) return;
		this.hasTimer = true;
		void this.clock.wait(Math.ceil(waitMs)).then(() => {
			this.hasTimer = false;
			this.admit();
		});
	}
}
