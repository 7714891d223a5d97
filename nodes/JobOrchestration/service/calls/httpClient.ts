import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IHttpRequestMethods,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
} from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { describeBody, failureFromResponse, readResponse } from '../errors/response';
import type { Account } from '../account/account';
import { accountOf } from '../account/account';
import { unsealToken, withoutSeal } from '../account/sealedToken';
import { explain } from '../errors/explain';
import { ServiceError } from '../errors/serviceError';
import type { Failure, FailureOf, RequestFailure } from '../errors/failure';
import { failureBeforeSending, failureFromError, n8nFailureOf } from '../errors/failure';
import { onAbort, onDeadline, unlessAborted, wait } from '../request/timers';
import { OwnRequest, withCancelSignal } from '../account/ownRequest';
import { Secrets } from '../errors/secrets';
import { markRejected, wasFetchedSince, wasRejected } from '../account/tokens';
import { isRefusedLogin, retryDelay } from '../errors/retryPolicy';
import type { JsonObject } from '../../json';
import type { LimiterOptions, WaitNotice } from '../pace/limiter';
import { ExecutionLimiter, limiterOf } from '../pace/limiter';

/** The credential's name, as workflows store it. */
const CREDENTIAL = 'jobOrchestrationApi';

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
	/** Milliseconds that an answer may take, to its end. */
	timeout: number;
	/** Called each time that the request is sent, after its log-in. */
	onSent: () => void;
	/** After it, the request is not sent again. */
	signal?: AbortSignal | undefined;
}

/** How a client is opened: as its first request is sent, and with these limits. */
type OpenOptions = Pick<SendOptions, 'timeout' | 'signal'> & { maxRetries: number } & Pick<
		LimiterOptions,
		'concurrency' | 'patience'
	>;

/** The body of the expected response, or why there is none. */
export type SendResult<Body> = { body: Body } | { failure: Failure };

/**
 * How often a request is sent again at most because its token was rejected. It is once where the service rejects a
 * token that was just fetched; but a token may live for a second only, or be ended by the log-in of another process.
 */
const MAX_RENEWALS = 8;

/** Milliseconds for which a token is fresh: if the service rejects it by then, it would reject the next one, too. */
const FRESH = 500;

/** The most milliseconds that a request waits whose new token was rejected, too: doubled each time, up to a bound. */
const RENEWAL_WAIT = 500;
const MAX_RENEWAL_WAIT = 4_000;

/** How often it looks whether another process has stored a token, before it gives up. */
const LOOKS = 3;

/**
 * Sends the requests of one execution. Its credentials are read once, and again only to look for another process's
 * token. All its requests share the token.
 */
export class HttpClient {
	/** A log-in that was refused: it is not tried again. */
	private refusedLogin: FailureOf<'login'> | undefined;
	private readonly secrets: Secrets;

	private constructor(
		private readonly context: N8nContext,
		private credentials: ICredentialDataDecryptedObject,
		private readonly account: Account,
		/** Lets its requests begin. */
		readonly limiter: ExecutionLimiter,
		private readonly execution: object | undefined,
	) {
		this.secrets = new Secrets(account);
	}

	/**
	 * Reads the credential, and again if n8n fails to read it.
	 *
	 * @param limits the most requests at once, if the user set it; milliseconds that it waits for a service that takes
	 * nothing, where a minute is too long
	 * @throws ServiceError if the credential can't be read in time, or its Base URL can't be used; NodeOperationError if
	 * the node has no credential
	 */
	static async open(
		context: N8nContext,
		{ maxRetries, timeout, signal, ...limits }: OpenOptions,
	): Promise<HttpClient> {
		const credentials = await readCredentials(context, { maxRetries, timeout, signal });
		const account = accountOf(credentials);
		const notify = (notice: WaitNotice) => context.logger.info(logMessage(notice, account.baseUrl));
		const execution = executionOf(context);
		const limiter = new ExecutionLimiter(limiterOf(account), { ...limits, notify, execution });
		return new HttpClient(context, credentials, account, limiter, execution);
	}

	get baseUrl(): string {
		return this.account.baseUrl;
	}

