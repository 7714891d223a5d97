import { LimitedRequest } from '../pace/limiter';
import type { Failure } from '../errors/failure';
import { conditionOf, mayHaveActed, mayRetry, retryDelay } from '../errors/retryPolicy';
import { wait } from '../request/timers';
import type { Call } from './call';
import { callError } from './call';
import type { HttpClient } from '../http';

export interface CallOptions {
	/** How often a failed request is sent again if it may be, and its time limit in milliseconds. */
	maxRetries: number;
	timeout: number;
	/** Ends waiting and retries; a request in flight is awaited. */
	signal?: AbortSignal;
	/** Called when the service keeps rejecting the request, so that the next item can start beside it. */
	beginNext?: (() => void) | undefined;
	/** Called when the call has failed, before a waiting request gets its place. */
	onFailure?: (() => void) | undefined;
}

/** Nothing was sent, because the execution was stopped before that. */
export class StoppedBeforeSending extends Error {}

/**
 * Sends the request of a call until the expected response comes, or until it may not be sent again (retryPolicy.ts).
 *
 * @throws ServiceError if it failed, StoppedBeforeSending if the signal came first
 */
export async function sendWithRetries<Body>(
	httpClient: HttpClient,
	call: Call<Body>,
	{ maxRetries, timeout, signal, beginNext, onFailure }: CallOptions,
): Promise<Body> {
	const { limiter, baseUrl } = httpClient;
	const request = new LimitedRequest(limiter);
	let earlierMayHaveActed = false;
	let failure: Failure | undefined;
	let retries = 0;
	let timesSent = 0;
	const errorOf = (reason: Failure, denial = {}) =>
		callError(call, reason, { baseUrl, timeout, timesSent, earlierMayHaveActed, ...denial });

	for (;;) {
		const denial = await request.acquire(signal);
		if (denial !== undefined) {
			failure ??= denial.failure;
			throw failure === undefined ? new StoppedBeforeSending() : errorOf(failure, denial);
		}
		const result = await httpClient
			.send(call.request, { timeout, onSent: request.sent, signal })
			.catch((error: unknown) => {
				// A permit that is never released would block the account.
				onFailure?.();
				request.release({ kind: 'cancelled', sent: true });
				throw error;
			});
		timesSent += 1;
		if ('body' in result) {
			request.release();
			return result.body;
		}
		failure = result.failure;
		const condition = conditionOf(failure).kind;
		const isAway = condition === 'unreachable' || condition === 'loginFailed';
		const isFirstContact = isAway && !limiter.execution.wasAnswered;
		// All requests wait for these together, so they are no retries of one. At first contact, probes are.
		const allWait = ['throttled', 'unreachable'].includes(condition) && !isFirstContact;
		const retriesSoFar = isFirstContact ? (request.permit?.probe ?? 0) : retries;
		const again = mayRetry(failure, call) && (allWait || retriesSoFar < maxRetries);
		if (!again) onFailure?.();
		request.release(failure);
		if (!again && isFirstContact) limiter.giveUp(failure);
		if (again && !allWait && !isFirstContact) {
			retries += 1;
			await wait(retryDelay(failure, retries), signal);
		}
		if (!again || signal?.aborted === true) throw errorOf(failure);
		if (request.isHeld) beginNext?.();
		// A read has no effect that the error would have to mention.
		earlierMayHaveActed ||= call.request.method !== 'GET' && mayHaveActed(failure);
	}
}
