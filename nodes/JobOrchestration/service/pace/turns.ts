import type { Failure } from '../request/failure';
import { wait } from '../request/wait';
import type { Begun, Hold, Outcome } from './pace';
import { Pace } from './pace';

/** Milliseconds that a request waits for a service that takes none, unless told otherwise. */
const PATIENCE = 60_000;

/** Milliseconds of waiting after which it is worth a word. */
const WORTH_A_WORD = 3_000;

/**
 * Requests that begin before n8n's other work has its turn. Answers that come together would otherwise be followed
 * by requests that are sent together, and so on: n8n would wait for all of them, and then they for n8n.
 */
const MOST_TOGETHER = 8;

/** Accounts whose pace is remembered at most. */
const MOST_ACCOUNTS = 100;

/** What there is to say to whoever waits. */
export type News =
	| { kind: 'waiting'; why: Hold['why'] }
	/** After so many milliseconds. */
	| { kind: 'goesOn'; after: number };

/** A request may begin. Whoever has it says what came of it, and must. */
export interface Turn {
	/** The request is sent only now: its log-in has taken until then, or it is sent again with another token. */
	sent(): void;
	leave(outcome: Outcome, failure?: Failure): void;
}

/** A request won't begin: it was stopped, or the service has taken none for too long. */
export type NoTurn =
	| { refused: 'stopped' }
	/** What the service last said; how many milliseconds was waited, and how often it was asked meanwhile. */
	| { refused: 'hopeless'; failure: Failure; waited: number; asked: number };

interface Waiting {
	visit: Visit;
	stop: AbortSignal | undefined;
	/** Whether it was sent before. */
	isAgain: boolean;
	begin: (turn: Turn | NoTurn) => void;
}

/** What the turns need of the time; tests set their own. */
export interface Clock {
	/** Milliseconds. */
	now(): number;
	/** For how long this process has had nothing to do, since some time. */
	idle(): number;
	wait(milliseconds: number): Promise<void>;
}

const realClock: Clock = {
	now: () => performance.now(),
	idle: () => performance.eventLoopUtilization().idle,
	wait,
};

/** One execution's way to its turns. */
export class Visit {
	/** How many of its requests are under way. */
	underWay = 0;
	/** Whether the service has answered it. */
	hasBeenAnswered = false;
	/** When it first came. */
	since: number | undefined;
	/** Why none of its requests need begin any more. */
	hopeless: NoTurn | undefined;

	/**
	 * @param most requests of this execution at once: in place of the number that the pace finds, if it is given
	 * @param tell is told of a wait that takes a while, and of its end
	 * @param patience milliseconds that its requests wait for a service that takes none
	 */
	constructor(
		private readonly turns: Turns,
		readonly most: number,
		readonly tell: (news: News) => void,
		readonly patience: number,
	) {}

	/** Waits until a request may begin, or until it is clear that it won't. */
	async enter(stop?: AbortSignal, { isAgain = false } = {}): Promise<Turn | NoTurn> {
		return await this.turns.enter(this, stop, isAgain);
	}

	/**
	 * The service could not be reached, and whoever tried has given up. Where it has never answered this
	 * execution, the others need not try.
	 */
	nobodyThere(failure: Failure): void {
		if (!this.hasBeenAnswered) this.turns.giveUp(this, failure);
	}
}

/** Lets the requests of one account begin in the order in which they come, at its pace (pace.ts). */
export class Turns {
	private queue: Waiting[] = [];
	/** What the service last said to whoever it turned away. */
	private failure: Failure | undefined;
	private readonly heard = new WeakSet<AbortSignal>();
	/** Who has been told that all wait. */
	private told: { hold: Hold | undefined; visits: Set<Visit> } = {
		hold: undefined,
		visits: new Set(),
	};
	/** When the next request may begin. */
	private wakeAt = Infinity;
	/** How many have begun together. */
	private together = 0;
	private isPaused = false;

	constructor(
		private readonly clock: Clock = realClock,
		readonly pace = new Pace(),
	) {}

	get isIdle(): boolean {
		return this.pace.underWay === 0 && this.queue.length === 0;
	}

	visit(most = Infinity, tell: (news: News) => void = () => {}, patience = PATIENCE): Visit {
		return new Visit(this, most, tell, patience);
	}

	/**
	 * @param isAgain whether the request was sent before: then it goes before all that were not. It has waited longest,
	 * and a service may turn away what it does not know yet.
	 */
	async enter(
		visit: Visit,
		stop: AbortSignal | undefined,
		isAgain: boolean,
	): Promise<Turn | NoTurn> {
		if (stop?.aborted === true) return { refused: 'stopped' };
		if (visit.hopeless !== undefined) return visit.hopeless;
		if (stop !== undefined) this.hear(stop);
		visit.since ??= this.clock.now();
		return await new Promise((begin) => {
			const waiting = { visit, stop, isAgain, begin };
			const firstNew = isAgain ? this.queue.findIndex((other) => !other.isAgain) : -1;
			if (firstNew < 0) this.queue.push(waiting);
			else this.queue.splice(firstNew, 0, waiting);
			this.letIn();
		});
	}

	giveUp(visit: Visit, failure: Failure): void {
		const waited = this.clock.now() - (visit.since ?? 0);
		const reason: NoTurn = { refused: 'hopeless', failure, waited, asked: 0 };
		visit.hopeless ??= reason;
		this.refuse((waiting) => (waiting.visit === visit ? reason : undefined));
	}