	/** The log-in that was refused, or took too long for a request with as little time: then it need not be sent. */
	refusedLoginFor({ timeout }: Pick<SendOptions, 'timeout'>): Failure | undefined {
		const { refusedLogin } = this;
		if (refusedLogin === undefined) return undefined;
		const { cause } = refusedLogin;
		const hasMoreTime = cause.kind === 'timeout' && timeout > (cause.after ?? Infinity);
		return hasMoreTime ? undefined : refusedLogin;
	}

	/** A text without this execution's password and tokens. */
	redact(text: string): string {
		return this.secrets.redact(text);
	}

	/**
	 * Sends a request once, and again with another token where its token is rejected. A cancel of the execution
	 * cuts off reads only: other responses are awaited, since they say what has been done. A refused log-in is not
	 * tried again by this client.
	 */
	async send<Body>(request: ServiceRequest<Body>, terms: SendOptions): Promise<SendResult<Body>> {
		const refusedLogin = this.refusedLoginFor(terms);
		if (refusedLogin !== undefined) return { failure: refusedLogin };

		const ownRequest = new OwnRequest({
			timeout: terms.timeout,
			onSent: terms.onSent,
			account: this.account,
			execution: this.execution,
			cancelSignal: this.cancelSignal,
			stopSignal: terms.signal,
			isCancellable: request.method === 'GET',
			storedCredentials: async () => await this.storedCredentials(),
		});
		try {
			const result = await this.sendWithRenewals(request, ownRequest);
			if ('failure' in result && isRefusedLogin(result.failure)) this.refusedLogin = result.failure;
			return result;
		} finally {
			ownRequest.end();
		}
	}

	private async sendWithRenewals<Body>(
		request: ServiceRequest<Body>,
		ownRequest: OwnRequest,
	): Promise<SendResult<Body>> {
		// A copy for each request: n8n writes a new token into it, and the log-in has to see which token
		// was rejected, not which one another request has got by then.
		const initial = this.credentials;
		const credentials = { ...initial };
		let begun = Date.now();
		let result = await this.sendOnce(request, ownRequest, credentials);
		for (let renewals = 0; wasTokenRejected(result); renewals += 1) {
			const token = unsealToken(credentials.accessToken, this.account);
			if (token !== undefined) markRejected(this.account, token);
			// The service has rejected the request: it is as if it had never been sent.
			ownRequest.authenticating();
			if (renewals >= MAX_RENEWALS) break;
			if (renewals > 0 && !ownRequest.isOver) {
				const isFresh = token !== undefined && wasFetchedSince(this.account, token, begun - FRESH);
				// Two processes that log each other out part, where one of them waits for longer than a log-in takes.
				await wait(renewalDelay(renewals), ownRequest.signal);
				if (isFresh && !(await this.hasOtherToken(ownRequest.signal))) break;
			}
			if (ownRequest.isTimedOut) break;
			if (ownRequest.isOver) return { failure: ownRequest.failure };
			begun = Date.now();
			result = await this.sendOnce(request, ownRequest, credentials);
		}

		if (credentials.accessToken !== initial.accessToken) {
			// If another request has changed it meanwhile, this one's token may be the older one.
			if (this.credentials === initial) this.credentials = credentials;
			// Another request, with less time, has given up the log-in that this one waited for.
			if (this.refusedLogin?.cause.kind === 'timeout') this.refusedLogin = undefined;
		}
		return result;
	}

