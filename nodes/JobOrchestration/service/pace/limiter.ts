import type { Failure } from '../errors/failure';
import { withoutServiceText } from '../errors/failure';
import type { Consequence } from '../errors/rules';
import { consequenceOf } from '../errors/rules';
import { realClock } from '../timers';
import type { Permit } from './breaker';
import { cannotBeReached, INITIAL_LIMIT, MINUTE_MS } from './breaker';
import { MAX_LIMIT, Pace } from './pace';

/** How long requests wait for a service that accepts none. With less, a quota of a minute would fail them. */
export const PATIENCE_MS = 70_000;
/** How long what was learnt holds. With less, a schedule that comes every few minutes would meet an unknown service. */
const MEMORY_MS = 3_600_000;
/** How often the limiter looks for requests that have waited too long. With less, that would take n8n's time. */
const CHECK_MS = 1_000;
/** Requests that start before the event loop gets a turn. With more, n8n's other work would wait for all of them. */
const MAX_BURST = 4;

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

/** A request as the limiter sees it. */
export interface WaitingRequest {
	readonly run: RunLimiter;
	readonly isCreate: boolean;
	/** Whether it was throttled before. */
	readonly wasThrottled: boolean;
	/** Ends its waiting. */
	settle: (result: Permit | Denial) => void;
}

/** The requests of an execution, which may run several nodes and tools. */
class ExecutionQueue {
	/** Throttled before. They go first, else each in turn would be; but others probe, since these may always be. */
	readonly throttled: WaitingRequest[] = [];
	readonly others: WaitingRequest[] = [];
	inFlight = 0;
	wasAnswered = false;
}

/** The place of one run of the node in the limiter of its account. */
export class RunLimiter {
	readonly execution: ExecutionQueue;
	readonly startedAt: number;
	/** Why its last request failed, if that concerns all requests. */
	failure: Failure | undefined;
	/** Why it sends nothing more. */
	denial: Denial | undefined;

	constructor(
		readonly account: AccountLimiter,
		readonly limits: RunLimits = {},
	) {
		const key = limits.execution ?? this;
		this.execution = account.executions.get(key) ?? new ExecutionQueue();
		account.executions.set(key, this.execution);
		this.startedAt = account.clock.now();
	}

	/** Whether all requests wait for the service together after a failure. At first contact, its probes are the retries. */
	waitsTogether(failure: Failure, probe: number, maxRetries: number): boolean {
		const { condition } = consequenceOf(failure);
		if (!cannotBeReached(condition)) return condition === 'throttled';
		return this.execution.wasAnswered || probe < maxRetries;
	}

	/** Fails all requests of executions that have met no service so far. */
	giveUp(failure: Failure): void {
		this.denial = { failure };
		this.account.deny(({ run }) => !run.execution.wasAnswered);
	}
}

/** Gives permits to the requests of one account at its pace. Executions take turns. */
export class AccountLimiter {
	pace = new Pace();
	readonly executions = new WeakMap<object, ExecutionQueue>();
	/** Executions with waiting requests, the next one first. */
	private readonly turns = new Set<ExecutionQueue>();
	/** Requests that wait for themselves alone. */
	private readonly asleep = new Set<WaitingRequest>();
	private failure: Failure | undefined;
	private wakeAt = Infinity;
	private burst = 0;

	constructor(readonly clock = realClock) {}

	/** Lets a request wait for its permit, after a wait of its own. */
	add(request: WaitingRequest, waitMs: number): void {
		if (waitMs === 0) return this.enqueue(request, request.wasThrottled);
		this.asleep.add(request);
		void this.clock.wait(waitMs).then(() => {
			if (this.asleep.delete(request)) this.enqueue(request, false);
		});
	}

	private enqueue(request: WaitingRequest, goesFirst: boolean): void {
		const idleMs = this.clock.now() - this.pace.endedAt;
		if (this.pace.inFlight + this.turns.size + this.asleep.size === 0) {
			if (idleMs > MEMORY_MS) this.pace = new Pace();
			else if (idleMs > MINUTE_MS) this.pace.breaker.restart(this.clock.now());
		}
		if (request.isCreate && this.pace.breaker.hasGivenUp(this.clock.now())) {
			return request.settle(this.denialOf(request.run));
		}
		const { execution } = request.run;
		(goesFirst ? execution.throttled : execution.others).push(request);
		this.turns.add(execution);
		this.admit();
	}

