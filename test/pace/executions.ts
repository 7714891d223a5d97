import { inParallel } from '../../nodes/JobOrchestration/execution/inParallel';
import type { Call } from '../../nodes/JobOrchestration/service/calls/call';
import { StoppedBeforeSending } from '../../nodes/JobOrchestration/service/client';
import { ServiceError } from '../../nodes/JobOrchestration/service/errors/problem';
import { AccountLimiter } from '../../nodes/JobOrchestration/service/pace/limiter';
import type { ClientOptions } from '../../nodes/JobOrchestration/service/request';
import type { ServiceRequest } from '../../nodes/JobOrchestration/service/request';
import { HEALTH_CHECK } from '../../nodes/JobOrchestration/service/session/healthCheck';
import { onAbort } from '../../nodes/JobOrchestration/service/timers';
import { clientWith } from './client';
import type { Service } from './services';

/*
 * Executions of one account at a service, by a clock that a test sets. Their items are sent as by the node.
 */

/** A clock that goes on when it is told to. */
class SetClock {
	private time = 1_000;
	private busyMs = 0;
	private timers: Array<{ at: number; ring: () => void }> = [];
	readonly now = () => this.time;
	readonly idle = () => this.time - this.busyMs;
	readonly pause = async () => await this.after(1);
	/** As n8n's timers, which count milliseconds and are late. */
	readonly wait = async (milliseconds: number, signal?: AbortSignal) => {
		await new Promise<void>((resolve) => {
			onAbort(signal, resolve);
			void this.after(Math.ceil(milliseconds) + Math.random()).then(resolve);
		});
	};

	async after(milliseconds: number): Promise<void> {
		await new Promise<void>((ring) => this.timers.push({ at: this.time + milliseconds, ring }));
	}

	/** The process works, and does nothing else meanwhile. */
	work(milliseconds: number): void {
		this.time += milliseconds;
		this.busyMs += milliseconds;
	}

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
		if (!isOver()) this.time = Math.max(this.time, end);
	}
}

export interface Execution {
	/** When each request was sent, and for which item. */
	sent: Array<{ n: number; at: number }>;
	healthChecks: Array<{ at: number }>;
	done: Array<{ n: number; at: number }>;
	failed: Array<{ n: number; at: number; error: Error }>;
	mostInFlight: number;
	isOver: boolean;
	stop: () => void;
}

export interface BatchOptions {
	/** Of each request. */
	maxRetries?: number;
	/** Whether a request may do more if it is sent twice. */
	creates?: boolean;
}

export const seconds = (count: number) => count * 1_000;
export const lastAt = (events: Array<{ at: number }>) => events.at(-1)?.at ?? Infinity;
/** Those that failed, and may have been acted on. */
export const mayExist = (failed: Execution['failed']) =>
	failed.filter(
		({ error }) => error instanceof ServiceError && error.problem.mayHaveActed === true,
	);

export const range = (count: number) => Array.from({ length: count }, (_, n) => n);

const CALL: Call<string> = {
	operationId: 'changeJobState',
	method: 'PUT',
	path: '/',
	expected: 'a text',
	isExpected: (body): body is string => typeof body === 'string',
	idempotent: true,
	textsOf: () => ({ action: 'do it', request: 'it', byStatus: {} }),
};

export class Executions {
	readonly clock = new SetClock();
	readonly limiter = new AccountLimiter(this.clock);
	private readonly all: Execution[] = [];
	private readonly startedAt = this.clock.now();

	/** @param workMs of n8n's own for each request */
	constructor(
		private readonly service: Service,
		private readonly workMs = 0,
	) {}

	begin(
		items: number[],
		{ maxRetries = 0, creates = true, ...limits }: ClientOptions & BatchOptions = {},
	): Execution {
		const abort = new AbortController();
		const execution: Execution = {
			...{ sent: [], healthChecks: [], done: [], failed: [], mostInFlight: 0, isOver: false },
			stop: () => abort.abort(),
		};
		this.all.push(execution);
		const { clock, limiter } = this;
		let inFlight = 0;
		const at = () => clock.now() - this.startedAt;
		const answerTo = async (what: number) => {
			const answer = this.service(what, at());
			const { failure, after = failure === undefined ? 20 : 5 } =
				answer !== undefined && 'kind' in answer ? { failure: answer } : (answer ?? {});
			await clock.after(after);
			return failure === undefined ? { body: 'done' } : { failure };
		};
		const endOf = async (request: ServiceRequest<unknown>) => {
			if (request === HEALTH_CHECK) {
				execution.healthChecks.push({ at: at() });
				return await answerTo(NaN);
			}
			const n = Number(request.path.slice(1));
			clock.work(this.workMs / 2);
			execution.sent.push({ n, at: at() });
			inFlight += 1;
			execution.mostInFlight = Math.max(execution.mostInFlight, inFlight);
			const result = await answerTo(n);
			clock.work(this.workMs / 2);
			inFlight -= 1;
			return result;
		};
		const client = clientWith(limiter, endOf, limits);
		const options = { maxRetries, timeout: 1_000, signal: abort.signal };
		const job = { namespace: 'default', displayName: 'Report' };
		const work = async (n: number) => {
			const call = { ...CALL, path: `/${n}`, idempotent: !creates, ...(creates && { job }) };
			await client.send(call, options).then(
				() => execution.done.push({ n, at: at() }),
				(error: Error) => {
					if (error instanceof StoppedBeforeSending) return;
					execution.failed.push({ n, at: at(), error });
				},
			);
		};
		void inParallel(items, undefined, work, abort.signal).then(() => {
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
