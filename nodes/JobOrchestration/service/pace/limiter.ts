import { byAccount } from '../account/byAccount';
import type { Failure } from '../request/failure';
import { asOfOthers } from '../request/failure';
import { onAbort } from '../request/timers';
import type { Clock } from './clock';
import { realClock } from './clock';
import type { Hold, InFlightRequest, Outcome } from './pace';
import { AWAY, Pace } from './pace';
import type { WaitNotice } from './waitNotices';
import { WaitNotices } from './waitNotices';

/**
 * Milliseconds that a request waits for a service that takes none, unless told otherwise: a minute, which services
 * that count by the minute ask for, and some more to find out that it is over.
 */
const PATIENCE = 70_000;

/**
 * Requests that begin before n8n's other work has its turn. Answers that come together would otherwise be followed
 * by requests that are sent together, and so on: n8n would wait for all of them, and then they for n8n.
 */
const MAX_BURST = 4;
/** With fewer under way, there is nothing to spread. */
const FEW_UNDER_WAY = 16;

/** Once all have waited for so many milliseconds, requests that were never turned away go first: they find out for the others. */
const LONG_HOLD = 1_000;

/** Outcomes that show that the service can be reached. */
const SHOWS_REACHABLE: Array<Outcome['kind']> = ['done', 'otherAnswer', 'throttled', 'unavailable'];
/** Outcomes that make all requests wait. */
const CONCERNS_ALL: Array<Outcome['kind']> = ['throttled', 'unavailable', ...AWAY];

/** Outcomes that need not be met again by an execution that the service has never answered. */
const ENDS_FIRST_CONTACT: Array<Outcome['kind']> = ['unreachable', 'loginFailed'];

/** Leave to send one request. Whoever has it must release it. */
export interface Permit {
	/** Whether the request finds out, for all, whether the service takes requests again. */
	readonly isProbe: boolean;
	/** Whether it does so after all had waited for long: if it is turned away, too, it may be the only one that is. */
	readonly isLateProbe: boolean;
	/** The request is sent only now: its log-in has taken until then, or it is sent again with another token. */
	sent(): void;
	/** Counts a log-in that failed, once for all who waited for it. @returns how many of its run have failed so far */
	countFailedLogin(): number;
	/** Says what came of the request. */
	release(outcome: Outcome, failure?: Failure): void;
}

/** No permit: the request was stopped, or the service has taken none for too long. */
export type Denial =
	| { denied: 'stopped' }
	/** What the service last said; how many milliseconds was waited, and how often it was probed meanwhile. */
	| { denied: 'givenUp'; failure: Failure; waited: number; probes: number };

/** Where a request stands in the queue. */
export interface QueuePosition {
	/**
	 * Whether it goes before all that were never sent: it has waited longest, and a service may turn away what it does
	 * not know yet. One that was a probe in vain, or is to wait for long, should wait in its turn.
	 */
	goesFirst?: boolean;
	/** Whether the service has turned it away: where all wait for long, others find out whether they can go on. */
	wasThrottled?: boolean;
}

interface QueuedRequest {
	execution: ExecutionLimiter;
	wasThrottled: boolean;
	/** Those with a lower one begin earlier. */
	turn: number;
	resolve: (permit: Permit | Denial) => void;
}

/** What holds for the requests of one run of a node. */
export interface LimiterOptions {
	/** The most of the execution's at once, in place of the number that the pace finds; Infinity if nobody has set it. */
	concurrency?: number | undefined;
	/** Is told of a wait that takes a while, and of its end. */
	notify?: (notice: WaitNotice) => void;
	/** Milliseconds that they wait for a service that takes none. */
	patience?: number | undefined;
	/** The same object for all runs of one execution. */
	execution?: object | undefined;
}