	/** A request doesn't wait any more. */
	remove(request: WaitingRequest): void {
		this.asleep.delete(request);
		const { throttled, others } = request.run.execution;
		for (const waiting of [throttled, others]) {
			const index = waiting.indexOf(request);
			if (index >= 0) waiting.splice(index, 1);
		}
	}

	/** Ends a request's permit, and passes it on. */
	release(run: RunLimiter, permit: Permit, consequence: Consequence): void {
		const { clock, pace } = this;
		run.execution.inFlight -= 1;
		this.failure = run.failure ?? this.failure;
		if (pace.end(permit, consequence, clock.now(), clock.idle()) === 'gaveUp') {
			run.denial = this.denialOf(run);
			this.deny(({ isCreate }) => isCreate);
		}
		this.admit();
	}

	/** Fails waiting requests, and those that their runs would send later. */
	deny(isMeant: (request: WaitingRequest) => boolean): void {
		const waiting = [...this.turns].flatMap(({ throttled, others }) => [...throttled, ...others]);
		for (const request of [...waiting, ...this.asleep].filter(isMeant)) {
			request.run.denial = this.denialOf(request.run);
			request.settle(request.run.denial);
		}
	}

	private denialOf({ failure: own, startedAt }: RunLimiter): Denial {
		const now = this.clock.now();
		const { since = now, failedProbes = 0 } = this.pace.breaker.opening ?? {};
		const failure = own ?? (this.failure && withoutServiceText(this.failure));
		return { failure, waitedMs: now - Math.max(since, startedAt), failedProbes };
	}

	/** Starts the requests that may start now, and comes back when the next one may. */
	private admit(): void {
		const now = this.clock.now();
		while (this.burst < MAX_BURST || this.pace.inFlight <= INITIAL_LIMIT) {
			const next = this.next(now);
			if (typeof next === 'number') return this.comeBack(now, Math.min(next, CHECK_MS));
			this.start(next, now);
		}
	}

	/** The request that may start now, or else in how many milliseconds one may; Infinity if one must end first. */
	private next(now: number): WaitingRequest | number {
		const { breaker, concurrency, inFlight } = this.pace;
		// After a long Retry-After from the other end, since neighbours often share a namespace.
		const isLong = breaker.isLong(now);
		for (const queue of this.turns) {
			const { throttled, others } = queue;
			const isFirst = breaker.opening === undefined ? throttled.length > 0 : others.length === 0;
			const waiting = isFirst ? throttled : others;
			const request = waiting.at(isLong ? -1 : 0);
			if (request === undefined) this.turns.delete(queue);
			const { concurrency: own = 0 } = request?.run.limits ?? {};
			if (request === undefined || (own > 0 && queue.inFlight >= own)) continue;
			if (inFlight + 1 > Math.min(Math.max(concurrency.limit, own), MAX_LIMIT)) return Infinity;
			const delay = this.pace.delay(now, request.isCreate);
			if (delay > 0) return delay;
			if (isLong) waiting.pop();
			else waiting.shift();
			return request;
		}
		return Infinity;
	}

	private start(request: WaitingRequest, now: number): void {
		const { execution } = request.run;
		execution.inFlight += 1;
		// It is the last one's turn again.
		this.turns.delete(execution);
		this.turns.add(execution);
		request.settle(this.pace.start(now, this.clock.idle(), request.isCreate));
		this.burst += 1;
		if (this.burst !== MAX_BURST) return;
		void this.clock.pause().then(() => {
			this.burst = 0;
			this.admit();
		});
	}

	private comeBack(now: number, waitMs: number): void {
		const at = now + waitMs;
		if (this.turns.size === 0 || (this.wakeAt > now && this.wakeAt <= at)) return;
		this.wakeAt = at;
		void this.clock.wait(Math.ceil(waitMs)).then(() => {
			if (this.wakeAt === at) this.wakeAt = Infinity;
			if (waitMs === CHECK_MS) this.denyOverdue();
			this.admit();
		});
	}

	/** Fails the requests that the service has kept waiting for too long. */
	private denyOverdue(): void {
		const now = this.clock.now();
		const { answeredAt, opening, probe } = this.pace.breaker;
		if (opening === undefined) return;
		this.deny(({ run }) => {
			const { patienceMs = PATIENCE_MS } = run.limits;
			if (probe !== undefined && patienceMs >= PATIENCE_MS) return false;
			if (now < Math.max(opening.since, answeredAt, run.startedAt) + patienceMs) return false;
			// The execution's next run doesn't wait as long again.
			run.execution.wasAnswered = false;
			return true;
		});
	}
}
