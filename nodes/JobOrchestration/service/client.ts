import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { type Call, callError } from './calls/callError';
import { type Failure, meaningOf } from './errors/kinds';
import { failureFromError } from './errors/fromThrown';
import { type Result, resultOf } from './errors/fromResponse';
import { AccountLimiter } from './pace/limiter';
import { type Denial, type ExecutionQueue, LimitedRequest } from './pace/queue';
import type { RequestOptions, Run, RunOptions, ServiceRequest } from './request';
import { CallAttempts } from './retry/callAttempts';
import { ANSWERED, type Decision } from './retry/facts';
import { Attempt } from './session/attempt';
import { attempts, cancelOf, CREDENTIAL, type N8nContext } from './session/credential';
import { CHECK_TIMEOUT_MS, HEALTH_CHECK } from './session/healthCheck';
import { httpOptionsOf } from './session/login';
import type { Session } from './session/session';
import { unlessAborted } from './timers';

/** Nothing was sent, because the execution was stopped before that. */
export class StoppedBeforeSending extends Error {}

/** The result of one attempt, and the token that it used. */
type Attempted<Body> = { result: Result<Body>; token: string | undefined };

/** Why an attempt failed, if it did, and what to do next. */
type End = { failure: Failure | undefined; decision: Decision };

/** What an error says of a call that was not sent, since the health check before it failed. */
const NOT_SENT: Denial = { waitedMs: 0 };

/** How an attempt ends if an exception is thrown that nobody expected. */
const IF_THROWN: End = { failure: { kind: 'cancelled', sent: true }, decision: { do: 'fail' } };

/** Sends the calls of one run of the node as one account, even if the credential is edited during the run. */
export class ServiceClient {
	/** User and Base URL, as errors show them: what tells accounts apart. */
	readonly account: string;
	/** All executions of the account in this process share it. A drop-down has its own, so that it doesn't wait for them. */
	private readonly limiter: AccountLimiter;
	/** The execution's queue in it. */
	private queue: ExecutionQueue;
	/** The same object for all requests of the run. */
	private run: Run;

	/** @param itemIndex an item for which n8n reads the credential again */
	constructor(
		private readonly context: N8nContext,
		private credentials: ICredentialDataDecryptedObject,
		private readonly itemIndex: number,
		private readonly session: Session,
		options: RunOptions,
	) {
		this.limiter = options.patienceMs === undefined ? session.limiter : new AccountLimiter();
		this.run = this.beginRun({ ...options, execution: options.execution ?? {} });
		this.queue = this.limiter.queueOf(this.run.execution);
		this.account = `user ${JSON.stringify(session.account.userName)} at ${session.account.baseUrl}`;
	}

	/** Begins a new queue: what made earlier calls fail together doesn't fail later ones. */
	startAgain(): void {
		this.run = this.beginRun(this.run);
		this.queue = this.limiter.queueOf(this.run);
	}

	private beginRun(options: RunOptions & Pick<Run, 'execution'>): Run {
		const runStartedAt = this.limiter.clock.now();
		return { ...options, runStartedAt, runEndsAt: runStartedAt + (options.limitMs ?? Infinity) };
	}

	/** A text without this account's password and tokens. */
	redact(text: string): string {
		return this.session.secrets.redact(text);
	}

	/**
	 * Sends a call, and returns the body of its answer; null if it is empty. Each round of the loop gets a permit, sends the
	 * call (or a health check, if the permit says so), asks the policy what to do next, and gives the permit back; then the
	 * call fails, or waits for the next round. The shortest wait is a turn of the event loop, and the policy limits the rounds.
	 *
	 * @param hasFallback whether something else is tried if it fails: then `onFailure` isn't called
	 * @throws ServiceError, whose problem says by `mayHaveActed` whether a call that isn't idempotent may have worked nevertheless;
	 * StoppedBeforeSending if it was aborted before anything was sent
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
			// If no new token could be had, the service's answer to the last token says more.
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

	/** The error of a call whose answer has the expected form, but not a content that can be used. */
	unusableAnswerError(call: Call<unknown>, failure: Failure, { timeout }: RequestOptions) {
		return callError(call, failure, { baseUrl: this.session.account.baseUrl, timeout });
	}

	/** Asks the policy what to do about a failure, and sends a health check if that is to find the cause. */
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
		if (failure === undefined && !isHealthCheck) return { failure, decision: { do: 'fail' } };
		// The next round ends: the limiter gives no permit after an abort. The call itself was not sent.
		if (isHealthCheck && signal?.aborted === true)
			return { failure, decision: { do: 'send again', afterMs: 0 } };
		const facts = () => ({
			...{ isHealthCheck, isAlone: limiter.isAlone(request), wasAnswered },
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
		// The error says so if the token was the cause, but the call can't be sent again.
		const hasExpired = cause === 'token' && again.do === 'fail';
		return { failure: hasExpired ? { ...failure, hasExpired } : explained, decision: again };
	}

	/** @param answerTimeoutMs time limit for the answer, not counting a login, if that is less than the timeout */
	private async attempt<Body>(
		request: ServiceRequest<Body>,
		{ timeout, signal }: RequestOptions,
		answerTimeoutMs = timeout,
	): Promise<Attempted<Body>> {
		const { context, itemIndex, session, credentials: initial, run } = this;
		session.usedAt = performance.now();
		const readAgain = async () => await context.getCredentials(CREDENTIAL, itemIndex);
		const cancel = request === HEALTH_CHECK ? signal : cancelOf(context, request);
		const loginTimeoutMs = run.runEndsAt - this.limiter.clock.now();
		const limits = { timeout, loginTimeoutMs, answerTimeoutMs };
		const attempt = new Attempt({ run, ...limits, signal, cancel, readAgain });
		// n8n writes a new token into this object, by which the credential finds the attempt. Other attempts keep theirs.
		const credentials = { ...initial };
		attempts.set(credentials, { session, attempt });
		const answer = context.helpers.httpRequestWithAuthentication.call(
			context,
			CREDENTIAL,
			httpOptionsOf(request, session.account),
			{ credentialsDecrypted: { id: '', name: '', type: CREDENTIAL, data: credentials } },
		);
		const result = await unlessAborted(answer, attempt.signal)
			.then((response) => resultOf(response, request, session.secrets))
			.catch((error: unknown) => {
				const { isUnsent, failure } = attempt;
				const redact = (text: string) => this.redact(text);
				return { failure: failure ?? failureFromError(error, { isUnsent, redact }) };
			});
		attempt.end();
		// Unless another attempt has already got a newer one.
		if (this.credentials.accessToken === initial.accessToken) this.credentials = credentials;
		return { result, token: attempt.token };
	}
}

const isAboutToken = (failure: Failure | undefined) =>
	failure !== undefined && meaningOf(failure).token !== undefined;