/** The requests of one run of a node. */
export class ExecutionLimiter {
	readonly concurrency: number;
	readonly notify: (notice: WaitNotice) => void;
	readonly patience: number;
	/** When its first request came. */
	firstRequestAt: number | undefined;
	/** The turn of its newest request. */
	lastTurn = 0;
	/** How many of its log-ins have failed, and when the last one did. */
	failedLogins = { count: 0, last: -Infinity };
	/** What the service last said to it when all had to wait, and since when they did. */
	lastHold: { failure: Failure | undefined; since: number } | undefined;
	/** Why none of its requests need begin any more. */
	denial: Denial | undefined;
	private readonly execution: object;

	constructor(
		private readonly account: AccountLimiter,
		{ concurrency = Infinity, notify = () => {}, patience = PATIENCE, execution }: LimiterOptions,
	) {
		this.concurrency = concurrency;
		this.notify = notify;
		this.patience = patience;
		this.execution = execution ?? this;
	}

	/** How many of its execution's requests with a number are under way: an agent may run a tool several times at once. */
	get boundedUnderWay(): number {
		return this.account.boundedUnderWay.get(this.execution) ?? 0;
	}

	set boundedUnderWay(count: number) {
		this.account.boundedUnderWay.set(this.execution, count);
	}

	/** Whether the pace says how many may be under way, since nobody else has. */
	get isPaced(): boolean {
		return this.concurrency === Infinity;
	}

	/** Whether the service has answered this execution, in this run or an earlier one. */
	get hasBeenAnswered(): boolean {
		return this.account.answeredExecutions.has(this.execution);
	}

	noteAnswer(): void {
		this.account.answeredExecutions.add(this.execution);
	}

	/** The service was away for too long: the execution's next run need not wait for it as long again. */
	forgetAnswer(): void {
		this.account.answeredExecutions.delete(this.execution);
	}

	/** Waits until a request may begin, or until it is clear that it won't. */
	async acquire(stop?: AbortSignal, position: QueuePosition = {}): Promise<Permit | Denial> {
		return await this.account.acquire(this, stop, position);
	}

	/**
	 * A request has failed for good. Where the service has never answered this execution, and can't be reached or logs
	 * nobody in, the others need not try: the address may be wrong.
	 */
	giveUp({ kind }: Outcome, failure: Failure): void {
		if (!ENDS_FIRST_CONTACT.includes(kind) || this.hasBeenAnswered) return;
		this.account.giveUp(this, failure);
	}
}

/**
 * Lets the requests of one account begin, at its pace (pace.ts): first those that were sent before, then those of
 * all executions by turns, so that a single request need not wait for another execution's batch (start-time fair
 * queueing). Those of one execution begin in the order in which they come.
 */
export class AccountLimiter {
	readonly pace: Pace;
	/** By their turns. */
	private queue: QueuedRequest[] = [];
	/** The turn of those that begin now. */
	private turn = 0;
	/** The executions that the service has answered. */
	readonly answeredExecutions = new WeakSet<object>();
	/** How many requests of each execution are under way whose number somebody has set. */
	readonly boundedUnderWay = new WeakMap<object, number>();
	/** How many are under way where the pace says how many may be. */
	private pacedUnderWay = 0;
	/** The failure that last made all wait. */
	private failure: Failure | undefined;
	private readonly notices = new WaitNotices();
	/** When the next request may begin. */
	private wakeAt = Infinity;
	/** How many have begun since the last pause. */
	private burst = 0;
	private isPaused = false;

	constructor(private readonly clock: Clock = realClock) {
		this.pace = new Pace(clock.random);
	}

	get isIdle(): boolean {
		return this.pace.underWay === 0 && this.queue.length === 0;
	}

	forExecution(options: LimiterOptions = {}): ExecutionLimiter {
		return new ExecutionLimiter(this, options);
	}

