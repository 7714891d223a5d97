import type { Failure } from '../errors/failure';
import { consequenceOf, mayRetry, retryDelay } from '../errors/rules';
import type { HttpClient } from '../http';
import { cannotBeReached } from '../pace/breaker';
import { LimitedRequest } from '../pace/limitedRequest';
import type { Denial } from '../pace/limiter';
import type { RequestOptions } from '../request';
import { wait } from '../timers';
import type { Call } from './callError';
import { callError } from './callError';

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
	options: RequestOptions,
): Promise<Body> {
	const { limiter, baseUrl } = httpClient;
	const { maxRetries, timeout, signal } = options;
	const ask = async () => await httpClient.ask(options);
	const request = new LimitedRequest(limiter, options, !call.idempotent, ask);
	let failure: Failure | undefined;
	let retries = 0;
	let timesSent = 0;
	let earlierMayHaveActed = false;
	const errorOf = (reason: Failure, denial: Denial = {}) =>
		callError(call, reason, { baseUrl, timeout, timesSent, earlierMayHaveActed, ...denial });

	const nextStep = (reason: Failure, probe: number): 'fail' | 'resend' | 'wait and resend' => {
		if (!mayRetry(reason, call)) return 'fail';
		if (limiter.waitsTogether(reason, probe, maxRetries)) return 'resend';
		if (cannotBeReached(consequenceOf(reason).condition)) limiter.giveUp(reason);
		else if (retries < maxRetries) return 'wait and resend';
		return 'fail';
	};

	for (;;) {
		const result = await request.send(async ({ probe, onSent }) => {
			let step: ReturnType<typeof nextStep> = 'fail';
			try {
				const answer = await httpClient.send(call, options, onSent);
				timesSent += 1;
				step = 'body' in answer ? 'resend' : nextStep(answer.failure, probe);
				return { ...answer, step };
			} finally {
				if (step === 'fail') options.onFailure?.();
			}
		});
		if ('body' in result) return result.body;
		if ('denial' in result) {
			failure ??= result.denial.failure;
			throw failure === undefined ? new StoppedBeforeSending() : errorOf(failure, result.denial);
		}
		({ failure } = result);
		if (result.step === 'wait and resend') {
			await wait(retryDelay(failure, retries), signal);
			retries += 1;
		}
		if (result.step === 'fail' || signal?.aborted === true) throw errorOf(failure);
		// A read has no effect that the error would have to mention.
		earlierMayHaveActed ||= call.method !== 'GET' && consequenceOf(failure).mayHaveActed;
	}
}
