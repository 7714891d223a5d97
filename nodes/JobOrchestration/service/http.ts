import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IHttpRequestMethods,
	ILoadOptionsFunctions,
} from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import type { JsonObject } from '../json';
import { explainConnection } from './messages/connectionMessage';
import { ServiceError } from './messages/serviceError';
import type { LimiterOptions, WaitNotice } from './pace/limiter';
import { ExecutionLimiter } from './pace/limiter';
import type { Failure, FailureOf } from './request/failure';
import { failureBeforeSending, failureFromError, n8nFailureOf } from './request/failure';
import type { HttpResponse } from './request/response';
import { describeBody, failureFromResponse, readResponse } from './request/response';
import { retryDelay } from './request/retryPolicy';
import { unlessAborted, wait } from './request/timers';
import type { Secrets } from './secrets/secrets';
import { tokenOf } from './session/seal';
import type { Session } from './session/session';
import { sessionOf } from './session/session';
import type { OwnRequest } from './session/trackedRequest';
import { ownRequests, TrackedRequest } from './session/trackedRequest';

/** The credential's name, as workflows store it. */
const CREDENTIAL = 'jobOrchestrationApi';

/**
 * How often a request is sent again because its token was rejected. A token may expire within seconds, or be ended by
 * another process; without a limit, processes that keep ending each other's tokens would never stop.
 */
const MAX_RENEWALS = 8;

/** How long before a request its token's login may have begun. With 0, one that others had just begun wouldn't count. */
const TOO_NEW_TO_EXPIRE_MS = 500;

/** n8n's context of an execution, or of a drop-down in the editor. */
type N8nContext = IExecuteFunctions | ILoadOptionsFunctions;

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

/** How a request is sent. */
interface SendOptions {
	/** Milliseconds from the login to the end of the answer, each time it is sent. */
	timeout: number;
	/** Called each time it is sent. */
	onSent: () => void;
	/** Once it is aborted, nothing more is sent. */
	signal?: AbortSignal | undefined;
}

interface OpenOptions
	extends Pick<SendOptions, 'timeout' | 'signal'>,
		Pick<LimiterOptions, 'concurrency' | 'patience'> {
	/** How often the credential is read again. */
	maxRetries: number;
}

/** The body of the expected response, or why there is none. */
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

	/**
	 * @throws ServiceError if the credential can't be read in time, or its Base URL can't be used; NodeOperationError if
	 * the node has no credential
	 */
	static async open(
		context: N8nContext,
		{ maxRetries, timeout, signal, ...limits }: OpenOptions,
	): Promise<HttpClient> {
		const credentials = await readCredentials(context, { maxRetries, timeout, signal });
		const session = sessionOf(credentials);
		// It may be another account's.
		session.secrets.add(tokenOf(credentials.accessToken));
		const { baseUrl } = session.account;
		const notify = (notice: WaitNotice) => context.logger.info(logMessage(notice, baseUrl));
		const execution = executionOf(context);
		const limiter = new ExecutionLimiter(session.limiter, { ...limits, notify, execution });
		return new HttpClient(context, credentials, session, limiter, execution);
	}

	get baseUrl(): string {
		return this.session.account.baseUrl;
	}

	/** Why a request need not be sent: its login was refused, or took too long for another one with as much time. */
	refusedLoginFor({ timeout }: Pick<SendOptions, 'timeout'>): Failure | undefined {
		const { credentials, session, slowLogin } = this;
		if (slowLogin !== undefined && timeout <= slowLogin.timeoutMs) return slowLogin.failure;
		const cause = session.refusalFor(this.execution);
		if (cause === undefined || session.isUsable(session.unseal(credentials.accessToken))) {
			return undefined;
		}
		return { kind: 'login', cause };
	}

	/** A text without this account's password and tokens. */
	redact(text: string): string {
		return this.session.secrets.redact(text);
	}

	/**
	 * Sends a request once, and again with another token if its token is rejected. A cancel of the execution aborts
	 * reads only: other answers are awaited, since they say what was done.
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
		request: ServiceRequest<Body>,
		{ timeout, onSent, signal: stop }: SendOptions,
		tries: Pick<OwnRequest, 'rejections' | 'lastAnswer'>,
	): Promise<{ result: SendResult<Body>; token: string | undefined }> {
		const { context, session, execution, credentials: initial } = this;
		const { method, path, qs, body } = request;
		const cancel =
			'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined;
		const tracked = new TrackedRequest(timeout, stop, method === 'GET' ? cancel : undefined);
		const { signal } = tracked;
		// A copy, since n8n writes a new token into it: other requests may have been sent with the old one.
		const credentials = { ...initial };
		const readCredentials = async () => await context.getCredentials(CREDENTIAL);
		ownRequests.set(credentials, {
			...tries,
			session,
			execution,
			tracked,
			onSent,
			readCredentials,
		});
		const answer = context.helpers.httpRequestWithAuthentication.call(
			withCancelSignal(context, signal),
			CREDENTIAL,
			{
				method,
				url: `${this.baseUrl}${path}`,
				...(qs === undefined ? {} : { qs }),
				...(body === undefined ? {} : { body }),
				json: true,
				abortSignal: signal,
				returnFullResponse: true,
				ignoreHttpStatusErrors: true,
			},
			{ credentialsDecrypted: { id: '', name: '', type: CREDENTIAL, data: credentials } },
		);
		const result = await unlessAborted(answer, signal).then(
			(response) => resultOf(request, readResponse(response), session.secrets),
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

	private failureOf(error: unknown, tracked: TrackedRequest, lastAnswer?: Failure): Failure {
		const failure = tracked.signal.aborted
			? tracked.failure
			: tracked.isUnsent
				? failureBeforeSending(error, (text) => this.redact(text))
				: failureFromError(error);
		if (failure.kind !== 'login' || failure.cause.kind !== 'timeout') return failure;
		this.session.giveUp(tracked.login);
		if (lastAnswer !== undefined) return lastAnswer;
		this.slowLogin = { failure, timeoutMs: failure.cause.after ?? Infinity };
		return failure;
	}
}

function resultOf<Body>(
	{ expected, isExpected }: ServiceRequest<Body>,
	response: HttpResponse,
	secrets: Secrets,
): SendResult<Body> {
	const failure = failureFromResponse(response, secrets);
	if (failure !== undefined) return { failure };
	const { status, body } = response;
	if (isExpected(body)) return { body };
	const received = describeBody(body, secrets);
	return { failure: { kind: 'unexpectedResponse', status, received, expected } };
}

/** The failure of a request whose token the service rejected. */
function rejectionOf(result: SendResult<unknown>): FailureOf<'status'> | undefined {
	const failure = 'failure' in result ? result.failure : undefined;
	return failure?.kind === 'status' && failure.status === 401 ? failure : undefined;
}

