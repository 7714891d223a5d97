import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { type Call, callError } from './calls/call';
import { type Failure, meaningOf } from './errors/kinds';
import { AccountLimiter } from './pace/limiter';
import { type Denial, type ExecutionQueue, LimitedRequest } from './pace/queue';
import type { ClientOptions, ClientRun, RequestOptions, ServiceRequest } from './request';
import { CallAttempts } from './retry/callAttempts';
import { ANSWERED, type Decision } from './retry/facts';
import { type Attempted, type N8nContext, SignedRequests } from './session/credential';
import { CHECK_TIMEOUT_MS, HEALTH_CHECK } from './session/healthCheck';
import type { Session } from './session/session';
import { unlessAborted } from './timers';

/** The error of a call that was not sent, because its execution was stopped first. */
export class StoppedBeforeSending extends Error {}

/** The failure of an attempt, if it failed, and the retry policy's decision about it. */
type End = { failure: Failure | undefined; decision: Decision };

/** The denial for a call that was not sent, because the health check before it failed. */
const NOT_SENT: Denial = { waitedMs: 0 };

/** The end of an attempt that throws an unexpected exception. */
const IF_THROWN: End = { failure: { kind: 'cancelled', sent: true }, decision: { do: 'fail' } };

/** Sends the calls of one run of the node as one account, even if the credential is edited during the run. */
export class ServiceClient {
	/** The user and the Base URL, in the form that errors show. They distinguish accounts from each other. */
	readonly account: string;
	/**
	 * The rate limiter, which all executions of the account in this process share. A drop-down has its own, so that it
	 * doesn't wait for the executions.
	 */
	private readonly limiter: AccountLimiter;
	/** The execution's queue in the rate limiter. */
	private readonly queue: ExecutionQueue;
	/** The run, which is the same object for all its requests. */
	private readonly run: ClientRun;

	private readonly requests: SignedRequests;

	/** @param itemIndex index of an item that uses the credential, for reading the credential again */
	constructor(
		private readonly context: N8nContext,
		credentials: ICredentialDataDecryptedObject,
		itemIndex: number,
		private readonly session: Session,
		options: ClientOptions,
	) {
		this.requests = new SignedRequests(context, credentials, itemIndex, session);
		this.limiter = options.patienceMs === undefined ? session.limiter : new AccountLimiter();
		const runStartedAt = this.limiter.clock.now();
		const runEndsAt = runStartedAt + (options.limitMs ?? Infinity);
		this.run = { ...options, execution: options.execution ?? {}, runStartedAt, runEndsAt };
		this.queue = this.limiter.queueOf(this.run.execution);
		this.account = `user ${JSON.stringify(session.account.userName)} at ${session.account.baseUrl}`;
	}

	/** Returns a text, or a placeholder if the text contains the account's password or one of its tokens. */
	redact(text: string): string {
		return this.session.secrets.redact(text);
	}

	/**
	 * Sends a call, and returns the body of the response; null if the body is empty. Each round of the loop gets a permit
	 * from the rate limiter, sends the call (or a health check, if the permit requires one), asks the retry policy what
	 * to do next, and gives the permit back. A call that has not succeeded then fails or waits for the next round. The
	 * shortest wait is one turn of the event loop, and the retry policy limits the number of rounds.
	 *
	 * @param hasFallback whether the caller tries something else if the call fails; `onFailure` isn't called then
	 * @throws ServiceError if the call failed. Its problem says by `mayHaveActed` whether a call that isn't idempotent
	 * may have worked nevertheless
	 * @throws StoppedBeforeSending if the call was aborted before anything was sent
	 */
	async send<Body>(
		call: Call<Body>,
		options: RequestOptions,
		{ hasFallback = false } = {},
	): Promise<Body> {
		const { limiter, session } = this;
		const about = { baseUrl: session.account.baseUrl, timeout: options.timeout };
		const request = new LimitedRequest(this.queue, { ...options, ...this.run }, call.idempotent);
		const attempts = new CallAttempts(call, request.options);
		/** The last failure of the call itself, not of a health check. */
		let sentFailure: Failure | undefined;
		let earlierMayHaveActed = false;
		const errorOf = (failure: Failure = { kind: 'timeout' }, denial: Denial = {}) => {
			const tries = { timesSent: attempts.timesSent, earlierMayHaveActed };
			return callError(call, failure, { ...about, ...tries, ...denial });
		};

		for (;;) {
			const denial = await limiter.acquire(request);
			if (denial !== undefined) {
				const failure = sentFailure ?? denial.failure;
				throw failure === undefined ? new StoppedBeforeSending() : errorOf(failure, denial);
			}
			const { isHealthCheck } = request;
			let end = IF_THROWN;
			try {
				if (isHealthCheck) {
					const sent = await this.attempt(HEALTH_CHECK, options, CHECK_TIMEOUT_MS);
					end = await this.endOf(request, attempts, HEALTH_CHECK, sent);
				} else {
					const sent = await this.attempt(call, options);
					end = await this.endOf(request, attempts, call, sent);
					if ('body' in sent.result) return sent.result.body;
				}
			} finally {
				const { failure, decision } = end;
				if (failure !== undefined && decision.do === 'fail' && !hasFallback) options.onFailure?.();
				const sleepMs = decision.do === 'send again' ? decision.afterMs : undefined;
				limiter.release(request, failure, sleepMs);
			}
			const { failure, decision } = end;
			// If no new token could be obtained, the service's response to the last token says more than that failure.
			const saysMore = failure?.kind !== 'noToken' || !isAboutToken(sentFailure);
			if (!isHealthCheck && saysMore) sentFailure = failure;
			if (decision.do !== 'send again') {
				throw isHealthCheck ? errorOf(failure ?? sentFailure, NOT_SENT) : errorOf(sentFailure);
			}
			await limiter.sleep(request, decision.afterMs);
			const isWrite = !isHealthCheck && call.method !== 'GET';
			if (isWrite && failure !== undefined && options.signal?.aborted !== true)
				earlierMayHaveActed ||= meaningOf(failure).mayHaveActed;
		}
	}

