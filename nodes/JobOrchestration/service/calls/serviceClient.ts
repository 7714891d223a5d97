import { type Failure, meaningOf } from '../errors/failure';
import type { ServiceError } from '../errors/serviceError';
import type { HttpClient } from '../http';
import { type Denial, LimitedRequest } from '../pace/requests';
import type { RequestOptions } from '../request';
import { unlessAborted } from '../timers';
import { type Call, callError } from './callError';

const ABORTED: Failure = { kind: 'cancelled', sent: true };

/** Nothing was sent, because the execution was stopped before that. */
export class StoppedBeforeSending extends Error {}

/** Sends the service's calls over one HTTP client and with the same options. */
export class ServiceClient {
	constructor(
		private readonly httpClient: HttpClient,
		private readonly options: RequestOptions,
	) {}

	/** A text of the service as errors, hints and logs may show it: without secrets. */
	redact(text: string): string {
		return this.httpClient.redact(text);
	}

	/**
	 * Sends a call, and returns the body of its answer; null if it is empty. One loop: acquire, send (or ask), release with
	 * what came of it; then fail, resend through the limiter, or sleep and resend.
	 *
	 * @param mayGoOn whether something else is tried if it fails
	 * @throws ServiceError, whose `mayHaveActed` says whether a call that can't be repeated may have worked nevertheless;
	 * StoppedBeforeSending if the signal came first
	 */
	async send<Body>(call: Call<Body>, { mayGoOn = false } = {}): Promise<Body> {
		const { httpClient, options } = this;
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
				const result = await httpClient.send(call, options);
				timesSent += 1;
				if ('body' in result) {
					failure = undefined;
					return result.body;
				}
				({ failure } = result);
				sleepMs = request.sleepAfter(failure, clock.now(), limiter.gate.answeredAt);
			} finally {
				if (failure !== undefined && sleepMs === undefined && !mayGoOn) options.onFailure?.();
				limiter.release(request, permit, failure, sleepMs !== undefined);
			}
			if (sleepMs === undefined) throw errorOf(failure);
			await limiter.sleep(request, sleepMs);
			const isSentAgain = signal?.aborted !== true;
			// A read has no effect that the error would have to mention.
			earlierMayHaveActed ||=
				isSentAgain && call.method !== 'GET' && meaningOf(failure).mayHaveActed;
		}
	}

	/** The error of a call whose answer is as expected, but can't be used. */
	unusable(call: Call<unknown>, failure: Failure): ServiceError {
		const { baseUrl } = this.httpClient;
		return callError(call, failure, { baseUrl, timeout: this.options.timeout });
	}
}
