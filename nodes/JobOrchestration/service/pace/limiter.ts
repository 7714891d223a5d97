import { type Failure, notSent, toolCallOver } from '../errors/failure';
import { ANSWERED } from '../policy';
import { onAbort, realClock } from '../timers';
import { CircuitBreaker } from './circuitBreaker';
import { ConcurrencyLimit, MAX_LIMIT, RateLimit } from './limits';
import { type Denial, ExecutionQueue, KEEPS_PLACE_MS, type LimitedRequest } from './queue';

/** Permits per event loop turn. Measured with 1: 3,000 executions take twice as long. With 100: all start at once. */
const MAX_BURST = 4;

/**
 * Gives permits to the requests of one account. After each request, it is another execution's turn. `withPermit` uses
 * these permits, so that each is given back.
 */
export class AccountLimiter {
	private readonly breaker = new CircuitBreaker();
	private readonly concurrency = new ConcurrencyLimit();
	private readonly rate = new RateLimit();
	private inFlight = 0;
	private readonly queues = new WeakMap<object, ExecutionQueue>();
	/** The executions with waiting requests, the next one first, and those of them that have a Concurrency. */
	private readonly turns = new Set<ExecutionQueue>();
	private readonly turnsWithConcurrency = new Set<ExecutionQueue>();
	/** The last failure that opened the circuit breaker, ended a probe or paused all requests, and its queue. */
	private lastFailure: { failure: Failure; queue: ExecutionQueue } | undefined;
	/** The time of the timer that runs `admit` again. */
	private comesBackAt = Infinity;
	private burst = 0;

	constructor(readonly clock = realClock) {}

	/** Returns the queue of an execution. @param execution the same object for all requests of the execution */
	queueOf(execution: object): ExecutionQueue {
		const queue = this.queues.get(execution) ?? new ExecutionQueue(this.clock.now());
		this.queues.set(execution, queue);
		return queue;
	}

	othersAreAnswered({ throttledAt }: LimitedRequest): boolean {
		return this.breaker.answeredAt > throttledAt;
	}

	/** Waits for a permit. An abort or the run's end ends the wait at once. @returns a denial if no permit is given */
	async acquire(request: LimitedRequest): Promise<Denial | undefined> {
		const { queue, options } = request;
		const { aborted = false } = options.signal ?? {};
		const hadPlace = queue.places.delete(request);
		const denial = aborted ? {} : this.denialOf(request);
		if (denial !== undefined) {
			if (hadPlace) this.admit();
			// Thousands of items may be denied one after the other, and the event loop needs a turn in between.
			if (!aborted) await this.clock.pause();
			return denial;
		}
		return await new Promise((resolve) => {
			const stopListening = onAbort(options.signal, () => request.settle({}));
			const settle = (result?: Denial) => {
				request.settle = () => {};
				stopListening();
				queue.waiting.splice(queue.waiting.indexOf(request), 1);
				for (const turns of [this.turns, this.turnsWithConcurrency]) {
					if (turns.delete(queue) && queue.waiting.length > 0) turns.add(queue);
				}
				resolve(result);
			};
			request.settle = settle;
			const end = () => request.settle === settle && settle(this.denial(request));
			const remainingMs = options.runEndsAt - this.clock.now();
			if (remainingMs < Infinity) void this.clock.wait(remainingMs).then(end);
			// A request that was sent before goes first, unless it was throttled while others were answered.
			const isFirst = request.startedAt > -Infinity && !request.isThrottledAlone;
			queue.waiting.splice(isFirst ? 0 : queue.waiting.length, 0, request);
			this.turns.add(queue);
			if (options.concurrency !== undefined) this.turnsWithConcurrency.add(queue);
			this.admit();
		});
	}

	/** Waits for the request's own Retry-After or backoff. An abort or a denial ends the wait at once. */
	async sleep(request: LimitedRequest, delayMs: number): Promise<void> {
		if (delayMs === 0) return await this.clock.pause();
		if (this.denialOf(request) !== undefined) return;
		request.queue.asleep.add(request);
		await new Promise<void>((resolve) => {
			request.settle = () => resolve();
			void this.clock.wait(delayMs, request.options.signal).then(resolve);
		});
		request.queue.asleep.delete(request);
	}

