import type { Failure } from '../errors/failure';
import type { Result } from '../errors/response';
import { consequenceOf, mayRetry, retryDelay } from '../errors/rules';
import type { HttpClient } from '../http';
import { cannotBeReached } from '../pace/gate';
import type { Denial } from '../pace/requests';
import { LimitedRequest } from '../pace/requests';
import type { RequestOptions } from '../request';
import { unlessAborted } from '../timers';
import type { Call } from './callError';
import { callError } from './callError';

const ABORTED: Result<never> = { failure: { kind: 'cancelled', sent: true } };

/** Nothing was sent, because the execution was stopped before that. */
export class StoppedBeforeSending extends Error {}

/**
 * Sends the request of a call until the expected response comes, or until it may not be sent again (rules.ts): acquires a
 * permit, sends the request (or asks the service), releases the permit with what came of it; then fails, sends it again
 * through the limiter, or sleeps before that.
 *
 * @throws ServiceError if it failed, StoppedBeforeSending if the signal came first
 */
export async function sendWithRetries<Body>(
	httpClient: HttpClient,
	call: Call<Body>,
	options: RequestOptions,
): Promise<Body> {
	const { limiter, queue, baseUrl } = httpClient;
	const { clock } = limiter;
	const { maxRetries, timeout, signal } = options;
	const request = new LimitedRequest(queue, options, !call.idempotent);
	let failure: Failure | undefined;
	let retries = 0;
	let timesSent = 0;
	let earlierMayHaveActed = false;
	const errorOf = (reason: Failure, denial: Denial = {}) =>
		callError(call, reason, { baseUrl, timeout, timesSent, earlierMayHaveActed, ...denial });

	/** For how many milliseconds the request sleeps before it is sent again; undefined if it isn't. */
	const sleepAfter = (reason: Failure): number | undefined => {
		const { condition, retryAfterMs } = consequenceOf(reason);
		if (!mayRetry(reason, call)) return undefined;
		if (condition === 'throttled') {
			return request.sleepAfterThrottling(retryAfterMs, clock.now(), limiter.gate.answeredAt);
		}
		if (cannotBeReached(condition)) return 0;
		retries += 1;
		return retries > maxRetries ? undefined : retryDelay(reason, retries - 1);
	};

	for (;;) {
		const permit = await limiter.acquire(request);
		if (!('startedAt' in permit)) {
			failure ??= permit.failure;
			throw failure === undefined ? new StoppedBeforeSending() : errorOf(failure, permit);
		}
		if (permit.isQuestion) {
			const answer = unlessAborted(httpClient.ask(options), signal);
			limiter.release(request, permit, await answer.catch(() => ABORTED), true);
			continue;
		}
		const onSent = () => void (permit.idleBefore = clock.idle());
		let result: Result<Body> = ABORTED;
		let sleepMs: number | undefined;
		try {
			result = await httpClient.send(call, options, onSent);
			timesSent += 1;
			sleepMs = 'body' in result ? 0 : sleepAfter(result.failure);
		} finally {
			if (sleepMs === undefined) options.onFailure?.();
			limiter.release(request, permit, result, sleepMs !== undefined && !('body' in result));
		}
		if ('body' in result) return result.body;
		({ failure } = result);
		if (sleepMs === undefined) throw errorOf(failure);
		await limiter.sleep(request, sleepMs);
		if (signal?.aborted === true) continue;
		// A read has no effect that the error would have to mention.
		earlierMayHaveActed ||= call.method !== 'GET' && consequenceOf(failure).mayHaveActed;
	}
}
