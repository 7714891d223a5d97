import type { IHttpRequestMethods } from 'n8n-workflow';

import type { JsonObject } from '../json';

/** A request without Base URL and token, and the response that is expected. */
export interface ServiceRequest<Body> {
	method: IHttpRequestMethods;
	/** The percent-encoded path, with a slash at its start. */
	path: string;
	qs?: Record<string, string | number>;
	body?: JsonObject;
	/**
	 * Whether sending the request twice has the same effect as sending it once. If not, it is sent again only if the
	 * service has certainly not acted on it.
	 */
	idempotent: boolean;
	/** A description of the expected response, as in "The service answered with nothing instead of ...". */
	expected: string;
	isExpected: (body: unknown) => body is Body;
	/**
	 * Returns how the request failed, if the body of a response with a success status code says that it failed. 'refused'
	 * means that the service has certainly not acted on the request.
	 */
	failureIn?: (body: unknown, status: number) => 'refused' | 'failed' | undefined;
	/** Whether errors omit each text of the response that isn't clearly a message, as it may be a token. */
	isSecret?: boolean;
}

/** The options for sending a request. */
export interface RequestOptions {
	/**
	 * Maximum number of resends after the failures in `RETRY.afterBackoff`, and of probes if the service can't be reached
	 * and hasn't answered for an hour.
	 */
	maxRetries: number;
	/**
	 * Time limit in milliseconds from the sending of a request to the end of its response, and for the wait for a token
	 * before that.
	 */
	timeout: number;
	/**
	 * Maximum number of requests of the execution in flight while this one is. It replaces the account's concurrency
	 * limit.
	 */
	concurrency?: number | undefined;
	/**
	 * Signal that stops the sending of requests once it is aborted. A request in flight is awaited, unless it is a health
	 * check.
	 */
	signal?: AbortSignal | undefined;
	/** Called when the call has failed, before a waiting request gets its permit. */
	onFailure?: (() => void) | undefined;
}

/** The options of a client, which are the same for all its requests. */
export interface ClientOptions {
	/** Maximum number of requests of the execution in flight. It replaces the account's concurrency limit. */
	concurrency?: number | undefined;
	/** Milliseconds that a request waits while the service accepts no requests. */
	patienceMs?: number | undefined;
	/** Milliseconds after which the client sends nothing more. Requests that still wait then fail. */
	limitMs?: number | undefined;
	/** An object that is the same for all runs of one execution. */
	execution?: object | undefined;
}

/**
 * The run of the node that a client sends requests for. It began at `runStartedAt` and sends nothing after `runEndsAt`.
 * Both are times in milliseconds by the clock of the client's rate limiter.
 */
export interface ClientRun extends ClientOptions {
	readonly execution: object;
	readonly runStartedAt: number;
	readonly runEndsAt: number;
}
