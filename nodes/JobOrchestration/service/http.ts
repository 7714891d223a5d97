import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	ILoadOptionsFunctions,
} from 'n8n-workflow';

import { RunLimiter } from './pace/limiter';
import type { Failure } from './errors/failure';
import { failureFromError } from './errors/failure';
import type { Result } from './errors/response';
import { resultOf } from './errors/response';
import { expiryIn } from './errors/rules';
import type { RequestOptions, ServiceRequest } from './request';
import { unlessAborted } from './timers';
import { trackedRequests } from './session/authentication';
import { TrackedRequest } from './session/trackedRequest';
import { httpOptionsOf, QUESTION, QUESTION_TIMEOUT_MS } from './session/login';
import type { Session } from './session/session';

/** The credential's name, as workflows store it. */
export const CREDENTIAL = 'jobOrchestrationApi';

/** n8n's context of an execution, or of a drop-down in the editor. */
export type N8nContext = IExecuteFunctions | ILoadOptionsFunctions;

/**
 * How often a request is resent because its token was rejected. Without a limit, processes that keep ending each
 * other's tokens would never stop.
 */
const MAX_RENEWALS = 8;

/** Sends the requests of one run of the node as one account, even if the credential is edited during the run. */
export class HttpClient {
	/** Whose the jobs are: what tells accounts apart, as errors show it, without a secret. */
	readonly account: string;

	/** @param itemIndex an item to which the credential gives this account */
	constructor(
		private readonly context: N8nContext,
		private credentials: ICredentialDataDecryptedObject,
		private readonly itemIndex: number,
		private readonly session: Session,
		public limiter: RunLimiter,
		private readonly execution: object,
	) {
		this.account = `user ${JSON.stringify(session.account.userName)} at ${this.baseUrl}`;
	}

	/** What is sent from now on waits for the service if it is away, as it has answered before. */
	startAgain(): void {
		this.limiter = new RunLimiter(this.limiter.account, this.limiter.limits);
		this.limiter.execution.wasAnswered = true;
	}

	get baseUrl(): string {
		return this.session.account.baseUrl;
	}

	/** A text without this account's password and tokens. */
	redact(text: string): string {
		return this.session.secrets.redact(text);
	}

	/**
	 * Sends a request, and again with another token if its token has expired. A cancel aborts reads only: other answers are
	 * awaited, since they say what was done.
	 *
	 * @param onSent called each time it is sent
	 */
	async send<Body>(
		request: ServiceRequest<Body>,
		{ timeout, signal }: RequestOptions,
		onSent = () => {},
	): Promise<Result<Body>> {
		const { context, itemIndex, session, execution } = this;
		const isRead = request.method === 'GET';
		const cancel = isRead ? cancelSignalOf(context) : undefined;
		const readAgain = async () => await context.getCredentials(CREDENTIAL, itemIndex);
		const options = { execution, timeout, signal, cancel, onSent, readAgain };
		const tracked = new TrackedRequest(options);
		for (;;) {
			const result = await this.sendOnce(request, tracked);
			tracked.end();
			const { token, rejections } = tracked;
			const expiry = 'failure' in result ? expiryIn(result.failure) : undefined;
			const isLast = rejections === MAX_RENEWALS;
			if ('body' in result || expiry === undefined || token === undefined || isLast) return result;

			tracked.beginAgain();
			const { doubt, isNotActedOn } = expiry;
			const doubted = { token, doubt, isRead };
			const renewal = await session.renewedToken(context.helpers, tracked, doubted);
			const isRenewed = renewal !== undefined && 'token' in renewal;
			const mayResend = isNotActedOn || request.method !== 'POST';
			if (isRenewed && mayResend) {
				tracked.hasNewToken = renewal.isNew === true;
				continue;
			}
			tracked.end();
			if (tracked.isStopped && isNotActedOn)
				return { failure: tracked.failure ?? { kind: 'cancelled', sent: false } };
			if (isRenewed) return { failure: { ...result.failure, isRenewed } };
			return renewal !== undefined && mayResend ? { failure: { ...renewal.failure } } : result;
		}
	}

	/** Asks the service something harmless: for one work cluster. */
	async ask(options: RequestOptions): Promise<Result<unknown>> {
		const timeout = Math.min(options.timeout, QUESTION_TIMEOUT_MS);
		return await this.send(QUESTION, { ...options, timeout });
	}

	private async sendOnce<Body>(
		request: ServiceRequest<Body>,
		tracked: TrackedRequest,
	): Promise<Result<Body>> {
		const { context, session, credentials: initial } = this;
		// A copy, since n8n writes a new token into it: other requests may have been sent with the old one.
		const credentials = { ...initial };
		trackedRequests.set(credentials, { session, tracked });
		const answer = context.helpers.httpRequestWithAuthentication.call(
			context,
			CREDENTIAL,
			httpOptionsOf(request, session.account),
			{ credentialsDecrypted: { id: '', name: '', type: CREDENTIAL, data: credentials } },
		);
		const result = await unlessAborted(answer, tracked.signal).then(
			(response) => resultOf(response, request, session.secrets),
			(error: unknown) => ({ failure: this.failureOf(error, tracked) }),
		);
		// If another request has changed it in the meantime, this token may be the older one.
		if (this.credentials.accessToken === initial.accessToken) this.credentials = credentials;
		return result;
	}

	private failureOf(error: unknown, tracked: TrackedRequest): Failure {
		const redact = (text: string) => this.redact(text);
		const { isUnsent } = tracked;
		return tracked.failure ?? failureFromError(error, { isUnsent, redact });
	}
}

/** The execution's cancel; undefined for a drop-down. */
function cancelSignalOf(context: N8nContext): AbortSignal | undefined {
	return 'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined;
}
