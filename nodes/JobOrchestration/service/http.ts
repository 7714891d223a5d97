import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IHttpRequestMethods,
	ILoadOptionsFunctions,
} from 'n8n-workflow';

import type { JsonObject } from '../json';
import { RunLimiter } from './pace/limiter';
import type { Failure } from './errors/failure';
import { failureFromError } from './errors/failure';
import type { Expectation, Result } from './errors/response';
import { isHtml, readResponse, resultOf } from './errors/response';
import { expiryIn } from './errors/rules';
import { unlessAborted } from './timers';
import { trackedRequests } from './session/authentication';
import { TrackedRequest } from './session/trackedRequest';
import { QUESTION_TIMEOUT_MS, SMALL_REQUEST } from './session/login';
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

/** A request without base URL and token, and what is to come back. */
export interface ServiceRequest<Body> extends Expectation<Body> {
	method: IHttpRequestMethods;
	/** Percent-encoded, with a slash at its start. */
	path: string;
	qs?: Record<string, string | number>;
	body?: JsonObject;
}

interface SendOptions {
	/** Milliseconds from the login to the end of the answer, each time it is sent. */
	timeout: number;
	/** Called each time it is sent. */
	onSent: () => void;
	/** Once it is aborted, nothing more is sent. */
	signal?: AbortSignal | undefined;
}

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
	 */
	async send<Body>(
		request: ServiceRequest<Body>,
		{ timeout, onSent, signal: stop }: SendOptions,
	): Promise<Result<Body>> {
		const { context, itemIndex, session, execution } = this;
		const { method } = request;
		const cancel = method === 'GET' ? cancelSignalOf(context) : undefined;
		const readAgain = async () => await context.getCredentials(CREDENTIAL, itemIndex);
		const options = { execution, timeout, stop, cancel, onSent, readAgain };
		let tracked = new TrackedRequest({ ...options, rejections: 0 });
		let hasNewToken = false;
		for (let rejections = 1; ; rejections += 1) {
			const result = await this.sendOnce(request, tracked);
			tracked.end();
			const { token } = tracked;
			const expiry = 'failure' in result ? expiryIn(result.failure) : undefined;
			const isLast = rejections > MAX_RENEWALS;
			if ('body' in result || expiry === undefined || token === undefined || isLast) return result;

			// Its deadline goes from the login to the end of the next answer.
			tracked = new TrackedRequest({ ...options, rejections });
			const { doubt, isNotActedOn } = expiry;
			const doubted = { token, doubt, hasNewToken, isQuestion: method === 'GET' };
			const renewal = await session.renewedToken(context.helpers, tracked, doubted);
			const isRenewed = renewal !== undefined && 'token' in renewal;
			const mayResend = isNotActedOn || method !== 'POST';
			if (isRenewed && mayResend) {
				hasNewToken = renewal.isNew === true;
				continue;
			}
			tracked.end();
			if (tracked.isStopped && isNotActedOn)
				return { failure: tracked.failure ?? { kind: 'cancelled', sent: false } };
			if (isRenewed) return { failure: { ...result.failure, isRenewed } };
			return renewal !== undefined && mayResend ? { failure: { ...renewal.failure } } : result;
		}
	}

	/** Asks the service something harmless: for one work cluster. A page isn't the service's own answer. */
	async ask({ timeout, signal }: Omit<SendOptions, 'onSent'>): Promise<Result<unknown>> {
		const isExpected = (body: unknown): body is unknown => !isHtml(body);
		const request = { ...SMALL_REQUEST, expected: 'a list', isExpected };
		const limits = { timeout: Math.min(timeout, QUESTION_TIMEOUT_MS), onSent: () => {}, signal };
		return await this.send(request, limits);
	}

	private async sendOnce<Body>(
		request: ServiceRequest<Body>,
		tracked: TrackedRequest,
	): Promise<Result<Body>> {
		const { context, session, credentials: initial } = this;
		const { method, path, qs, body } = request;
		// A copy, since n8n writes a new token into it: other requests may have been sent with the old one.
		const credentials = { ...initial };
		trackedRequests.set(credentials, { session, tracked });
		const answer = context.helpers.httpRequestWithAuthentication.call(
			context,
			CREDENTIAL,
			{
				method,
				url: `${this.baseUrl}${path}`,
				...(qs === undefined ? {} : { qs }),
				...(body === undefined ? {} : { body }),
				json: true,
				returnFullResponse: true,
				ignoreHttpStatusErrors: true,
			},
			{ credentialsDecrypted: { id: '', name: '', type: CREDENTIAL, data: credentials } },
		);
		const result = await unlessAborted(answer, tracked.signal).then(
			(response) => resultOf(readResponse(response), request, session.secrets),
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
