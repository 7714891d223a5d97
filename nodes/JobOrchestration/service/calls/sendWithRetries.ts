import type { Failure } from '../errors/failure';
import { consequenceOf } from '../errors/failure';
import type { HttpClient } from '../http';
import type { Denial } from '../pace/requests';
import { LimitedRequest } from '../pace/requests';
import type { RequestOptions } from '../request';
import { unlessAborted } from '../timers';
import type { Call } from './callError';
import { callError } from './callError';

const ABORTED: Failure = { kind: 'cancelled', sent: true };

/** Nothing was sent, because the execution was stopped before that. */
export class StoppedBeforeSending extends Error {}

/**
 * One loop for a call: acquire, send (or ask), release with what came of it; then fail, resend through the limiter, or
 * sleep and resend.
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
	const { timeout, signal } = options;
	const request = new LimitedRequest(queue, options, !call.idempotent);
	let failure: Failure | undefined;
	let timesSent = 0;
	let earlierMayHaveActed = false;
	const errorOf = (reason: Failure, denial: Denial = {}) =>
		callError(call, reason, { baseUrl, timeout, timesSent, earlierMayHaveActed, ...denial });

	for (;;) {
		const permit = await limiter.acquire(request);
		if (!('startedAt' in permit)) {
			failure ??= permit.failure;
			throw failure === undefined ? new StoppedBeforeSending() : errorOf(failure, permit);
		}
		if (permit.isQuestion) {
			const asking = unlessAborted(httpClient.ask(options), signal);
			const answer = await asking.catch(() => ({ failure: ABORTED }));
			limiter.release(request, permit, 'failure' in answer ? answer.failure : undefined, true);
			continue;
		}
		let sleepMs: number | undefined;
		failure = ABORTED;
		try {
			const onSent = () => void (permit.idleBefore = clock.idle());
			const result = await httpClient.send(call, options, onSent);
			timesSent += 1;
			if ('body' in result) {
				failure = undefined;
				return result.body;
			}
			({ failure } = result);
			sleepMs = request.sleepAfter(failure, clock.now(), limiter.gate.answeredAt);
		} finally {
			if (failure !== undefined && sleepMs === undefined) options.onFailure?.();
			limiter.release(request, permit, failure, sleepMs !== undefined);
		}
		if (sleepMs === undefined) throw errorOf(failure);
		await limiter.sleep(request, sleepMs);
		const isSentAgain = signal?.aborted !== true;
		// A read has no effect that the error would have to mention.
		earlierMayHaveActed ||=
			isSentAgain && call.method !== 'GET' && consequenceOf(failure).mayHaveActed;
	}
}