	/** Lets in whoever may begin now, and comes back when the next one may. */
	private letIn(): void {
		if (this.isPaused) return;
		const now = this.clock.now();
		this.refuseHopeless(now);
		this.tellNews(now);
		let next = Infinity;
		for (let index = 0; index < this.queue.length; ) {
			const waiting = this.queue[index];
			if (waiting === undefined) break;
			const { visit } = waiting;
			const isFull = visit.underWay >= visit.most;
			const terms = { regardless: !visit.hasBeenAnswered, isBounded: visit.most < Infinity };
			const delay = isFull ? Infinity : this.pace.delay(now, terms);
			next = Math.min(next, delay);
			if (delay > 0) {
				index += 1;
				next = Math.min(next, this.patienceEnds(visit) - now);
			} else {
				this.queue.splice(index, 1);
				waiting.begin(this.begin(visit, now));
				this.together += 1;
				if (this.pauses()) return;
			}
		}
		const { hold } = this.pace;
		if (this.queue.length > 0 && hold !== undefined && now - hold.since < WORTH_A_WORD) {
			next = Math.min(next, hold.since + WORTH_A_WORD - now);
		}
		if (next < Infinity) this.wake(now, now + Math.max(1, next));
	}

	/** Lets n8n go on where enough have begun together: whether none begins until then. */
	private pauses(): boolean {
		if (this.together < MOST_TOGETHER || this.pace.underWay < 2 * MOST_TOGETHER) return false;
		this.isPaused = true;
		void this.clock.wait(1).then(() => {
			this.isPaused = false;
			this.together = 0;
			this.letIn();
		});
		return true;
	}

	private begin(visit: Visit, now: number): Turn {
		let begun: Begun = this.pace.begin(now, this.clock.idle());
		visit.underWay += 1;
		let hasLeft = false;
		return {
			sent: () => {
				begun = { ...begun, at: this.clock.now(), idle: this.clock.idle() };
			},
			leave: (outcome, failure) => {
				if (hasLeft) return;
				hasLeft = true;
				visit.underWay -= 1;
				visit.hasBeenAnswered ||= !['unreachable', 'timedOut', 'unknown'].includes(outcome.kind);
				this.failure = failure ?? this.failure;
				this.pace.waiting = this.queue.length;
				// Whoever meets a service that isn't there for the first time learns of it alone.
				const isNews = outcome.kind !== 'unreachable' || visit.hasBeenAnswered;
				const news: Outcome = isNews ? outcome : { kind: 'unknown' };
				this.pace.end(begun, news, this.clock.now(), this.clock.idle());
				this.letIn();
			},
		};
	}

	/** Those who have waited too long for a service that takes nothing need not wait on. */
	private refuseHopeless(now: number): void {
		const { hold } = this.pace;
		const { failure } = this;
		if (hold === undefined || failure === undefined) return;
		this.refuse(({ visit }) => {
			if (Math.max(now, hold.named) < this.patienceEnds(visit)) return undefined;
			const waited = now - hold.since;
			visit.hopeless ??= { refused: 'hopeless', failure, waited, asked: hold.asked };
			return visit.hopeless;
		});
	}

	/** When a visit has waited long enough for a service that takes nothing; Infinity where it isn't waiting for that. */
	private patienceEnds(visit: Visit): number {
		const { hold, lastTaken = -Infinity } = this.pace;
		if (hold === undefined || (hold.why === 'unreachable' && !visit.hasBeenAnswered))
			return Infinity;
		return Math.max(hold.since, lastTaken, visit.since ?? -Infinity) + visit.patience;
	}

	private refuse(reason: (waiting: Waiting) => NoTurn | undefined): void {
		this.queue = this.queue.filter((waiting) => {
			const refusal = reason(waiting);
			if (refusal !== undefined) waiting.begin(refusal);
			return refusal === undefined;
		});
	}

	/** One listener for each signal, or Node.js warns of a leak. */
	private hear(stop: AbortSignal): void {
		if (this.heard.has(stop)) return;
		this.heard.add(stop);
		const onStop = () =>
			this.refuse((waiting) => (waiting.stop === stop ? { refused: 'stopped' } : undefined));
		stop.addEventListener('abort', onStop, { once: true });
	}

	private tellNews(now: number): void {
		const { hold } = this.pace;
		if (hold !== this.told.hold) {
			const after = now - (this.told.hold?.since ?? now);
			for (const visit of this.told.visits) visit.tell({ kind: 'goesOn', after });
			this.told = { hold, visits: new Set() };
		}
		if (hold === undefined || now - hold.since < WORTH_A_WORD) return;
		for (const { visit } of this.queue) {
			if (this.told.visits.has(visit)) continue;
			this.told.visits.add(visit);
			visit.tell({ kind: 'waiting', why: hold.why });
		}
	}

	private wake(now: number, at: number): void {
		if (this.wakeAt > now && this.wakeAt <= at) return;
		this.wakeAt = at;
		void this.clock.wait(Math.ceil(at - now)).then(() => {
			if (this.wakeAt === at) this.wakeAt = Infinity;
			this.letIn();
		});
	}
}

const accounts = new Map<string, Turns>();

/** The turns of an account, shared by all executions of this process. */
export function turnsOf(account: string): Turns {
	const turns = accounts.get(account) ?? new Turns();
	accounts.delete(account);
	accounts.set(account, turns);
	for (const [oldest, { isIdle }] of accounts) {
		if (accounts.size <= MOST_ACCOUNTS) break;
		if (isIdle && oldest !== account) accounts.delete(oldest);
	}
	return turns;
}
