import { ServiceClient } from '../../nodes/JobOrchestration/service/client';
import { cancelled, type Failure } from '../../nodes/JobOrchestration/service/errors/failure';
import type { N8nContext } from '../../nodes/JobOrchestration/service/session/credential';
import type { Session } from '../../nodes/JobOrchestration/service/session/session';
import type { N8nAccess } from '../../nodes/JobOrchestration/service/session/tokenSearch';
import type { Problem } from '../../nodes/JobOrchestration/service/errors/problem';
import { AccountLimiter } from '../../nodes/JobOrchestration/service/pace/limiter';
import type { ServiceRequest } from '../../nodes/JobOrchestration/service/request';
import { HEALTH_CHECK } from '../../nodes/JobOrchestration/service/calls/clusters';
import { inParallel, onAbort, unlessAborted } from '../../nodes/JobOrchestration/service/timers';
import type { Service } from './services';

/*
 * Simulates executions of one account in virtual time. The node's own client and rate limiter send the items.
 */

/** A clock that only moves when a test moves it. */
class SetClock {
	private time = 1_000;
	private busyMs = 0;
	private timers: Array<{ at: number; ring: () => void }> = [];
	readonly now = () => this.time;
	readonly idle = () => this.time - this.busyMs;
	readonly pause = async () => await this.after(1);
	/** Behaves like n8n's timers: whole milliseconds, and up to one millisecond late. */
	readonly wait = async (milliseconds: number, signal?: AbortSignal) => {
		await new Promise<void>((resolve) => {
			onAbort(signal, resolve);
			void this.after(Math.ceil(milliseconds) + Math.random()).then(resolve);
		});
	};

	async after(milliseconds: number): Promise<void> {
		await new Promise<void>((ring) => this.timers.push({ at: this.time + milliseconds, ring }));
	}

	/** Moves the clock while the process is busy, so that no timer fires in the meantime. */
	work(milliseconds: number): void {
		this.time += milliseconds;
		this.busyMs += milliseconds;
	}

	/**
	 * Moves the clock by up to `milliseconds`, and fires the timers that are due. Stops as soon as `isOver` returns
	 * true.
	 */
	async pass(milliseconds: number, isOver = () => false): Promise<void> {
		const end = this.time + milliseconds;
		for (;;) {
			// The work that the last timers have started goes on first.
			await new Promise(setImmediate);
			if (isOver()) return;
			const next = Math.min(...this.timers.map(({ at }) => at));
			if (next > end) break;
			this.time = Math.max(this.time, next);
			const due = this.timers.filter(({ at }) => at <= next);
			this.timers = this.timers.filter(({ at }) => at > next);
			for (const { ring } of due) ring();
		}
		this.time = Math.max(this.time, end);
	}
}

export interface Execution {
	/** The time and the item of each request that was sent. */
	sent: Array<{ n: number; at: number }>;
	healthChecks: Array<{ at: number }>;
	done: Array<{ n: number; at: number }>;
	failed: Array<{ n: number; at: number; problem: Problem }>;
	mostInFlight: number;
	isOver: boolean;
	stop: () => void;
}

export interface BatchOptions {
	/** Max Request Retries. */
	maxRetries?: number;
	/** Maximum number of requests of the execution in flight. */
	concurrency?: number;
	/** Whether the requests create jobs, and are therefore not idempotent. */
	creates?: boolean;
	isInEditor?: boolean;
	/** The time limit of the run. */
	limitMs?: number;
	/** An object that all runs of one execution share. */
	execution?: object;
}

export const seconds = (count: number) => count * 1_000;
export const lastAt = (events: Array<{ at: number }>) => events.at(-1)?.at ?? Infinity;
/** Returns the failed requests that the service may have acted on. */
export const mayExist = (failed: Execution['failed']) =>
	failed.filter(({ problem }) => problem.mayHaveActed === true);

export const range = (count: number) => Array.from({ length: count }, (_, n) => n);

