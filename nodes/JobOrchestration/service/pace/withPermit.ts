import { cancelled, type Failure } from '../errors/failure';
import { CONDITIONS, type Resend } from '../policy';
import type { AccountLimiter } from './limiter';
import type { Denial, LimitedRequest } from './queue';

/*
 * pace/ decides when each request is sent. A request gets a permit, and gives it back with the outcome (this file).
 * Permits are given by `limiter.ts`, to one execution after the other (`queue.ts`), as far as the limits for requests in
 * flight and per second allow it (`limits.ts`), and unless the service is failing (`circuitBreaker.ts`). All measurements
 * in the comments were made with simulated services, in virtual time.
 */

/** How some work has ended: as expected, or with a failure, after which the request may be sent again. */
type Ended = { body: unknown } | { failure: Failure; resend?: Resend | undefined };

/**
 * Does some work with a permit. Afterwards, a request that is sent again waits for its own Retry-After or backoff.
 *
 * @param check sends a health check, as often as the circuit breaker requires one before the work
 * @param work sends the request, perhaps several times with different tokens. It calls `onSend` each time
 * @returns how the work has ended, or a denial if the request gets no permit
 */
export async function withPermit<End extends Ended>(
	limiter: AccountLimiter,
	request: LimitedRequest,
	{ check, work }: { check: () => Promise<Ended>; work: (onSend: () => void) => Promise<End> },
): Promise<End | { denial: Denial }> {
	for (;;) {
		const denial = await limiter.acquire(request);
		if (denial !== undefined) return { denial };
		if (!request.isHealthCheck) return await workAndRelease(limiter, request, work);
		const ended = await workAndRelease(limiter, request, check);
		if ('denial' in ended) return ended;
	}
}

/** Does some work, and gives the permit back, whatever happens. */
async function workAndRelease<End extends Ended>(
	limiter: AccountLimiter,
	request: LimitedRequest,
	work: (onSend: () => void) => Promise<End>,
): Promise<End | { denial: Denial }> {
	const { clock } = limiter;
	const sentBefore = request.timesSent;
	// A login and the waits for a token don't count as the service's response time.
	const onSend = () => {
		request.timesSent = sentBefore + 1;
		request.startedAt = clock.now();
		request.idleBefore = clock.idle();
	};
	// If the work throws, which it never should, the worst is assumed.
	let failure: Failure | undefined = cancelled({ sent: true });
	let sleepMs: number | undefined;
	try {
		const end = await work(onSend);
		failure = 'failure' in end ? end.failure : undefined;
		const denial = denialAfter(end, request, request.timesSent === sentBefore);
		if (denial !== undefined) return { denial };
		const { resend } = 'failure' in end ? end : {};
		sleepMs = request.isHealthCheck ? 0 : resend?.afterMs;
		return end;
	} finally {
		if (failure !== undefined && sleepMs === undefined) request.options.onFailure?.();
		limiter.release(request, failure, sleepMs);
		if (sleepMs !== undefined) await limiter.sleep(request, sleepMs);
	}
}

/** Returns why a request isn't sent, if its run was stopped before, or if the health check before it can't be sent. */
function denialAfter(end: Ended, { options, isHealthCheck }: LimitedRequest, isUnsent: boolean) {
	if (isUnsent && options.signal?.aborted === true) return {};
	const ofCheck = isHealthCheck && 'failure' in end ? end.failure : undefined;
	return ofCheck && CONDITIONS[ofCheck.condition].from === 'n8n' ? { failure: ofCheck } : undefined;
}
