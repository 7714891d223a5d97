import { isAway } from '../pace/breaker';
import { LimitedRequest } from '../pace/limitedRequest';
import type { Denial } from '../pace/limiter';
import type { Failure } from '../errors/failure';
import { conditionOf, mayHaveActed, mayRetry, retryDelay } from '../errors/rules';
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
	/** Called when the request is throttled again and again, so that the next item can start beside it. */
	beginNext?: (() => void) | undefined;
	/** Called when the call has failed, before a waiting request gets its place. */
	onFailure?: (() => void) | undefined;
}

/** Nothing was sent, because the execution was stopped before that. */
export class StoppedBeforeSending extends Error {}

/**
 * Sends the request of a call until the expected response comes, or until it may not be sent again (rules.ts).
 *
 * @throws ServiceError if it failed, StoppedBeforeSending if the signal came first
 */
export async function sendWithRetries<Body>(
	httpClient: HttpClient,
	call: Call<Body>,
	{ maxRetries, timeout, signal, beginNext, onFailure }: CallOptions,
): Promise<Body> {
	const { limiter, baseUrl } = httpClient;
	const request = new LimitedRequest(limiter, {
		isCreate: !call.idempotent,
		stop: signal,
		beginNext,
		ask: async () => await httpClient.ask({ timeout, signal }),
	});
	let failure: Failure | undefined;
	let retries = 0;
	let timesSent = 0;
	let earlierMayHaveActed = false;
	const errorOf = (reason: Failure, denial: Denial = {}) =>
		callError(call, reason, { baseUrl, timeout, timesSent, earlierMayHaveActed, ...denial });

	const nextStep = (reason: Failure, probe: number): 'fail' | 'resend' | 'wait and resend' => {
		if (!mayRetry(reason, call)) return 'fail';
		if (limiter.waitsTogether(reason, probe, maxRetries)) return 'resend';
		if (isAway(conditionOf(reason).kind)) limiter.giveUp(reason);
		else if (retries < maxRetries) return 'wait and resend';
		return 'fail';
	};

	for (;;) {
		const result = await request.send(async ({ probe, onSent }) => {
			let step: ReturnType<typeof nextStep> = 'fail';
			try {
				const answer = await httpClient.send(call.request, { timeout, onSent, signal });
				timesSent += 1;
				step = 'body' in answer ? 'resend' : nextStep(answer.failure, probe);
				return { ...answer, step };
			} finally {
				if (step === 'fail') onFailure?.();
			}
		});
		if ('body' in result) return result.body;
		if ('denial' in result) {
			failure ??= result.denial.failure;
			throw failure === undefined ? new StoppedBeforeSending() : errorOf(failure, result.denial);
		}
		({ failure } = result);
		if (result.step === 'wait and resend') {
			retries += 1;
			await wait(retryDelay(failure, retries), signal);
		}
		if (result.step === 'fail' || signal?.aborted === true) throw errorOf(failure);
		// A read has no effect that the error would have to mention.
		earlierMayHaveActed ||= call.request.method !== 'GET' && mayHaveActed(failure);
	}
}
