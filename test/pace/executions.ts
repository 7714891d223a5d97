import { inParallel } from '../../nodes/JobOrchestration/execution/inParallel';
import {
	sendWithRetries,
	StoppedBeforeSending,
} from '../../nodes/JobOrchestration/service/calls/sendWithRetries';
import type { RunLimits } from '../../nodes/JobOrchestration/service/pace/limiter';
import { AccountLimiter, RunLimiter } from '../../nodes/JobOrchestration/service/pace/limiter';
import type { Failure } from '../../nodes/JobOrchestration/service/errors/failure';
import { anyCall, newSender } from '../support/sender';
import { statusFailure } from '../reliability/statusFailure';

/*
 * Executions of one account at a service, by a clock that a test sets. Their items are sent as by the node.
 */

/** A clock that goes on when it is told to. */
class SetClock {
	private time = 1_000;
	private timers: Array<{ at: number; ring: () => void }> = [];
	readonly now = () => this.time;
	readonly idle = () => this.time;
	readonly pause = async () => await this.wait(1);
	readonly wait = async (milliseconds: number) => {
		await new Promise<void>((ring) => this.timers.push({ at: this.time + milliseconds, ring }));
	};

	/** Lets milliseconds pass, and whatever is due happen in them, until something is over. */
	async pass(milliseconds: number, isOver = () => false): Promise<void> {
		const end = this.time + milliseconds;
		while (!isOver()) {
			await new Promise(setImmediate);
			const next = Math.min(...this.timers.map(({ at }) => at));
			if (next > end) break;
			this.time = Math.max(this.time, next);
			const due = this.timers.filter(({ at }) => at <= next);
			this.timers = this.timers.filter(({ at }) => at > next);
			for (const { ring } of due) ring();
		}
		if (!isOver()) this.time = end;
	}
}

/** What comes of a request: nothing if it is answered well, else why not, and after how long if that isn't at once. */
type Answer = Failure | undefined | { failure?: Failure; after: number };

/** How a service answers an item's request that comes at a number of milliseconds; a question's item is NaN. */
export type Service = (n: number, at: number) => Answer;

export interface Execution {
	/** When each request was sent, and for which item. */
	sent: Array<{ n: number; at: number }>;
	questions: Array<{ at: number }>;
	done: Array<{ n: number; at: number }>;
	failed: Array<{ n: number; at: number; error: Error }>;
	mostInFlight: number;
	isOver: boolean;
	stop: () => void;
}

interface BatchOptions {
	/** Of each request. */
	maxRetries?: number;
	/** Whether a request may do more if it is sent twice. */
	creates?: boolean;
}

export const range = (count: number) => Array.from({ length: count }, (_, n) => n);
export const rejected = (retryAfter?: number) => statusFailure(429, retryAfter);

export class Executions {
	readonly clock = new SetClock();
	readonly limiter = new AccountLimiter(this.clock);
	private readonly all: Execution[] = [];
	private readonly startedAt = this.clock.now();

	constructor(
		private readonly service: Service,
		private readonly latency = 20,
	) {}

	begin(
		items: number[],
		{ maxRetries = 0, creates = true, ...options }: RunLimits & BatchOptions = {},
	): Execution {
		const abort = new AbortController();
		const execution: Execution = {
			...{ sent: [], questions: [], done: [], failed: [], mostInFlight: 0, isOver: false },
			stop: () => abort.abort(),
		};
		this.all.push(execution);
		const limiter = new RunLimiter(this.limiter, options);
		let inFlight = 0;
		const at = () => this.clock.now() - this.startedAt;
		const work = async (n: number, beginNext: () => void) => {
			const answerTo = async (what: number) => {
				const answer = this.service(what, at());
				const { failure, after = failure === undefined ? this.latency : 5 } =
					answer !== undefined && 'kind' in answer ? { failure: answer } : (answer ?? {});
				await this.clock.wait(after);
				return failure === undefined ? { body: 'done' } : { failure };
			};
			const send = async () => {
				execution.sent.push({ n, at: at() });
				inFlight += 1;
				execution.mostInFlight = Math.max(execution.mostInFlight, inFlight);
				const result = await answerTo(n);
				inFlight -= 1;
				return result;
			};
			const ask = async () => {
				execution.questions.push({ at: at() });
				return await answerTo(NaN);
			};
			const options = { maxRetries, timeout: 1_000, signal: abort.signal, beginNext };
			const job = { namespace: 'default', displayName: 'Report' };
			const call = { ...anyCall, idempotent: !creates, ...(creates && { job }) };
			await sendWithRetries(newSender(send, { limiter, ask }), call, options).then(
				() => execution.done.push({ n, at: at() }),
				(error: Error) => {
					if (error instanceof StoppedBeforeSending) return;
					execution.failed.push({ n, at: at(), error });
				},
			);
		};
		void inParallel(items, options.concurrency, work, abort.signal).then(() => {
			execution.isOver = true;
		});
		return execution;
	}

	/** Lets time pass until all are over. @throws Error if they aren't after an hour */
	async end(): Promise<void> {
		const isOver = () => this.all.every((execution) => execution.isOver);
		await this.clock.pass(3_600_000, isOver);
		if (!isOver()) throw new Error('Not over after an hour');
	}
}
