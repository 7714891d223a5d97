import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { type Call, callError } from './calls/callError';
import { type Failure, meaningOf } from './errors/failure';
import { failureFromError } from './errors/fromError';
import { type Result, resultOf } from './errors/response';
import { AccountLimiter } from './pace/limiter';
import { type Denial, LimitedRequest, type RunLimits, type RunQueue } from './pace/requests';
import type { RequestOptions, ServiceRequest } from './request';
import type { Decision } from './retry/facts';
import { Attempt } from './session/attempt';
import { attempts, CREDENTIAL, type N8nContext } from './session/credential';
import { CHECK_TIMEOUT_MS, HEALTH_CHECK } from './session/healthCheck';
import { httpOptionsOf } from './session/login';
import type { Session } from './session/session';
import { unlessAborted } from './timers';

/** Nothing was sent, because the execution was stopped before that. */
export class StoppedBeforeSending extends Error {}

/** What came of a request that was sent once, and the token that it was sent with. */
type Sent<Body> = { result: Result<Body>; token: string | undefined };

/** Why an attempt failed, if it did, and what to do next. */
type End = { failure: Failure | undefined; decision: Decision };

/** The end of an attempt that an exception has ended. */
const UNKNOWN_END: End = { failure: { kind: 'cancelled', sent: true }, decision: { do: 'fail' } };

/** Sends the calls of one run of the node as one account, even if the credential is edited during the run. */
export class ServiceClient {
	/** Whose the jobs are: what tells accounts apart, as errors show it, without a secret. */
	readonly account: string;
	/** The limiter of the account, for all executions in this process; of a drop-down, which doesn't wait for them, its own. */
	private readonly limiter: AccountLimiter;
	/** Its place in that. */
	private queue: RunQueue;

	/** @param itemIndex an item to which the credential gives this account */
	constructor(
		private readonly context: N8nContext,
		private credentials: ICredentialDataDecryptedObject,
		private readonly itemIndex: number,
		private readonly session: Session,
		private readonly limits: RunLimits,
	) {
		this.limiter = limits.patienceMs === undefined ? session.limiter : new AccountLimiter();
		this.queue = this.limiter.begin(limits);
		this.account = `user ${JSON.stringify(session.account.userName)} at ${session.account.baseUrl}`;
	}

	/** What is sent from now on waits for the service if it is away, as it has answered before. */
	startAgain(): void {
		this.queue = this.limiter.begin(this.limits);
		this.queue.execution.wasAnswered = true;
	}

	/** A text without this account's password and tokens. */
	redact(text: string): string {
		return this.session.secrets.redact(text);
	}

	/**
	 * Sends a call, and returns the body of its answer; null if it is empty. One loop: get a permit, send the call or a
	 * health check in its place, ask the policy what to do next, give the permit back; then fail, or wait and go round again.
	 * The shortest wait is a turn of the event loop, and the policy bounds the rounds.
	 *
	 * @param mayGoOn whether something else is tried if it fails
	 * @throws ServiceError, whose `mayHaveActed` says whether a call that can't be repeated may have worked nevertheless;
	 * StoppedBeforeSending if the signal came first
	 */
	async send<Body>(
		call: Call<Body>,
		options: RequestOptions,
		{ mayGoOn = false } = {},
	): Promise<Body> {
		const { limiter, session } = this;
		const { baseUrl } = session.account;
		const { timeout } = options;
		const request = new LimitedRequest(this.queue, options, call);
		/** Why it failed when it was sent. */
		let sentFailure: Failure | undefined;
		let earlierMayHaveActed = false;
		const errorOf = (failure: Failure = { kind: 'timeout' }, denial: Denial = {}) => {
			const tries = { timesSent: request.timesSent, earlierMayHaveActed };
			return callError(call, failure, { baseUrl, timeout, ...tries, ...denial });
		};

		for (;;) {
			const permit = await limiter.acquire(request);
			if (!('startedAt' in permit)) {
				const failure = sentFailure ?? permit.failure;
				throw failure === undefined ? new StoppedBeforeSending() : errorOf(failure, permit);
			}
			const { isHealthCheck } = permit;
			let end = UNKNOWN_END;
			try {
				if (isHealthCheck) {
					const sent = await this.attempt(HEALTH_CHECK, options, CHECK_TIMEOUT_MS);
					end = await this.endOf(request, HEALTH_CHECK, sent);
				} else {
					const sent = await this.attempt(call, options);
					end = await this.endOf(request, call, sent);
					if ('body' in sent.result) return sent.result.body;
				}
			} finally {
				const { failure, decision } = end;
				if (failure !== undefined && decision.do === 'fail' && !mayGoOn) options.onFailure?.();
				limiter.release(request, permit, failure, decision.do === 'send again');
			}
			const { failure = sentFailure, decision } = end;
			// The answer to the last token says more than that there is no other one.
			if (!isHealthCheck && failure?.kind !== 'noToken') sentFailure = failure;
			if (decision.do !== 'send again') {
				// A health check that failed: the call was not sent.
				throw isHealthCheck ? errorOf(failure, { waitedMs: 0 }) : errorOf(sentFailure ?? failure);
			}
			await limiter.sleep(request, decision.afterMs);
			// A read has no effect that the error would have to mention.
			if (isHealthCheck || call.method === 'GET' || failure === undefined) continue;
			earlierMayHaveActed ||= meaningOf(failure).mayHaveActed;
		}
	}