const CALL: ServiceRequest<string> = {
	method: 'PUT',
	path: '/',
	expected: 'a text',
	isExpected: (body): body is string => typeof body === 'string',
	idempotent: true,
	errorTexts: () => ({ action: 'do it', ifRefused: '' }),
};

type End = { body: string } | { failure: Failure };

/**
 * Returns a client with this limiter. It sends no requests: `endOf` decides how each request ends.
 *
 * @param endOf returns the end of a request, which is a call or HEALTH_CHECK
 */
function clientWith(
	limiter: AccountLimiter,
	endOf: (request: ServiceRequest<unknown>) => Promise<End>,
	{ execution = {}, isInEditor = false, limitMs }: BatchOptions,
): ServiceClient {
	const aborted: End = { failure: cancelled({ sent: true }) };
	const send = async (
		request: ServiceRequest<unknown>,
		{ signal, onSend }: Parameters<Session['send']>[1],
	): Promise<End> => {
		onSend?.();
		const canEnd = request.method === 'GET' ? signal : undefined;
		return await unlessAborted(endOf(request), canEnd).catch(() => aborted);
	};
	// The type lets the compiler find this fake if a property of the session is renamed.
	const session: Pick<Session, 'limiter' | 'send'> = { limiter, send: send as Session['send'] };
	const context: unknown = {
		getContext: () => execution,
		getMode: () => (isInEditor ? 'manual' : 'trigger'),
	};
	const credential = { session: session as Session, access: {} as N8nAccess };
	return new ServiceClient(context as N8nContext, credential, { limitMs });
}

export class Executions {
	readonly clock = new SetClock();
	readonly limiter = new AccountLimiter(this.clock);
	private readonly all: Execution[] = [];
	private readonly startedAt = this.clock.now();

	/** @param workMs how long n8n is busy for each request */
	constructor(
		private readonly service: Service,
		private readonly workMs = 0,
	) {}

	/** Returns how many milliseconds of virtual time have passed. */
	readonly at = () => this.clock.now() - this.startedAt;

	begin(items: number[], given: BatchOptions = {}): Execution {
		const { maxRetries = 0, creates = true, concurrency } = given;
		const abort = new AbortController();
		const execution: Execution = {
			...{ sent: [], healthChecks: [], done: [], failed: [], mostInFlight: 0, isOver: false },
			stop: () => abort.abort(),
		};
		this.all.push(execution);
		const { clock, limiter, at } = this;
		let inFlight = 0;
		const answerTo = async (what: number) => {
			const answer = this.service(what, at());
			const { failure, after = failure === undefined ? 20 : 5 } =
				answer !== undefined && 'condition' in answer ? { failure: answer } : (answer ?? {});
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
		const client = clientWith(limiter, endOf, given);
		const options = { maxRetries, concurrency, timeout: 1_000, signal: abort.signal };
		const job = { namespace: 'default', displayName: 'Report' };
		const work = async (n: number) => {
			const call = { ...CALL, path: `/${n}`, idempotent: !creates, ...(creates && { job }) };
			const end = await client.send(call, options);
			if (end === undefined) return;
			if ('body' in end) execution.done.push({ n, at: at() });
			else execution.failed.push({ n, at: at(), problem: end.problem });
		};
		void inParallel(items, { signal: abort.signal }, work).then(() => {
			execution.isOver = true;
		});
		return execution;
	}

	/**
	 * Moves the clock until all executions are over.
	 *
	 * @throws Error if an execution isn't over after an hour
	 */
	async end(): Promise<void> {
		const isOver = () => this.all.every((execution) => execution.isOver);
		await this.clock.pass(3_600_000, isOver);
		if (!isOver()) throw new Error('Not over after an hour');
	}
}

/** Runs one execution at a service until it is over. */
export async function ended(service: Service, items: number[], options?: BatchOptions) {
	const executions = new Executions(service);
	const execution = executions.begin(items, options);
	await executions.end();
	return execution;
}
