import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	ILoadOptionsFunctions,
} from 'n8n-workflow';

import { AccountLimiter } from './pace/limiter';
import type { RunLimits, RunQueue } from './pace/requests';
import { type Failure, meaningOf } from './errors/failure';
import { failureFromError } from './errors/fromError';
import { type Result, resultOf } from './errors/response';
import type { RequestOptions, ServiceRequest } from './request';
import { unlessAborted } from './timers';
import { sendings } from './session/authentication';
import { httpOptionsOf } from './session/login';
import { QUESTION, QUESTION_TIMEOUT_MS } from './session/question';
import { Sending, type SendingOptions } from './session/sending';
import type { Session } from './session/session';

/** The credential's name, as workflows store it. */
export const CREDENTIAL = 'jobOrchestrationApi';

/** n8n's context of an execution, or of a drop-down in the editor. */
export type N8nContext = IExecuteFunctions | ILoadOptionsFunctions;

/** Tokens that a request is sent with. Without a limit, processes that keep ending each other's would never stop. */
const MAX_TOKENS = 9;

/** Sends the requests of one run of the node as one account, even if the credential is edited during the run. */
export class HttpClient {
	/** Whose the jobs are: what tells accounts apart, as errors show it, without a secret. */
	readonly account: string;
	/** The limiter of the account, for all executions in this process; of a drop-down, which doesn't wait for them, its own. */
	readonly limiter: AccountLimiter;
	/** Its place in that. */
	queue: RunQueue;

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
		this.account = `user ${JSON.stringify(session.account.userName)} at ${this.baseUrl}`;
	}

	/** What is sent from now on waits for the service if it is away, as it has answered before. */
	startAgain(): void {
		this.queue = this.limiter.begin(this.limits);
		this.queue.execution.wasAnswered = true;
	}

	get baseUrl(): string {
		return this.session.account.baseUrl;
	}

	/** A text without this account's password and tokens. */
	redact(text: string): string {
		return this.session.secrets.redact(text);
	}

	/**
	 * Sends a request, and again with another token if the service doesn't accept the first one, unless it may have been
	 * acted on and isn't idempotent. A cancel aborts reads only: other answers are awaited, since they say what was done.
	 *
	 * @param answerTimeoutMs for the answer alone, without a login, if that is less than the timeout
	 */
	async send<Body>(
		request: ServiceRequest<Body>,
		{ timeout, signal }: RequestOptions,
		answerTimeoutMs = timeout,
	): Promise<Result<Body>> {
		const { context, itemIndex, session } = this;
		// A drop-down has no cancel.
		const canBeCancelled = request.method === 'GET' && 'getExecutionCancelSignal' in context;
		const cancel = canBeCancelled ? context.getExecutionCancelSignal() : undefined;
		const readAgain = async () => await context.getCredentials(CREDENTIAL, itemIndex);
		const options = { run: this.queue, timeout, answerTimeoutMs, signal, cancel, readAgain };
		let rejection: Failure | undefined;
		for (let tokens = 1; ; tokens += 1) {
			const { result, token } = await this.sendOnce(request, options);
			if ('body' in result) {
				session.unacceptedLogins = 0;
				return result;
			}
			const { failure } = result;
			const { token: doubt, mayHaveActed } = meaningOf(failure);
			// Without another token, the answer with the first one says more.
			if (token === undefined) return { failure: (doubt && rejection) ?? failure };
			if (doubt === undefined || tokens === MAX_TOKENS) return result;

			const accepts = session.accepts(context.helpers, token, doubt);
			// After a cancel, nothing is sent again.
			if (await unlessAborted(accepts, signal).catch(() => mayHaveActed)) return result;
			if (!request.idempotent && mayHaveActed) {
				return { failure: await this.withRenewal(failure, options) };
			}
			rejection ??= failure;
		}
	}

	/** Asks the service something harmless: for one work cluster. If a login is needed first, it has the whole timeout. */
	async ask(options: RequestOptions): Promise<Result<unknown>> {
		return await this.send(QUESTION, options, QUESTION_TIMEOUT_MS);
	}

	/** A failure that says so if the next request gets another token. */
	private async withRenewal(failure: Failure, options: SendingOptions): Promise<Failure> {
		const sending = new Sending(options);
		sending.hold();
		const renewal = await this.session.token(this.context.helpers, sending);
		sending.end();
		return 'token' in renewal ? { ...failure, hasExpired: true } : failure;
	}

	private async sendOnce<Body>(request: ServiceRequest<Body>, options: SendingOptions) {
		const { context, session, credentials: initial } = this;
		// A copy, since n8n writes a new token into it: other requests may have been sent with the old one.
		const credentials = { ...initial };
		const sending = new Sending(options);
		sendings.set(credentials, { session, sending });
		const answer = context.helpers.httpRequestWithAuthentication.call(
			context,
			CREDENTIAL,
			httpOptionsOf(request, session.account),
			{ credentialsDecrypted: { id: '', name: '', type: CREDENTIAL, data: credentials } },
		);
		const result = await unlessAborted(answer, sending.signal).then(
			(response) => resultOf(response, request, session.secrets),
			(error: unknown) => {
				const { isUnsent, failure } = sending;
				const redact = (text: string) => this.redact(text);
				return { failure: failure ?? failureFromError(error, { isUnsent, redact }) };
			},
		);
		sending.end();
		// If another request has changed it in the meantime, this token may be the older one.
		if (this.credentials.accessToken === initial.accessToken) this.credentials = credentials;
		return { result, token: sending.token };
	}
}
