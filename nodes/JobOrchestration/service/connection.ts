import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IHttpRequestMethods,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
} from 'n8n-workflow';

import type { Answer } from './answer';
import { failureIn, readAnswer } from './answer';
import { readBaseUrl } from './baseUrl';
import type { Failure } from './failure';
import { failureOf } from './failure';
import type { JsonRecord } from './shapes';
import { isRefusal, wasSharedToken } from './tokens';

/** The credential's name, as workflows store it. */
const CREDENTIAL = 'jobOrchestrationApi';

/** What the service layer needs of n8n: an execution has it, and so has a drop-down of the editor. */
export type N8nContext = IExecuteFunctions | ILoadOptionsFunctions;

/** A request without address and token. */
export interface Request {
	method: IHttpRequestMethods;
	/** Percent-encoded, with a slash at its start. */
	path: string;
	qs?: Record<string, string | number>;
	body?: JsonRecord;
}

/** What came of a request that was sent once. */
export type Reply =
	/** With what no error about it may repeat, should the service echo it. */
	{ answer: Answer; secrets: string[] } | { failure: Failure; tokenWasStale?: boolean };

/**
 * The way to the service for one execution: its credentials, read once, and the token, shared by all of the
 * execution's requests.
 */
export class Connection {
	private refusal: Failure | undefined;

	private constructor(
		private readonly context: N8nContext,
		private credentials: ICredentialDataDecryptedObject,
		readonly baseUrl: string,
	) {}

	/** @throws ServiceError where the credential's Base URL can't be used */
	static async open(context: N8nContext): Promise<Connection> {
		const credentials = await context.getCredentials(CREDENTIAL);
		return new Connection(context, credentials, readBaseUrl(credentials.baseUrl));
	}

	/**
	 * Sends a request once, and once more by way of a new log-in where the token is rejected (n8n does that).
	 * A log-in that was refused is not tried again for as long as this connection lives.
	 *
	 * @param timeout milliseconds
	 */
	async send(request: Request, timeout: number): Promise<Reply> {
		if (this.refusal !== undefined) return { failure: this.refusal };

		// A copy for each request: n8n writes a new token into it, and the log-in has to see which token
		// was rejected, not which one another request has got by then.
		const begunWith = this.credentials;
		const own = { ...begunWith };
		const reply = await this.exchange(request, timeout, own);

		// Only whoever began with the current token may have got a newer one.
		if (this.credentials === begunWith && own.accessToken !== begunWith.accessToken) {
			this.credentials = own;
		}
		if ('failure' in reply && isRefusal(reply.failure)) this.refusal = reply.failure;
		return reply;
	}

	private async exchange(
		{ method, path, qs, body }: Request,
		timeout: number,
		own: ICredentialDataDecryptedObject,
	): Promise<Reply> {
		const before = own.accessToken;
		const options: IHttpRequestOptions = {
			method,
			url: `${this.baseUrl}${path}`,
			...(qs === undefined ? {} : { qs }),
			...(body === undefined ? {} : { body }),
			json: true,
			timeout,
			returnFullResponse: true,
			// Only a 401 is thrown: that is what makes n8n log in. Releases that don't know of exceptions
			// (1.x) throw none; there the request is sent again, with all errors thrown.
			ignoreHttpStatusErrors: { ignore: true, except: [401] },
		};
		try {
			let answer = await this.request(options, own);
			if (answer.status === 401) {
				answer = await this.request({ ...options, ignoreHttpStatusErrors: false }, own);
			}
			const secrets = textsAmong([own.password, before, own.accessToken]);
			const failure = failureIn(answer, secrets);
			return failure === undefined ? { answer, secrets } : { failure };
		} catch (error) {
			const failure = failureOf(error);
			const tokenWasStale =
				failure.kind === 'status' && failure.status === 401 && wasSharedToken(own);
			return { failure, tokenWasStale };
		}
	}

	private async request(
		options: IHttpRequestOptions,
		own: ICredentialDataDecryptedObject,
	): Promise<Answer> {
		const response: unknown = await this.context.helpers.httpRequestWithAuthentication.call(
			this.context,
			CREDENTIAL,
			options,
			{ credentialsDecrypted: { id: '', name: '', type: CREDENTIAL, data: own } },
		);
		return readAnswer(response);
	}
}

function textsAmong(values: unknown[]): string[] {
	return values.filter((value): value is string => typeof value === 'string');
}
