import type { Failure } from '../errors/failure';
import { withoutServiceText } from '../errors/failure';
import { conditionOf } from '../errors/retryPolicy';
import { onAbort } from '../request/timers';
import { realClock } from './clock';
import type { InFlightRequest, Outcome } from './pace';
import { FIRST_WAIT, INITIAL_LIMIT, LONG_WAIT, MAX_LIMIT, MINUTE, Pace, SECOND } from './pace';

/** How long requests wait for a service that accepts none. With less, a quota of a minute would fail them. */
const PATIENCE = 70_000;
/** Rejections of a request that may fail while others pass. With fewer, it could be by chance. */
const MAX_REJECTIONS = 5;
/** Requests that start before the event loop gets a turn. With more, n8n's other work would wait for all of them. */
const MAX_BURST = 4;

/** Why a request gets no permit: it was stopped, or all requests `waited` milliseconds and `probes` failed. */
type Denial = { failure?: Failure | undefined; waited?: number; probes?: number };

/** What a run of the node sets. */
export interface LimiterOptions {
	/** Requests in flight at most. The pace decides if it is undefined. */
	concurrency?: number | undefined;
	/** Milliseconds to wait for a service that accepts no requests. */
	patience?: number | undefined;
	/** The same object for all runs of one execution. */
	execution?: object | undefined;
}

/** The requests of an execution, which may run several nodes and tools. */
class Execution {
	waiting: LimitedRequest[] = [];
	inFlight = 0;
	wasAnswered = false;
}

/** Limits the requests of one run of a node. */
export class ExecutionLimiter {
	readonly execution: Execution;
	readonly startedAt: number;
	/** Why its last request failed, if that concerns all requests. */
	failure: Failure | undefined;
	denial: Denial | undefined;

	constructor(
		readonly account: AccountLimiter,
		readonly options: LimiterOptions = {},
	) {
		const key = options.execution ?? this;
		this.execution = account.executions.get(key) ?? new Execution();
		account.executions.set(key, this.execution);
		this.startedAt = account.clock.now();
	}

	/** Fails all of the run's requests, as the first ones have met no service. */
	giveUp(failure: Failure): void {
		this.denial = { failure };
		this.account.denyWaiting();
	}
}

/** A request, which needs a permit each time it is sent. */
export class LimitedRequest {
	/** Retried requests go first (0). Those rejected again and again go last (2), since they may always be. */
	rank = 1;
	/** Whether the next item should start beside it. */
	isHeld = false;
	rejections = 0;
	/** Milliseconds that it has waited or waits for itself, while others may start. */
	ownWait = 0;
	/** When it may be sent again, even if others may start earlier. */
	notBefore = 0;
	permit: InFlightRequest | undefined;
	/** Ends its waiting, with a permit unless it is denied. */
	settle: (denial?: Denial) => void = () => {};
	private rejectedAt = -Infinity;
	private firstRejectedAt = Infinity;

	constructor(readonly run: ExecutionLimiter) {}

	/** Waits for a permit, which must be released. */
	async acquire(stop?: AbortSignal): Promise<Denial | undefined> {
		const { account, denial: denialOfRun, execution } = this.run;
		if (stop?.aborted === true) return {};
		if (denialOfRun !== undefined) return denialOfRun;
		return await new Promise((resolve) => {
			this.settle = (denial) => {
				execution.waiting = execution.waiting.filter((other) => other !== this);
				stopListening();
				resolve(denial);
			};
			const stopListening = onAbort(stop, () => this.settle({}));
			account.enqueue(this);
		});
	}

	/** A login has taken until now. */
	readonly sent = (): void => {
		if (this.permit !== undefined) this.permit.idleBefore = this.run.account.clock.idle();
	};

	/** @param failure of the request; undefined if it was answered as expected */
	release(failure?: Failure): void {
		const outcome: Outcome = failure === undefined ? { kind: 'answered' } : conditionOf(failure);
		const { permit, run } = this;
		const { account, execution } = run;
		if (permit === undefined) return;
		this.permit = undefined;
		execution.inFlight -= 1;
		const isSingle = outcome.kind === 'throttled' && this.noteRejection(outcome);
		this.rank = this.isHeld ? 2 : 0;
		execution.wasAnswered ||= ['answered', 'throttled', 'unavailable'].includes(outcome.kind);
		run.failure = outcome.kind === 'unknown' ? undefined : failure;
		account.failure = run.failure ?? account.failure;
		const { clock, pace } = account;
		pace.end(permit, isSingle ? { kind: 'unknown' } : outcome, clock.now(), clock.idle());
		account.admit();
	}

	/** @returns whether others were answered between its rejections, so that those concern it alone */
	private noteRejection({ retryAfter = 0 }: Outcome): boolean {
		const { clock, pace } = this.run.account;
		const now = clock.now();
		const isSingle = this.rejections > Number(retryAfter > 0) && pace.answeredAt > this.rejectedAt;
		this.rejections += 1;
		this.rejectedAt = now;
		this.firstRejectedAt = Math.min(this.firstRejectedAt, now);
		this.isHeld = now - this.firstRejectedAt >= SECOND || retryAfter > LONG_WAIT;
		const backoff = isSingle ? Math.min(FIRST_WAIT * this.rejections ** 2, LONG_WAIT) : 0;
		this.notBefore = now + Math.min(Math.max(retryAfter, backoff), MINUTE);
		this.ownWait += this.notBefore - now;
		// Its first rejections have lowered the rate of all.
		if (isSingle && this.rejections > 2) pace.rate.startSlowly();
		return isSingle;
	}
}