	/** The error of a call whose answer is as expected, but can't be used. */
	unusable(call: Call<unknown>, failure: Failure, { timeout }: RequestOptions) {
		return callError(call, failure, { baseUrl: this.session.account.baseUrl, timeout });
	}

	/** How an attempt ended. Where its answer alone doesn't tell why it failed, a health check is sent to find out. */
	private async endOf(
		request: LimitedRequest,
		sent: ServiceRequest<unknown>,
		{ result, token = '' }: Sent<unknown>,
	): Promise<End> {
		const { context, limiter, session } = this;
		const { wasAnswered } = session;
		const { signal } = request.options;
		const isHealthCheck = sent === HEALTH_CHECK;
		if ('body' in result) session.noteAnswer(sent);
		const failure = 'failure' in result ? result.failure : undefined;
		// Where nothing more is to be sent, the limiter denies the next permit.
		if (isHealthCheck && signal?.aborted === true)
			return { failure, decision: { do: 'send again', afterMs: 0 } };
		const facts = () => ({
			...{ now: limiter.clock.now(), answeredAt: limiter.gate.answeredAt, wasAnswered },
			...{ isHealthCheck, tokenAgeMs: session.tokens.ageOf(token) },
		});
		const decision = request.decide(failure, facts());
		if (failure === undefined || decision.do !== 'check health') return { failure, decision };
		const search = session.causeOf(context.helpers, token, failure, request.wasRejected);
		const cause = await unlessAborted(search, signal).catch(() => undefined);
		// After a cancel, nothing is sent again.
		if (cause === undefined) return { failure, decision: { do: 'fail' } };
		const explained: Failure = { ...failure, ...(cause === 'outage' && { isOutage: true }) };
		const end = { failure: explained, decision: request.decide(explained, { ...facts(), cause }) };
		const hasExpired = cause === 'token' && end.decision.do === 'fail';
		return hasExpired ? { ...end, failure: { ...failure, hasExpired } } : end;
	}

	/** @param answerTimeoutMs for the answer alone, without a login, if that is less than the timeout */
	private async attempt<Body>(
		request: ServiceRequest<Body>,
		{ timeout, signal }: RequestOptions,
		answerTimeoutMs = timeout,
	): Promise<Sent<Body>> {
		const { context, itemIndex, session, credentials: initial, queue: run } = this;
		const readAgain = async () => await context.getCredentials(CREDENTIAL, itemIndex);
		const isRead = request.method === 'GET';
		const attempt = new Attempt({ run, timeout, answerTimeoutMs, signal, isRead, readAgain });
		// A copy, since n8n writes a new token into it: other requests may have been sent with the old one.
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
		// If another request has changed it in the meantime, this token may be the older one.
		if (this.credentials.accessToken === initial.accessToken) this.credentials = credentials;
		return { result, token: attempt.token };
	}
}
