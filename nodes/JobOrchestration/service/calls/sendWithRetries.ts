import type { Call } from './call';
import { CallError } from './callError';
import type { ExecutionLimiter, QueuePosition } from '../pace/limiter';
import type { HttpClient } from './httpClient';
import type { Failure } from '../request/failure';
import { outcomeOf } from '../pace/outcome';
import { mayHaveActed, mayRetry, retryDelay } from '../request/retryPolicy';
import { wait } from '../request/timers';

/** What sends the requests of a call: an HttpClient, as far as calls need it. */
export type Sender = Pick<HttpClient, 'baseUrl' | 'redact' | 'refusedLoginFor' | 'send'> & {
	limiter: Pick<ExecutionLimiter, 'acquire' | 'giveUp' | 'hasBeenAnswered'>;
};

/** How the requests of a call are sent. */
export interface CallOptions {
	/** How often a failed request is sent again, where it may be. */
	maxRetries: number;
	/** Milliseconds, of one request. */
	timeout: number;
	/** Ends waiting and sending again; a request under way is left to end. */
	signal?: AbortSignal;
	/** Awaited by a request that may be the only one that the service turns away. Resolves when the others are done. */
	letOthersTry?: (() => Promise<void>) | undefined;
	/** Called when the call has failed, before a request that waits for this one's end may begin. */
	onFailure?: (() => void) | undefined;
}

/** Milliseconds: a service that wants a wait as long as this may mean one request alone, by a quota for example. */
const LONG_RETRY_AFTER = 30_000;

/** Nothing was sent, because the execution was stopped before that. */
export class StoppedBeforeSending extends Error {}

/**
 * Makes a call: sends its request until the expected response comes, or until it may not be sent again
 * (retryPolicy.ts).
 *
 * @returns the body of the response
 * @throws CallError if it failed, StoppedBeforeSending if the signal came first
 */
export async function sendWithRetries<Body>(
	httpClient: Sender,
	call: Call<Body>,
	{ maxRetries, timeout, signal, letOthersTry, onFailure }: CallOptions,
): Promise<Body> {
	const { limiter } = httpClient;
	let earlierMayHaveActed = false;
	let lastFailure: Failure | undefined;
	let retries = 0;
	let position: QueuePosition = {};

	for (let timesSent = 0; ; ) {
		const attempts = { baseUrl: httpClient.baseUrl, timeout, earlierMayHaveActed };
		const refusedLogin = httpClient.refusedLoginFor({ timeout });
		if (refusedLogin !== undefined) {
			throw new CallError(call, refusedLogin, { ...attempts, timesSent });
		}
		const permit = await limiter.acquire(signal, position);
		if ('denied' in permit) {
			if (permit.denied === 'givenUp') {
				// If this request itself failed for the same reason, that failure has the service's words about it.
				const { kind } = outcomeOf(permit.failure);
				const own = lastFailure && outcomeOf(lastFailure).kind === kind ? lastFailure : undefined;
				throw new CallError(call, own ?? permit.failure, {
					...attempts,
					timesSent,
					waited: permit.waited,
					probes: permit.probes,
				});
			}
			if (lastFailure === undefined) throw new StoppedBeforeSending();
			throw new CallError(call, lastFailure, { ...attempts, timesSent });
		}
		const result = await httpClient
			.send(call.request, { timeout, onSent: permit.sent, signal })
			.catch((error: unknown) => {
				// Whoever has a permit must release it, whatever n8n throws.
				onFailure?.();
				permit.release({ kind: 'unknown' });
				throw error;
			});
		timesSent += 1;
		if ('body' in result) {
			permit.release({ kind: 'done' });
			return result.body;
		}
		const { failure } = result;
		const outcome = outcomeOf(failure);
		lastFailure = failure;
		const isThrottled = outcome.kind === 'throttled';
		const isLong = isThrottled && (outcome.retryAfter ?? 0) >= LONG_RETRY_AFTER;
		position = { goesFirst: !permit.isProbe && !isLong, wasThrottled: isThrottled };

		// These are waited for by all requests together, at their next permit: they don't count as retries.
		const allWait = isThrottled || (outcome.kind === 'unreachable' && limiter.hasBeenAnswered);
		// At first contact, the log-in is tried again for all of the run together.
		const isOfAll = outcome.kind === 'loginFailed' && !limiter.hasBeenAnswered;
		const retriesSoFar = isOfAll ? permit.countFailedLogin() - 1 : retries;
		const again = mayRetry(failure, call) && (allWait || retriesSoFar < maxRetries);
		if (!again) onFailure?.();
		permit.release(outcome, failure);
		if (again && !allWait) {
			retries += 1;
			await wait(retryDelay(failure, retries), signal);
		}
		if (!again) limiter.giveUp(outcome, failure);
		if (!again || signal?.aborted === true) {
			throw new CallError(call, failure, { ...attempts, timesSent });
		}
		if (isThrottled && (isLong || permit.isLateProbe)) await letOthersTry?.();
		// A read has no effect that the error would have to mention.
		earlierMayHaveActed ||= call.request.method !== 'GET' && mayHaveActed(failure);
	}
}
