import { HEALTH_CHECK } from './calls/clusters';
import type { Failure } from './errors/failure';
import { type Problem, problemOfCall } from './errors/problem';
import { AccountLimiter } from './pace/limiter';
import { type ExecutionQueue, LimitedRequest } from './pace/queue';
import { withPermit } from './pace/withPermit';
import type { ClientRun, RequestOptions, ServiceRequest } from './request';
import { type CallState, next } from './policy';
import type { N8nContext } from './session/credential';
import type { Session } from './session/session';
import type { N8nAccess } from './session/tokenSearch';

/**
 * How a call has ended: with the body of the expected response, which is null if it is empty, or with a problem. It is
 * undefined if the execution was stopped before the call was sent.
 */
export type CallEnd<Body> = { body: Body } | { problem: Problem } | undefined;

/** Sends the calls of one run of the node as one account, even if the credential is edited during the run. */
export class ServiceClient {
	/**
	 * The rate limiter, which all executions of the account in this process share. A drop-down has its own, so that it
	 * doesn't wait for the executions.
	 */
	private readonly limiter: AccountLimiter;
	/** The execution's queue in the rate limiter. */
	private readonly queue: ExecutionQueue;
	/** The run, which is the same object for all its requests. */
	private readonly run: ClientRun;

	/**
	 * @param patienceMs milliseconds that a request of a drop-down waits while the service accepts no requests
	 * @param limitMs milliseconds after which the client sends nothing more. Requests that still wait then fail
	 */
	constructor(
		context: N8nContext,
		private readonly credential: { session: Session; access: N8nAccess },
		{ patienceMs, limitMs = Infinity }: { patienceMs?: number; limitMs?: number | undefined } = {},
	) {
		this.limiter = patienceMs === undefined ? credential.session.limiter : new AccountLimiter();
		const runStartedAt = this.limiter.clock.now();
		const isInEditor = patienceMs !== undefined || context.getMode?.() === 'manual';
		this.run = { patienceMs, runStartedAt, runEndsAt: runStartedAt + limitMs, isInEditor };
		this.queue = this.limiter.queueOf(executionOf(context));
	}

	/** Returns a text, or a placeholder if the text contains the account's password or one of its tokens. */
	redact(text: string): string {
		return this.credential.session.secrets.redact(text);
	}

	/**
	 * Sends a call. Each round of the loop is an attempt, for which the rate limiter gives a permit. If it fails, the retry
	 * policy decides whether the call fails or is sent again. The shortest time between two rounds is one turn of the event
	 * loop, and the retry policy limits their number.
	 */
	async send<Body>(call: ServiceRequest<Body>, options: RequestOptions): Promise<CallEnd<Body>> {
		const { session, access } = this.credential;
		const request = new LimitedRequest(this.queue, { ...options, ...this.run }, call.idempotent);
		const history = { resends: { failure: 0, wait: 0 }, waitedMs: 0 };
		let lastFailure: Failure | undefined;
		for (;;) {
			const attempt = { ...request.options, access, since: Date.now() };
			const end = await withPermit(this.limiter, request, {
				check: async () => await session.send(HEALTH_CHECK, attempt),
				work: async (onSend) => {
					const result = await session.send(call, { ...attempt, onSend });
					if ('body' in result) return result;
					const resend = next(result.failure, this.stateOf(request, history));
					return { ...result, resend };
				},
			});
			if ('body' in end) return end;
			const { timesSent } = request;
			if ('denial' in end) {
				const failure = lastFailure ?? end.denial.failure;
				const tries = { timesSent, isOwn: failure === lastFailure, ...end.denial };
				return failure && { problem: problemOfCall(call, failure, tries) };
			}
			const { failure, resend } = end;
			if (resend === undefined) return { problem: problemOfCall(call, failure, { timesSent }) };
			lastFailure = failure;
			history.resends[resend.because] += 1;
			if (resend.because === 'wait') history.waitedMs += resend.afterMs;
		}
	}

	/** Returns the facts by which the retry policy decides. */
	private stateOf(request: LimitedRequest, history: Pick<CallState, 'resends' | 'waitedMs'>) {
		const { isIdempotent, options } = request;
		const remainingMs = options.runEndsAt - this.limiter.clock.now();
		const othersAreAnswered = this.limiter.othersAreAnswered(request);
		return { ...options, ...history, isIdempotent, remainingMs, othersAreAnswered };
	}
}

/**
 * Returns the data of the execution's flow: an object that is the same for everything that the execution does in this
 * process, and that no other execution has.
 */
function executionOf(context: N8nContext): object {
	try {
		return 'getContext' in context ? context.getContext('flow') : {};
	} catch {
		return {};
	}
}