	/** See ExecutionLimiter. */
	async acquire(
		execution: ExecutionLimiter,
		stop: AbortSignal | undefined,
		{ goesFirst = false, wasThrottled = false }: QueuePosition,
	): Promise<Permit | Denial> {
		if (stop?.aborted === true) return { denied: 'stopped' };
		if (execution.denial !== undefined) return execution.denial;
		execution.firstRequestAt ??= this.clock.now();
		return await new Promise((resolve) => {
			const stopListening = onAbort(stop, () => {
				const index = this.queue.indexOf(request);
				if (index < 0) return;
				this.queue.splice(index, 1);
				request.resolve({ denied: 'stopped' });
			});
			const turn = goesFirst ? 0 : Math.max(this.turn, execution.lastTurn) + 1;
			const request: QueuedRequest = {
				execution,
				wasThrottled,
				turn,
				resolve: (answer) => {
					stopListening();
					resolve(answer);
				},
			};
			execution.lastTurn = Math.max(turn, execution.lastTurn);
			const later = this.queue.findIndex((other) => other.turn > turn);
			this.queue.splice(later < 0 ? this.queue.length : later, 0, request);
			this.admit();
		});
	}

	/** See ExecutionLimiter. */
	giveUp(execution: ExecutionLimiter, failure: Failure): void {
		const waited = this.clock.now() - (execution.firstRequestAt ?? 0);
		const denial: Denial = { denied: 'givenUp', failure, waited, probes: 0 };
		execution.denial ??= denial;
		this.deny((request) => (request.execution === execution ? denial : undefined));
	}

	/** Lets whoever may begin now begin, and comes back when the next one may. */
	private admit(): void {
		if (this.isPaused) return;
		const now = this.clock.now();
		this.pace.forget(now);
		this.denyImpatient(now);
		this.notices.give(this.pace.hold, now, this.queue);
		let next = Infinity;
		const waiting = new Set<ExecutionLimiter>();
		for (const request of this.inOrder(now)) {
			const { execution } = request;
			if (waiting.has(execution)) continue;
			const isFull = execution.boundedUnderWay >= execution.concurrency;
			const terms = {
				ignoreUnreachable: !execution.hasBeenAnswered,
				paced: execution.isPaced ? this.pacedUnderWay : 0,
			};
			const delay = isFull ? Infinity : this.pace.delay(now, terms);
			if (delay > 0) {
				waiting.add(execution);
				next = Math.min(next, delay, this.patienceEnds(execution, now) - now);
			} else {
				this.queue.splice(this.queue.indexOf(request), 1);
				this.turn = Math.max(this.turn, request.turn);
				request.resolve(this.permit(execution, now));
				this.burst += 1;
				if (this.pauses()) return;
			}
		}
		if (this.queue.length > 0) {
			next = Math.min(next, this.notices.delay(this.pace.hold, now));
		}
		if (next < Infinity) this.wake(now, now + Math.max(1, next));
	}

	/** Those that wait, in the order in which they may begin. */
	private inOrder(now: number): QueuedRequest[] {
		if (!isLong(this.pace.hold, now)) return [...this.queue];
		const others = this.queue.filter(({ wasThrottled }) => !wasThrottled);
		return [...others, ...this.queue.filter(({ wasThrottled }) => wasThrottled)];
	}

	/** Lets n8n go on where enough have begun together: whether none begins until then. */
	private pauses(): boolean {
		if (this.burst < MAX_BURST || this.pace.underWay < FEW_UNDER_WAY) return false;
		this.isPaused = true;
		void this.clock.pause().then(() => {
			this.isPaused = false;
			this.burst = 0;
			this.admit();
		});
		return true;
	}