/** Gives permits to the requests of one account at its pace. Executions take turns. */
export class AccountLimiter {
	pace = new Pace();
	readonly executions = new WeakMap<object, Execution>();
	/** Executions with waiting requests, the next one first. */
	private turns: Execution[] = [];
	failure: Failure | undefined;
	private wakeAt = Infinity;
	private burst = 0;

	constructor(readonly clock = realClock) {}

	enqueue(request: LimitedRequest): void {
		const { execution } = request.run;
		const isIdle = this.pace.inFlight === 0 && this.turns.length === 0;
		if (isIdle && this.clock.now() > this.pace.endedAt + MINUTE) this.pace = new Pace();
		const index = execution.waiting.findIndex(({ rank }) => rank > request.rank);
		execution.waiting.splice(index < 0 ? execution.waiting.length : index, 0, request);
		if (!this.turns.includes(execution)) this.turns.push(execution);
		this.admit();
	}

	/** Fails the requests that have waited too long or whose run has given up. */
	denyWaiting(): void {
		const now = this.clock.now();
		for (const request of this.turns.flatMap(({ waiting }) => waiting)) {
			const denial = this.denialOf(request, now);
			if (denial !== undefined) request.settle(denial);
		}
		this.admit();
	}

	/** Starts the requests that may start now, and comes back when the next one may. */
	admit(): void {
		const now = this.clock.now();
		while (this.burst < MAX_BURST || this.pace.inFlight <= INITIAL_LIMIT) {
			const request = this.pace.delay(now) > 0 ? undefined : this.next(now);
			if (request === undefined) break;
			this.start(request, now);
		}
		this.turns = this.turns.filter(({ waiting }) => waiting.length > 0);
		const delay = this.pace.delay(now);
		// Each second, some may have waited too long.
		const at = now + (delay > 0 ? Math.min(delay, SECOND) : SECOND);
		if (this.turns.length === 0 || (this.wakeAt > now && this.wakeAt <= at)) return;
		this.wakeAt = at;
		void this.clock.wait(Math.ceil(at - now)).then(() => {
			if (this.wakeAt === at) this.wakeAt = Infinity;
			this.denyWaiting();
		});
	}

	private next(now: number): LimitedRequest | undefined {
		const { breaker } = this.pace;
		for (const { waiting } of this.turns) {
			const due = waiting.filter(({ notBefore, run }) => notBefore <= now && this.hasRoom(run));
			// After a long Retry-After from the other end, since neighbours often share a namespace.
			if (breaker.isLong(now)) due.reverse();
			// The best probe is a request that was never rejected.
			if (breaker.opening !== undefined) due.sort((a, b) => a.rejections - b.rejections);
			if (due[0] !== undefined) return due[0];
		}
		return undefined;
	}

	private hasRoom({ execution, options }: ExecutionLimiter): boolean {
		const { inFlight, concurrency } = this.pace;
		// An execution may start its first request even if others have reached the limit.
		const isPaced = options.concurrency === undefined && execution.inFlight > 0;
		const hasOwnRoom = execution.inFlight < (options.concurrency ?? Infinity);
		return hasOwnRoom && inFlight + 1 <= (isPaced ? concurrency.limit : MAX_LIMIT);
	}

	private start(request: LimitedRequest, now: number): void {
		const { execution } = request.run;
		execution.inFlight += 1;
		request.permit = this.pace.start(now, this.clock.idle());
		request.settle();
		this.turns = [...this.turns.filter((other) => other !== execution), execution];
		this.burst += 1;
		if (this.burst !== MAX_BURST) return;
		void this.clock.pause().then(() => {
			this.burst = 0;
			this.admit();
		});
	}

	/** Why a waiting request fails now, if it does. */
	private denialOf(request: LimitedRequest, now: number): Denial | undefined {
		const { run, notBefore, rejections, ownWait } = request;
		const { patience = PATIENCE } = run.options;
		const { answeredAt, breaker } = this.pace;
		if (run.denial !== undefined) return run.denial;
		if (rejections >= MAX_REJECTIONS && ownWait > PATIENCE) return { failure: run.failure };
		const { since = now, probes = 0 } = breaker.opening ?? {};
		const patienceEnds = Math.max(since, answeredAt, run.startedAt) + patience;
		const awaitsProbe = breaker.probe !== undefined && patience >= PATIENCE;
		if (awaitsProbe || (now < patienceEnds && notBefore - now < patience)) return undefined;
		// The execution's next run doesn't wait as long again.
		run.execution.wasAnswered = false;
		const failure = run.failure ?? (this.failure && withoutServiceText(this.failure));
		return { failure, waited: now - Math.max(since, run.startedAt), probes };
	}
}
