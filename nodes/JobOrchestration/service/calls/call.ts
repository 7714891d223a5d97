import { isJsonObject, type JsonObject } from '../../json';
import { type NamedJob, sentences } from '../../texts';
import { type Failure, meaningOf } from '../errors/kinds';
import { ServiceError } from '../errors/problem';
import type { About } from '../errors/statuses';
import type { Denial } from '../pace/queue';
import type { ServiceRequest } from '../request';

/** A call of the service as plain data: its request, the expected response and the texts of its errors. */
export interface Call<Body> extends ServiceRequest<Body> {
	/** The name of the call in the contract. */
	operationId: string;
	/** The job that the call is to create. */
	job?: NamedJob;
	/**
	 * Returns the texts of the call's errors. They are only made when an error occurs, since thousands of calls wait and
	 * few fail.
	 */
	textsOf: (baseUrl: string) => Pick<About, 'action' | 'hint' | 'byStatus'> & {
		/** What was requested, for the end of a description, such as "stop job 'x' in namespace 'y'". */
		request: string;
		/** The advice on how to find out whether the call has worked. It isn't used if the call is idempotent. */
		uncertain?: string;
	};
}

interface Tries extends Omit<Denial, 'failure'> {
	baseUrl: string;
	/** The time limit of one request, in milliseconds. */
	timeout: number;
	timesSent?: number;
	/** Whether the failure is not that of a request of the call, which waited or was stopped before it was sent again. */
	isUnsent?: boolean;
	/** Whether the service may have acted on an attempt before the last one. */
	earlierMayHaveActed?: boolean;
}

/** Returns the error of a failed call, which says whether the call may have worked nevertheless. */
export function callError(
	call: Call<unknown>,
	failure: Failure,
	{ baseUrl, timeout, timesSent = 1, earlierMayHaveActed, isUnsent, ...denial }: Tries,
): ServiceError {
	const { request, uncertain, ...words } = call.textsOf(baseUrl);
	const meaning = meaningOf(failure, { baseUrl, timeout, ...words });
	// A call that isn't idempotent waits for another attempt only if the service has certainly not acted on the earlier
	// ones. So if such a call is given up while it waits, it has not worked. For an idempotent call,
	// `earlierMayHaveActed` says whether it may have worked.
	const isUnclear = call.method !== 'GET' && isUnsent !== true && meaning.mayHaveActed;
	const mayHaveActed = isUnclear && !call.idempotent;
	const unexpected = failure.kind === 'unexpectedResponse' ? failure.status : undefined;
	const fate = unexpected === 201 ? 'the job exists' : 'the job may exist';
	const { waitedMs = 0, failedProbes = 0 } = denial;
	const waited = Math.round(waitedMs / 1_000);
	const texts = {
		...meaning,
		fate: mayHaveActed ? (call.job ? fate : 'it may have worked') : undefined,
		// The advice on how to find out replaces any other advice, above all "try again".
		advice: (mayHaveActed && uncertain) || meaning.advice,
		detail: sentences([
			meaning.detail,
			mayHaveActed && "The node didn't resend the request, since it may have worked.",
			waited > 0 && `All requests waited ${waited} s for the service (probes: ${failedProbes}).`,
			timesSent > 1 && `The node tried ${timesSent} times.`,
			earlierMayHaveActed && 'An earlier try got no clear response and may have worked.',
			isUnclear && call.idempotent && 'It may have worked.',
			unexpected !== undefined && call.job && "The answer doesn't show the job.",
			// The request is left out if the failure is about the credential or the connection.
			meaning.isAboutAllItems !== true && `Request: ${request} at ${baseUrl}.`,
		]),
	};
	return new ServiceError(failure, texts, { mayHaveActed, job: call.job });
}

/**
 * Decides whether a body says by a flag that the request was refused. The interface document shows no such body:
 * `success` and `ok` are the flags that services commonly use.
 */
export function hasFailureFlag(body: unknown): body is JsonObject {
	if (!isJsonObject(body)) return false;
	return [body.success, body.ok].some((flag) => flag === false || flag === 'false');
}

/**
 * Decides whether a body says that the request failed, by an HTTP status code of its own or of its `error`. The
 * interface document shows no such body: these are the fields that services commonly use.
 */
export function hasFailureStatus(body: unknown): boolean {
	if (!isJsonObject(body)) return false;
	const { code, status, statusCode, error } = body;
	const statuses = [code, status, statusCode, isJsonObject(error) ? error.code : undefined];
	return statuses.some((value) => /^[45]\d\d$/.test(String(value)));
}
