import type { ICredentialDataDecryptedObject, IHttpRequestMethods } from 'n8n-workflow';

import type { JsonObject } from '../json';
import type { N8nContext } from './n8nContext';
import { cancelSignalOf, CREDENTIAL, executionOf, readCredentials } from './n8nContext';
import type { LimiterOptions } from './pace/limiter';
import { ExecutionLimiter } from './pace/limiter';
import type { Failure, FailureOf } from './errors/failure';
import { failureBeforeSending, failureFromError } from './errors/failure';
import type { HttpResponse } from './errors/response';
import { describeBody, failureFromResponse, readResponse } from './errors/response';
import { unlessAborted } from './request/timers';
import { tokenOf } from './session/account';
import type { OwnRequest, Session } from './session/session';
import { ownRequests } from './session/session';
import { sessionOf } from './session/sessions';
import { TrackedRequest } from './session/trackedRequest';

/**
 * How often a request is resent because its token was rejected. Without a limit, processes that keep ending each
 * other's tokens would never stop.
 */
const MAX_RENEWALS = 8;

/** How long before a request its token's login may have begun. With 0, one that others had just begun wouldn't count. */
const TOO_NEW_TO_EXPIRE_MS = 500;

/** A request without base URL and token, and what is to come back. */
export interface ServiceRequest<Body> {
	method: IHttpRequestMethods;
	/** Percent-encoded, with a slash at its start. */
	path: string;
	qs?: Record<string, string | number>;
	body?: JsonObject;
	/** The expected response, as in "The service answered with nothing instead of ...". */
	expected: string;
	isExpected: (body: unknown) => body is Body;
}

interface SendOptions {
	/** Milliseconds from the login to the end of the answer, each time it is sent. */
	timeout: number;
	/** Called each time it is sent. */
	onSent: () => void;
	/** Once it is aborted, nothing more is sent. */
	signal?: AbortSignal | undefined;
}

type OpenOptions = Pick<SendOptions, 'timeout' | 'signal'> &
	Pick<LimiterOptions, 'concurrency' | 'patience'>;

/** The body of the expected response, or why it didn't come. */
export type SendResult<Body> = { body: Body } | { failure: Failure };

/** Sends the requests of one run of the node, with one credential, which is read once. */
export class HttpClient {
	/** A login that took too long: no request with as little time waits for another one. */
	private slowLogin: { failure: Failure; timeoutMs: number } | undefined;

	private constructor(
		private readonly context: N8nContext,
		private credentials: ICredentialDataDecryptedObject,
		private readonly session: Session,
		readonly limiter: ExecutionLimiter,
		private readonly execution: object,
	) {}

	/** @throws ServiceError, also if the Base URL can't be used; NodeOperationError if the node has no credential */
	static async open(
		context: N8nContext,
		{ timeout, signal, ...limits }: OpenOptions,
	): Promise<HttpClient> {
		const credentials = await readCredentials(context, { timeout, stop: signal });
		const session = sessionOf(credentials);
		// It may be another account's.
		session.secrets.add(tokenOf(credentials.accessToken));
		const execution = executionOf(context);
		const limiter = new ExecutionLimiter(session.limiter, { ...limits, execution });
		return new HttpClient(context, credentials, session, limiter, execution);
	}

	get baseUrl(): string {
		return this.session.account.baseUrl;
	}

	/** Why a request need not be sent: its login was refused, or took too long for another one with as much time. */
	refusedLoginFor({ timeout }: Pick<SendOptions, 'timeout'>): Failure | undefined {
		const { credentials, session, slowLogin } = this;
		if (slowLogin !== undefined && timeout <= slowLogin.timeoutMs) return slowLogin.failure;
		if (session.isUsable(session.unseal(credentials.accessToken))) return undefined;
		const refusal = session.refusalFor(this.execution);
		return refusal && { kind: 'login', cause: refusal.failure };
	}

	/** A text without this account's password and tokens. */
	redact(text: string): string {
		return this.session.secrets.redact(text);
	}