	private permit(execution: ExecutionLimiter, now: number): Permit {
		let request: InFlightRequest = this.pace.begin(now, this.clock.idle());
		this.count(execution, 1);
		let isReleased = false;
		return {
			isProbe: request.isProbe,
			isLateProbe: request.isProbe && isLong(this.pace.hold, now),
			sent: () => {
				request = { ...request, at: this.clock.now(), idle: this.clock.idle() };
			},
			countFailedLogin: () => {
				const { count, last } = execution.failedLogins;
				if (now >= last) execution.failedLogins = { count: count + 1, last: this.clock.now() };
				return execution.failedLogins.count;
			},
			release: (outcome, failure) => {
				if (isReleased) return;
				isReleased = true;
				this.count(execution, -1);
				if (SHOWS_REACHABLE.includes(outcome.kind)) execution.noteAnswer();
				// Whoever meets a service that isn't there for the first time makes nobody else wait.
				const concernsAll = outcome.kind !== 'unreachable' || execution.hasBeenAnswered;
				const observed: Outcome = concernsAll ? outcome : { kind: 'unknown' };
				const moment = { idle: this.clock.idle(), waiting: this.queue.length };
				this.pace.end(request, observed, this.clock.now(), moment);
				if (CONCERNS_ALL.includes(observed.kind)) {
					this.failure = failure;
					const { since = -Infinity } = this.pace.hold ?? {};
					execution.lastHold = { failure, since };
				}
				this.admit();
			},
		};
	}

	/** Notes that so many more requests of an execution are under way. */
	private count(execution: ExecutionLimiter, more: number): void {
		if (execution.isPaced) this.pacedUnderWay += more;
		else execution.boundedUnderWay += more;
	}

	/** Those who have waited too long for a service that takes nothing need not wait on. */
	private denyImpatient(now: number): void {
		const { hold } = this.pace;
		const { failure } = this;
		if (hold === undefined || failure === undefined) return;
		this.deny(({ execution }) => {
			if (execution.denial !== undefined) return execution.denial;
			if (Math.max(now, hold.retryAfterUntil) < this.patienceEnds(execution, now)) return undefined;
			const waited = now - Math.max(hold.since, execution.firstRequestAt ?? -Infinity);
			const own = execution.lastHold?.since === hold.since ? execution.lastHold.failure : undefined;
			execution.denial = {
				denied: 'givenUp',
				failure: own ?? asOfOthers(failure),
				waited,
				probes: hold.probes,
			};
			execution.forgetAnswer();
			return execution.denial;
		});
	}

	/** When an execution has waited long enough for a service that takes nothing; Infinity where it isn't waiting for that. */
	private patienceEnds(execution: ExecutionLimiter, now: number): number {
		const { hold, lastTaken = -Infinity } = this.pace;
		const isFirstContact =
			hold?.reason === 'unreachable' && now >= hold.retryAfterUntil && !execution.hasBeenAnswered;
		// What a probe finds out is worth waiting for, but not to whoever has little time.
		const awaitsProbe = this.pace.isProbing && execution.patience >= PATIENCE;
		if (hold === undefined || isFirstContact || awaitsProbe) return Infinity;
		return (
			Math.max(hold.since, lastTaken, execution.firstRequestAt ?? -Infinity) + execution.patience
		);
	}

	private deny(denialOf: (request: QueuedRequest) => Denial | undefined): void {
		this.queue = this.queue.filter((request) => {
			const denial = denialOf(request);
			if (denial !== undefined) request.resolve(denial);
			return denial === undefined;
		});
	}

	private wake(now: number, at: number): void {
		if (this.wakeAt > now && this.wakeAt <= at) return;
		this.wakeAt = at;
		void this.clock.wait(Math.ceil(at - now)).then(() => {
			if (this.wakeAt === at) this.wakeAt = Infinity;
			this.admit();
		});
	}
}

/** Whether all have waited for longer than a service asks for that takes a few requests a second. */
function isLong(hold: Hold | undefined, now: number): boolean {
	return hold !== undefined && now - hold.since >= LONG_HOLD;
}

/** The limiter of an account, shared by all executions of this process. */
export const limiterOf = byAccount(
	() => new AccountLimiter(),
	({ isIdle }) => isIdle,
);