	/** Takes a permit back. @param sleepMs milliseconds until the request is sent again; Infinity if it isn't */
	release(request: LimitedRequest, failure?: Failure, sleepMs = Infinity): void {
		const { queue, options, startedAt, isProbe } = request;
		const consequence = failure ?? ANSWERED;
		const isThrottled = consequence.condition === 'throttled' && !request.isHealthCheck;
		const now = this.clock.now();
		request.isThrottledAlone = isThrottled && this.othersAreAnswered(request);
		if (isThrottled) request.throttledAt = now;
		request.keepsPlace = options.concurrency === 1 && sleepMs <= KEEPS_PLACE_MS;
		if (!request.keepsPlace) queue.places.delete(request);
		if (consequence.condition === 'answered') {
			this.concurrency.answered(this.clock.idle() - request.idleBefore);
			this.rate.answered(now);
		}
		// A request that is throttled while others are answered says nothing about the service.
		if (isProbe || !request.isThrottledAlone) {
			if (!isProbe) this.concurrency.failed(consequence, startedAt, now);
			if (!isProbe && this.breaker.failures < 1) this.rate.failed(consequence, startedAt, now);
			if (this.breaker.end(request, consequence, now) && failure !== undefined) {
				this.lastFailure = { failure, queue };
				this.failOverdue(now, queue);
			}
		}
		this.inFlight -= 1;
		if (options.concurrency === undefined) this.concurrency.inFlight -= 1;
		this.admit();
	}

	/** Fails requests that must not wait any longer. `CircuitBreaker.end` says when to check this. */
	private failOverdue(now: number, failing: ExecutionQueue): void {
		for (const queue of new Set([failing, ...this.turns])) {
			for (const request of [...queue.waiting, ...queue.asleep]) {
				const denial = this.denialOf(request, now);
				if (denial !== undefined) request.settle(denial);
			}
		}
	}

	private denialOf(request: LimitedRequest, now = this.clock.now()): Denial | undefined {
		return this.breaker.mustFail(request, now) ? this.denial(request, now) : undefined;
	}

	private denial(request: LimitedRequest, now = this.clock.now()): Denial {
		const last = this.lastFailure;
		const failure = last && notSent(last.failure, last.queue === request.queue);
		if (this.breaker.outlasts(request, now))
			return { failure: toolCallOver(this.breaker.isOpen ? failure : undefined) };
		const waitedMs = now - this.breaker.waitsSince(request);
		const failedProbes = Math.max(0, this.breaker.failures - 2);
		return { failure, waitedMs, failedProbes };
	}

	/** Starts the requests that may start now, and runs again when the next one may start. */
	private admit(): void {
		const now = this.clock.now();
		while (this.burst < MAX_BURST) {
			const request = this.next(now);
			if (typeof request === 'number') return void this.comeBack(request);
			// While n8n is busy, the timer that ends the request's wait fires late.
			if (this.breaker.outlasts(request, now)) {
				request.settle(this.denial(request, now));
				continue;
			}
			request.queue.places.add(request);
			request.startedAt = now;
			request.idleBefore = this.clock.idle();
			this.breaker.start(request);
			this.rate.started(now);
			this.inFlight += 1;
			if (request.options.concurrency === undefined) this.concurrency.inFlight += 1;
			request.settle();
			this.burst += 1;
			if (this.burst < MAX_BURST) continue;
			void this.clock.pause().then(() => {
				this.burst = 0;
				this.admit();
			});
		}
	}

	/** Returns the request that may start now, or the milliseconds until one may; Infinity if another must end first. */
	private next(now: number): LimitedRequest | number {
		const { isFull } = this.concurrency;
		const turns = isFull ? this.turnsWithConcurrency : this.turns;
		if (this.inFlight >= MAX_LIMIT || turns.size === 0) return Infinity;
		const pauseMs = Math.max(this.breaker.pausedUntil, this.rate.nextAt) - now;
		if (pauseMs > 0) return pauseMs;
		const probePauseMs = this.breaker.nextProbeAt - now;
		for (const queue of turns) {
			const [first] = queue.waiting;
			const most = first?.options.concurrency ?? (isFull ? 0 : Infinity);
			if (first === undefined || queue.places.size >= most) continue;
			if (!this.breaker.needsProbe(first)) return first;
			if (probePauseMs <= 0) return queue.probe(first, this.breaker.failures < 3);
			// While non-idempotent requests go one at a time, idempotent requests of other executions can start.
			if (this.breaker.isOpen) break;
		}
		return probePauseMs > 0 ? probePauseMs : Infinity;
	}

	private async comeBack(delayMs: number): Promise<void> {
		const at = this.clock.now() + delayMs;
		if (at >= this.comesBackAt) return;
		this.comesBackAt = at;
		await this.clock.wait(Math.ceil(delayMs));
		if (at === this.comesBackAt) this.comesBackAt = Infinity;
		this.admit();
	}
}