	/**
	 * Sends a request, and again with another token if its token is rejected. A cancel aborts reads only: other answers are
	 * awaited, since they say what was done.
	 */
	async send<Body>(request: ServiceRequest<Body>, options: SendOptions): Promise<SendResult<Body>> {
		const { session } = this;
		const refusedLogin = this.refusedLoginFor(options);
		if (refusedLogin !== undefined) return { failure: refusedLogin };

		let lastAnswer: FailureOf<'status'> | undefined;
		for (let rejections = 0; ; rejections += 1) {
			const startedAt = Date.now();
			const { result, token } = await this.sendOnce(request, options, { rejections, lastAnswer });
			const rejection = rejectionOf(result);
			if (rejection === undefined || rejection === lastAnswer) return result;
			if (token !== undefined) session.reject(token);
			if (token === undefined || rejections === MAX_RENEWALS) return result;
			// Another process may have ended the first token. If a token fetched for this request is rejected as well, only
			// one from another process may help.
			const isNew = session.wasFetchedSince(token, startedAt - TOO_NEW_TO_EXPIRE_MS);
			lastAnswer = rejections > 0 && isNew ? rejection : undefined;
		}
	}

	/** @returns also the token of the request, if it got one */
	private async sendOnce<Body>(
		{ path, expected, isExpected, ...options }: ServiceRequest<Body>,
		{ timeout, onSent, signal: stop }: SendOptions,
		tries: Pick<OwnRequest, 'rejections' | 'lastAnswer'>,
	): Promise<{ result: SendResult<Body>; token: string | undefined }> {
		const { context, session, execution, credentials: initial } = this;
		const cancel = options.method === 'GET' ? cancelSignalOf(context) : undefined;
		const tracked = new TrackedRequest(timeout, stop, cancel);
		const { signal } = tracked;
		// A copy, since n8n writes a new token into it: other requests may have been sent with the old one.
		const credentials = { ...initial };
		const readAgain = async () => await context.getCredentials(CREDENTIAL);
		ownRequests.set(credentials, { ...tries, session, execution, tracked, onSent, readAgain });
		const answer = context.helpers.httpRequestWithAuthentication.call(
			context,
			CREDENTIAL,
			{
				...options,
				url: `${this.baseUrl}${path}`,
				json: true,
				returnFullResponse: true,
				ignoreHttpStatusErrors: true,
			},
			{ credentialsDecrypted: { id: '', name: '', type: CREDENTIAL, data: credentials } },
		);
		const result = await unlessAborted(answer, signal).then(
			(response) => this.resultOf(readResponse(response), { expected, isExpected }),
			(error: unknown) => ({ failure: this.failureOf(error, tracked, tries.lastAnswer) }),
		);
		tracked.end();
		if (credentials.accessToken !== initial.accessToken) {
			// If another request has changed it in the meantime, this token may be the older one.
			if (this.credentials === initial) this.credentials = credentials;
			this.slowLogin = undefined;
		}
		return { result, token: session.unseal(credentials.accessToken) };
	}

	private resultOf<Body>(
		response: HttpResponse,
		{ expected, isExpected }: Pick<ServiceRequest<Body>, 'expected' | 'isExpected'>,
	): SendResult<Body> {
		const { secrets } = this.session;
		const failure = failureFromResponse(response, secrets);
		if (failure !== undefined) return { failure };
		const { status, body } = response;
		if (isExpected(body)) return { body };
		const received = describeBody(body, secrets);
		return { failure: { kind: 'unexpectedResponse', status, received, expected } };
	}

	private failureOf(
		error: unknown,
		tracked: TrackedRequest,
		lastAnswer: Failure | undefined,
	): Failure {
		const redact = (text: string) => this.redact(text);
		const thrown = tracked.isUnsent ? failureBeforeSending(error, redact) : failureFromError(error);
		const failure = tracked.failure ?? thrown;
		if (failure.kind !== 'login' || failure.cause.kind !== 'timeout') return failure;
		if (lastAnswer !== undefined) return lastAnswer;
		this.session.giveUp(tracked.login);
		this.slowLogin = { failure, timeoutMs: failure.cause.after ?? Infinity };
		return failure;
	}
}

/** The failure of a request whose token the service rejected. */
function rejectionOf(result: SendResult<unknown>): FailureOf<'status'> | undefined {
	const failure = 'failure' in result ? result.failure : undefined;
	return failure?.kind === 'status' && failure.status === 401 ? failure : undefined;
}
