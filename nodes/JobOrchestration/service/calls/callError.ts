import { type NamedJob, sentences } from '../../texts';
import { type Failure, meaningOf } from '../errors/kinds';
import { ServiceError } from '../errors/problem';
import type { About } from '../errors/statuses';
import type { Denial } from '../pace/queue';
import type { ServiceRequest } from '../request';

/** A call of the service as plain data: what is sent, what is to come back, and what its errors say. */
export interface Call<Body> extends ServiceRequest<Body> {
	/** Its name in the contract. */
	operationId: string;
	/** The job that it is to make. */
	job?: NamedJob;
	/** What its errors say, put together when one is made: thousands of calls wait, and few fail. */
	wordsOf: (baseUrl: string) => CallWords;
}

interface CallWords extends Pick<About, 'action' | 'hint' | 'byStatus'> {
	/** What was requested, for the end of a description: "stop job 'x' in namespace 'y'". */
	request: string;
	/** Unless it is idempotent: how to find out whether it worked. */
	uncertain?: string;
}

interface Tries extends Omit<Denial, 'failure'> {
	baseUrl: string;
	/** Of one request, in milliseconds. */
	timeout: number;
	timesSent?: number;
	/** Whether a try before the last one may have had its effect. */
	earlierMayHaveActed?: boolean;
}

/** The error of a call that failed, which says whether it may have worked nevertheless. */
export function callError(
	call: Call<unknown>,
	failure: Failure,
	{ baseUrl, timeout, timesSent = 1, earlierMayHaveActed, waitedMs, failedProbes = 0 }: Tries,
): ServiceError {
	const { request, uncertain, ...words } = call.wordsOf(baseUrl);
	const meaning = meaningOf(failure, { baseUrl, timeout, ...words });
	// One that was given up while it waited can't have worked: else it would not have been sent again.
	const isUnclear = call.method !== 'GET' && waitedMs === undefined && meaning.mayHaveActed;
	const mayHaveActed = isUnclear && !call.idempotent;
	const unexpected = failure.kind === 'unexpectedResponse' ? failure.status : undefined;
	const fate = unexpected === 201 ? 'the job exists' : 'the job may exist';
	const waited = Math.round((waitedMs ?? 0) / 1_000);
	const texts = {
		...meaning,
		fate: mayHaveActed ? (call.job ? fate : 'it may have worked') : undefined,
		// How to find out replaces any other advice, above all "try again".
		advice: (mayHaveActed && uncertain) || meaning.advice,
		detail: sentences([
			meaning.detail,
			mayHaveActed && "The node didn't resend the request, since it may have worked.",
			waited > 0 && `All requests waited ${waited} s for the service (probes: ${failedProbes}).`,
			timesSent > 1 && `The node tried ${timesSent} times.`,
			earlierMayHaveActed && 'An earlier try got no clear response and may have worked.',
			isUnclear && call.idempotent && 'It may have worked.',
			unexpected !== undefined && call.job && "The answer doesn't show the job.",
			// What concerns the credential or the connection isn't about this request.
			meaning.isAboutAllItems !== true && `Request: ${request} at ${baseUrl}.`,
		]),
	};
	return new ServiceError(failure, texts, { mayHaveActed, job: call.job });
}
