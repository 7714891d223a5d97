import type { IHttpRequestMethods } from 'n8n-workflow';

import type { JsonObject } from '../json';

/** A request without base URL and token, and what is to come back. */
export interface ServiceRequest<Body> {
	method: IHttpRequestMethods;
	/** Percent-encoded, with a slash at its start. */
	path: string;
	qs?: Record<string, string | number>;
	body?: JsonObject;
	/** Whether sending it twice does the same as sending it once. If not, it is sent again only if it was not acted on. */
	idempotent: boolean;
	/** As in "The service answered with nothing instead of ...". */
	expected: string;
	isExpected: (body: unknown) => body is Body;
	/** What a body with a success's status says, if it says that the request failed. Refused, it has certainly done nothing. */
	failureIn?: (body: unknown, status: number) => 'refused' | 'failed' | undefined;
	/** Whether it is about a job that this execution has just created, which not all of the service's replicas may know. */
	isOfNewJob?: boolean;
	/** Whether a text that isn't clearly a message is not shown, as it may be a token. */
	isSecret?: boolean;
}

/** How a request is sent. */
export interface RequestOptions {
	/** How often a failed request is resent if it may be. */
	maxRetries: number;
	/** Milliseconds from the login to the end of the answer, each time it is sent. */
	timeout: number;
	/** Once it is aborted, nothing more is sent; a request in flight is awaited. */
	signal?: AbortSignal | undefined;
	/** Called when the call has failed, before a waiting request gets its place. */
	onFailure?: (() => void) | undefined;
}

/** What a run of the node sets for all its requests. */
export interface RunOptions {
	/** Requests of the execution in flight at most, instead of the account's concurrency limit. */
	concurrency?: number | undefined;
	/** Milliseconds to wait for a service that accepts no requests. */
	patienceMs?: number | undefined;
	/** Milliseconds after which the run sends nothing more; what waits then fails. */
	limitMs?: number | undefined;
	/** The same object for all runs of one execution. */
	execution?: object | undefined;
}

/** A run of the node. When it began, and after when it sends nothing, in milliseconds by the clock of its limiter. */
export interface Run extends RunOptions {
	readonly execution: object;
	readonly runStartedAt: number;
	readonly runEndsAt: number;
}