/**
 * The same context with another signal than the execution's cancel: n8n puts the one that it finds there into each
 * request (n8n-core, httpRequestWithAuthentication).
 */
export function withCancelSignal<Context extends object>(
	context: Context,
	signal: AbortSignal | undefined,
): Context {
	return new Proxy(context, {
		get: (target, name) =>
			name === 'getExecutionCancelSignal' ? () => signal : (Reflect.get(target, name) as unknown),
	});
}

/** @throws see HttpClient.open */
async function readCredentials(
	context: N8nContext,
	{ maxRetries, timeout, signal }: OpenOptions,
): Promise<ICredentialDataDecryptedObject> {
	const tracked = new TrackedRequest(timeout, signal);
	tracked.prepare();
	for (let retries = 1; ; retries += 1) {
		const read = unlessAborted(context.getCredentials(CREDENTIAL), tracked.signal);
		const result = await read.then(
			(credentials) => ({ credentials }),
			(error: unknown) => ({ error }),
		);
		if ('credentials' in result) {
			tracked.end();
			return result.credentials;
		}
		const { error } = result;
		// What n8n says about the node's settings, it would say again.
		if (error instanceof NodeOperationError) throw error;
		const { isTimedOut, signal: ended } = tracked;
		const cancelled = { kind: 'cancelled', sent: false } as const;
		const n8nFailure = ended.aborted ? cancelled : n8nFailureOf(error);
		const failure = isTimedOut ? ({ kind: 'n8nTimeout', after: timeout } as const) : n8nFailure;
		if (ended.aborted || retries > maxRetries) {
			throw new ServiceError(failure, explainConnection(failure, '', timeout));
		}
		await wait(retryDelay(failure, retries), ended);
	}
}

/** The same object for all that an execution does in this process, and for nothing else: the data of its flow. */
function executionOf(context: N8nContext): object {
	try {
		return 'getContext' in context ? context.getContext('flow') : {};
	} catch {
		return {};
	}
}

/** What n8n's log says of a long wait, and of its end. */
function logMessage(notice: WaitNotice, baseUrl: string): string {
	if ('resumedAfter' in notice) {
		return `The job orchestration service at ${baseUrl} takes requests again, after ${Math.round(notice.resumedAfter / 1_000)} s`;
	}
	const reason = {
		throttled: 'it is receiving too many',
		unavailable: 'it is unavailable',
		unreachable: "it can't be reached",
		broken: 'its connections break',
		loginFailed: 'its log-in fails',
	}[notice.waitsBecause];
	return `Requests to the job orchestration service at ${baseUrl} are waiting: ${reason}`;
}