	private async sendOnce<Body>(
		{ method, path, qs, body, expected, isExpected }: ServiceRequest<Body>,
		ownRequest: OwnRequest,
		credentials: ICredentialDataDecryptedObject,
	): Promise<SendResult<Body>> {
		const { context, secrets } = this;
		ownRequest.given(credentials);
		const options: IHttpRequestOptions = {
			method,
			url: `${this.baseUrl}${path}`,
			...(qs === undefined ? {} : { qs }),
			...(body === undefined ? {} : { body }),
			json: true,
			abortSignal: ownRequest.signal,
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
		};
		try {
			secrets.add(withoutSeal(credentials.accessToken));
			const answer = context.helpers.httpRequestWithAuthentication.call(
				withCancelSignal(context, ownRequest.signal),
				CREDENTIAL,
				options,
				{ credentialsDecrypted: { id: '', name: '', type: CREDENTIAL, data: credentials } },
			);
			const response = readResponse(await unlessAborted(answer, ownRequest.signal));
			secrets.add(withoutSeal(credentials.accessToken));
			const failure = failureFromResponse(response, secrets);
			if (failure !== undefined) return { failure };
			if (isExpected(response.body)) return { body: response.body };
			const { status } = response;
			const received = describeBody(response.body, secrets);
			return { failure: { kind: 'unexpectedResponse', status, received, expected } };
		} catch (error) {
			// n8n reports that its time is up as a cancel.
			if (ownRequest.signal.aborted) return { failure: ownRequest.failure };
			const redact = (text: string) => secrets.redact(text);
			return {
				failure: ownRequest.isUnsent
					? failureBeforeSending(error, redact)
					: failureFromError(error),
			};
		}
	}

	/** Whether another process has stored a token meanwhile that has not been rejected. It may be about to. */
	private async hasOtherToken(stop: AbortSignal): Promise<boolean> {
		for (let looks = 1; ; looks += 1) {
			// What can't be read may be read a moment later.
			const { accessToken } = await unlessAborted(this.storedCredentials(), stop).catch(() => ({
				accessToken: '',
			}));
			const token = unsealToken(accessToken, this.account);
			if (token !== undefined && !wasRejected(this.account, token)) return true;
			if (looks === LOOKS) return false;
			await wait(renewalDelay(looks), stop);
		}
	}

	private async storedCredentials(): Promise<ICredentialDataDecryptedObject> {
		return await this.context.getCredentials(CREDENTIAL);
	}

	private get cancelSignal(): AbortSignal | undefined {
		const { context } = this;
		return 'getExecutionCancelSignal' in context ? context.getExecutionCancelSignal() : undefined;
	}
}

/** @throws see HttpClient.open */
async function readCredentials(
	context: N8nContext,
	{ maxRetries, timeout, signal }: Omit<OpenOptions, 'concurrency' | 'patience'>,
): Promise<ICredentialDataDecryptedObject> {
	const controller = new AbortController();
	let ended: RequestFailure | undefined;
	const end = (failure: RequestFailure) => {
		ended = failure;
		controller.abort();
	};
	const stopListening = [
		onAbort(signal, () => end({ kind: 'cancelled', sent: false })),
		onDeadline(timeout, () => end({ kind: 'n8nTimeout', after: timeout })),
	];
	const read = async () =>
		await unlessAborted(context.getCredentials(CREDENTIAL), controller.signal).then(
			(credentials) => ({ credentials }),
			(error: unknown) => ({ error }),
		);
	let result = await read();
	for (let retries = 1; 'error' in result && retries <= maxRetries; retries += 1) {
		// What n8n says of the node's settings, it would say again.
		if (ended !== undefined || result.error instanceof NodeOperationError) break;
		await wait(retryDelay({ kind: 'n8nFailed', reason: '' }, retries), controller.signal);
		result = await read();
	}
	for (const stop of stopListening) stop();
	if ('credentials' in result) return result.credentials;
	if (result.error instanceof NodeOperationError) throw result.error;
	const failure = ended ?? n8nFailureOf(result.error);
	throw new ServiceError(failure, explain(failure, { timeout }));
}

/**
 * What is the same object in all that an execution does in this process, and in no other: the data of its flow.
 *
 * @returns undefined where n8n has no such data, as for a drop-down
 */
function executionOf(context: N8nContext): object | undefined {
	if (!('getContext' in context)) return undefined;
	try {
		return context.getContext('flow');
	} catch {
		return undefined;
	}
}

/** Milliseconds, by chance. @param renewals from 1 */
function renewalDelay(renewals: number): number {
	return Math.random() * Math.min(RENEWAL_WAIT * 2 ** (renewals - 1), MAX_RENEWAL_WAIT);
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

function wasTokenRejected(result: SendResult<unknown>): boolean {
	return 'failure' in result && result.failure.kind === 'status' && result.failure.status === 401;
}
