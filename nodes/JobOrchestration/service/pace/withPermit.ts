import { cancelled, type Failure } from '../errors/failure';
import { CONDITIONS, type Resend } from '../policy';
import type { AccountLimiter } from './limiter';
import type { Denial, LimitedRequest } from './queue';

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
		const isUnsent = 'failure' in ended && CONDITIONS[ended.failure.condition].from === 'n8n';
		if (isUnsent) return { denial: ended };
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
	let end: Ended = { failure: cancelled({ sent: true }) };
	try {
		const ended = await work(onSend);
		end = ended;
		// A request that is stopped before it is sent has no failure of its own.
		const isUnsent = request.timesSent === sentBefore;
		return isUnsent && request.options.signal?.aborted === true ? { denial: {} } : ended;
	} finally {
		const { failure, resend } = 'failure' in end ? end : {};
		const sleepMs = request.isHealthCheck ? 0 : resend?.afterMs;
		if (failure !== undefined && sleepMs === undefined) request.options.onFailure?.();
		limiter.release(request, failure, sleepMs);
		if (sleepMs !== undefined) await limiter.sleep(request, sleepMs);
	}
}
