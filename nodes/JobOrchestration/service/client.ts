import { cancelled, type Failure, timedOut } from './errors/failure';
import { HEALTH_CHECK } from './calls/clusters';
import { callError } from './errors/problem';
import type { Result } from './errors/result';
import { AccountLimiter } from './pace/limiter';
import { type Denial, type ExecutionQueue, LimitedRequest } from './pace/queue';
import type { ClientRun, RequestOptions, ServiceRequest } from './request';
import { ANSWERED, ANSWERS, type CallState, type Consequence, type Decision } from './retry/facts';
import { mayChangeToken, next, RETRY } from './retry/policy';
import { cancelOf, executionOf, type N8nContext } from './session/credential';
import { sendOnce } from './session/http';
import type { Session, TokenSource } from './session/session';

/** The error of a call that was not sent, because its execution was stopped first. */
export class StoppedBeforeSending extends Error {}

/** The result of an attempt, and the token that it was sent with. `sent` is undefined if nothing was sent. */
interface Attempt<Body> {
	result: Result<Body>;
	sent?: { token: string; at: number };
}

/**
 * How an attempt has ended: its failure, if it has failed, and the retry policy's decision about the call, or that the
 * call was stopped before it was sent.
 */
interface End {
	failure: Failure | undefined;
	decision: Decision | { do: 'stop' };
	wasSent: boolean;
}

/** The end of an attempt that throws an unexpected exception. */
const IF_THROWN: End = {
	failure: cancelled({ sent: true }),
	decision: { do: 'fail' },
	wasSent: true,
};

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
		private readonly context: N8nContext,
		private readonly credential: { session: Session; source: TokenSource },
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
	 * Sends a call, and returns the body of the response; null if the body is empty. Each round of the loop gets a permit
	 * from the rate limiter, sends the call (or a health check, if the permit requires one), asks the retry policy what
	 * to do next, and gives the permit back. A call that has not succeeded then fails or waits for the next round. The
	 * shortest wait is one turn of the event loop, and the retry policy limits the number of rounds.
	 *
	 * @throws ServiceError if the call failed. Its problem says by `mayHaveActed` whether a call that isn't idempotent
	 * may have worked nevertheless
	 * @throws StoppedBeforeSending if the call was aborted before it was sent
	 */
	async send<Body>(call: ServiceRequest<Body>, options: RequestOptions): Promise<Body> {
		const { limiter } = this;
		const request = new LimitedRequest(this.queue, { ...options, ...this.run }, call.idempotent);
		const history = {
			resends: { token: 0, lag: 0, confirm: 0, failure: 0, wait: 0, check: 0 },
			waitedMs: 0,
		};
		let timesSent = 0;
		/** The last failure of the call itself, not of a health check. */
		let lastFailure: Failure | undefined;
		const errorOf = (failure: Failure, denial: Denial = {}) =>
			callError(call, failure, { timesSent, isOwn: failure === lastFailure, ...denial });
		const denied = (denial: Denial) => {
			const failure = lastFailure ?? denial.failure;
			return failure === undefined ? new StoppedBeforeSending() : errorOf(failure, denial);
		};

		for (;;) {
			const denial = await limiter.acquire(request);
			if (denial !== undefined) throw denied(denial);
			const { isHealthCheck } = request;
			let end = IF_THROWN;
			try {
				if (isHealthCheck) {
					end = await this.endOf(request, await this.attempt(HEALTH_CHECK, request), history);
				} else {
					const attempted = await this.attempt(call, request);
					end = await this.endOf(request, attempted, history);
					if ('body' in attempted.result) return attempted.result.body;
				}
			} finally {
				const { failure, decision } = end;
				if (failure !== undefined && decision.do === 'fail') options.onFailure?.();
				const sleepMs = decision.do === 'send again' ? decision.afterMs : undefined;
				limiter.release(request, failure, sleepMs);
			}
			const { failure, decision, wasSent } = end;
			if (decision.do === 'stop') throw denied({});
			if (!isHealthCheck) lastFailure = failure;
			const because = decision.do === 'send again' ? decision.because : undefined;
			// A call that is sent again with another token isn't another try.
			if (wasSent && !isHealthCheck && because !== 'token') timesSent += 1;
			if (decision.do === 'fail') {
				throw errorOf(failure ?? lastFailure ?? timedOut(options.timeout));
			}
			history.resends[decision.because] += 1;
			// Each token may take some seconds until it is valid.
			if (because === 'token') history.resends.lag = 0;
			if (because === 'wait') history.waitedMs += decision.afterMs;
			await limiter.sleep(request, decision.afterMs);
		}
	}

	/** Gets a token, and sends a request once. The Timeout limits each of these two steps. Never throws. */
	private async attempt<Body>(
		request: ServiceRequest<Body>,
		{ options, isHealthCheck }: LimitedRequest,
	): Promise<Attempt<Body>> {
		const { context } = this;
		const { session, source } = this.credential;
		const { timeout, signal } = options;
		session.usedAt = performance.now();
		const found = await session.token(source, options);
		if ('failure' in found) return { result: found };
		if (signal?.aborted === true) return { result: { failure: cancelled({ sent: false }) } };
		const { token } = found;
		const at = performance.now();
		const result = await sendOnce(context.helpers, session, request, {
			token,
			timeoutMs: timeout,
			cancel: isHealthCheck ? signal : cancelOf(context, request),
		});
		if ('body' in result) session.tokens.accept(token, at);
		return { result, sent: { token, at } };
	}

	/**
	 * Asks the retry policy what to do after an attempt. If the call would fail and its token may be the reason, has the
	 * session judge the token, which may search for another one, and asks again.
	 */
	private async endOf(
		request: LimitedRequest,
		{ result, sent }: Attempt<unknown>,
		history: Pick<CallState, 'resends' | 'waitedMs'>,
	): Promise<End> {
		const { limiter, run } = this;
		const { session, source } = this.credential;
		const { isHealthCheck, isIdempotent, options } = request;
		const wasSent = sent !== undefined;
		const consequence: Consequence = 'failure' in result ? result.failure : ANSWERED;
		const serviceIsThere = isHealthCheck && ANSWERS.includes(consequence.condition);
		const failure = 'failure' in result && !serviceIsThere ? result.failure : undefined;
		const isStopped = options.signal?.aborted === true;
		if (isStopped && (isHealthCheck || !wasSent))
			return { failure, wasSent, decision: { do: 'stop' } };
		const state = {
			...{ ...history, isIdempotent, isHealthCheck, maxRetries: options.maxRetries },
			patienceMs: options.patienceMs ?? RETRY.patienceMs,
			remainingMs: run.runEndsAt - limiter.clock.now(),
			othersAreAnswered: limiter.othersAreAnswered(request),
		};
		const decision = next(consequence, state);
		const { token: suspicion } = consequence;
		const isJudged = decision.do === 'fail' && suspicion !== undefined && !isHealthCheck;
		if (!isJudged || sent === undefined) return { failure, wasSent, decision };
		// After a stop or the end of the run, nothing is sent any more, not even a login.
		const maySend = !isStopped && state.remainingMs > 0;
		const judged = {
			...{ token: sent.token, sentAt: sent.at, suspicion, resends: history.resends },
			mayChangeToken: maySend && mayChangeToken(consequence, isIdempotent),
			mayWait: options.patienceMs === undefined,
		};
		const verdict = await session.judge(source, judged, options);
		return { failure, wasSent, decision: next(consequence, { ...state, verdict }) };
	}
}