	/** Returns the error of a call whose response has the expected form, but no usable content. */
	unusableAnswerError(call: Call<unknown>, failure: Failure, { timeout }: RequestOptions) {
		return callError(call, failure, { baseUrl: this.session.account.baseUrl, timeout });
	}

	/**
	 * Asks the retry policy what to do about a failure, and sends a health check if the policy requires one to find the
	 * cause.
	 */
	private async endOf(
		request: LimitedRequest,
		attempts: CallAttempts,
		sent: ServiceRequest<unknown>,
		{ result, token = '' }: Attempted<unknown>,
	): Promise<End> {
		const { context, limiter, session } = this;
		const { wasAnswered } = session.health;
		const { signal } = request.options;
		const isHealthCheck = sent === HEALTH_CHECK;
		if ('body' in result) session.noteAnswer(sent);
		const failure = 'failure' in result ? result.failure : undefined;
		// The call has succeeded. Without a failure, the decision has no effect.
		if (failure === undefined && !isHealthCheck) return { failure, decision: { do: 'fail' } };
		// The next round ends the call, since the limiter gives no permit after an abort. The call itself was not sent.
		if (isHealthCheck && signal?.aborted === true)
			return { failure, decision: { do: 'send again', afterMs: 0 } };
		const facts = () => ({
			...{ isHealthCheck, othersAreAnswered: limiter.othersAreAnswered(request), wasAnswered },
			remainingMs: limiter.remainingMs(request),
			tokenAgeMs: session.tokens.ageOf(token),
		});
		const consequence = failure === undefined ? ANSWERED : meaningOf(failure);
		const decision = attempts.decide(consequence, facts());
		if (failure === undefined || decision.do !== 'check health') return { failure, decision };
		const search = session.causeOf(context.helpers, token, failure, attempts.wasRejected);
		const cause = await unlessAborted(search, signal).catch(() => undefined);
		// Nothing is sent again after an abort.
		if (cause === undefined) return { failure, decision: { do: 'fail' } };
		const explained: Failure = { ...failure, cause };
		const again = attempts.decide(meaningOf(explained), { ...facts(), cause });
		// If the token was the cause, but the call can't be sent again, the error says that the login has expired.
		const hasExpired = cause === 'token' && again.do === 'fail';
		return { failure: hasExpired ? { ...failure, hasExpired } : explained, decision: again };
	}

	/** @param answerTimeoutMs time limit for the response, without the login */
	private async attempt<Body>(
		request: ServiceRequest<Body>,
		{ timeout, signal }: RequestOptions,
		answerTimeoutMs = timeout,
	): Promise<Attempted<Body>> {
		const loginTimeoutMs = this.run.runEndsAt - this.limiter.clock.now();
		const limits = { timeout, loginTimeoutMs, answerTimeoutMs };
		return await this.requests.send(request, { run: this.run, ...limits, signal });
	}
}

const isAboutToken = (failure: Failure | undefined) =>
	failure !== undefined && meaningOf(failure).token !== undefined;
