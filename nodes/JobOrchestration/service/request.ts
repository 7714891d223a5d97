import type { IHttpRequestMethods } from 'n8n-workflow';

import type { JsonObject } from '../json';
import type { NamedJob } from '../texts';

/**
 * The texts for some status codes, which are given as numbers and ranges: '408 500-599'. The row applies to them if its
 * last element, which may be left out, is true.
 */
export type StatusRow = [statuses: string, title: string, advice: string, applies?: boolean];

/** What the errors of a request say about it. */
export interface ErrorTexts {
	/** What the request does, to complete a sentence such as "The service refused to ...". */
	action: string;
	/** What the user should do if the service refuses the request because of a wrong value. */
	ifRefused: string;
	/** What the user should do if the service refuses the request by 409, if that is something else. */
	ifConflict?: string;
	/** The status codes that mean something else for this request than for others. */
	rows?: StatusRow[];
}

/** A request as plain data, without Base URL and token: what is sent, the expected response and the texts of its errors. */
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
	/** Whether the request is the login. A successful response to it may contain a token in any field. */
	isLogin?: boolean;
	/** The time limit of the request in milliseconds, if its run allows more. */
	maxTimeoutMs?: number;
	/** The job that the request is to create. */
	job?: NamedJob;
	/**
	 * Returns what the errors of the request say about it. The texts are only made when an error occurs, since thousands
	 * of requests wait and few fail.
	 */
	errorTexts: (baseUrl: string) => ErrorTexts;
}

/** The options for sending a request. */
export interface RequestOptions {
	/**
	 * Maximum number of resends because of a failure (`CONDITIONS` in policy.ts), and of probes of a run in the editor if
	 * the service can't be reached and hasn't answered for an hour.
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

/**
 * The time after which a call of a tool sends no more requests, in milliseconds. It covers all tries of Retry On Fail.
 * MCP clients usually give up a call after a minute, and call again.
 */
export const TOOL_LIMIT_MS = 45_000;

/**
 * The run of the node that a client sends requests for. It began at `runStartedAt` and sends nothing after `runEndsAt`.
 * Both are times in milliseconds by the clock of the client's rate limiter.
 */
export interface ClientRun {
	readonly runStartedAt: number;
	readonly runEndsAt: number;
	/**
	 * Whether somebody waits for the run in n8n's editor. It then fails soon if the service can't be reached and hasn't
	 * answered for an hour. Any other run waits for the service: a nightly workflow is always the first one after hours.
	 */
	readonly isInEditor: boolean;
	/** Milliseconds that a request waits while the service accepts no requests; undefined for the usual time. */
	readonly patienceMs: number | undefined;
}
