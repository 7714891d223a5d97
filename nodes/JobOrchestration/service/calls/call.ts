import type { NamedJob } from '../../texts';
import type { Failure } from '../errors/failure';
import { problemOfFailure, ServiceError, uncertain } from '../errors/problem';
import type { Denial } from '../pace/queue';
import type { ServiceRequest } from '../request';

/** A call of the service as plain data: its request, the expected response and the texts of its errors. */
export interface Call<Body> extends ServiceRequest<Body> {
	/** The name of the call in the contract. */
	operationId: string;
	/** The job that the call is to create. */
	job?: NamedJob;
}

/**
 * Returns the error of a failed call, which says whether the call may have worked nevertheless. A call that isn't
 * idempotent waits for another attempt only if the service has certainly not acted on the earlier ones. So if such a
 * call is given up while it waits, it has not worked.
 *
 * @param isOwn whether the failure is that of the call itself, and not that of other requests or of a health check
 * @param waitedMs how long the call has waited when it was given up
 */
export function callError(
	call: Call<unknown>,
	failure: Failure,
	tries: Omit<Denial, 'failure'> & { timesSent?: number; isOwn?: boolean } = {},
): ServiceError {
	const { timesSent = 1, isOwn = true, waitedMs = 0, failedProbes = 0 } = tries;
	const isUnclear = call.method !== 'GET' && isOwn && failure.mayHaveActed;
	const waited = Math.round(waitedMs / 1_000);
	const facts = [...failure.facts];
	if (timesSent > 1 && failure.ofLogin !== true)
		facts.push(`The request was sent ${timesSent} times.`);
	if (isUnclear && call.idempotent) facts.push('It may have worked.');
	if (waited > 0) {
		const probes = failedProbes === 1 ? 'one more attempt' : `${failedProbes} more attempts`;
		facts.push(`All requests have waited ${waited} s for the service, and ${probes} failed.`);
	}
	const problem = { ...problemOfFailure(failure), facts };
	const isUncertain = isUnclear && !call.idempotent;
	return new ServiceError(failure, isUncertain ? uncertain(problem, call.job) : problem);
}
