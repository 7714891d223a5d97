import type { Failure } from './failure';
import { meaningOf } from './failure';
import type { Consequence, TokenDoubt } from './meaning';

export type { Condition, Consequence, TokenDoubt } from './meaning';
export { ANSWERED } from './meaning';

/** What follows from a failure, apart from its words. */
export function consequenceOf(failure: Failure): Consequence {
	return meaningOf(failure);
}

/** Whether a request that failed so may be resent. @param call `idempotent` if sending it twice does the same as once */
export function mayRetry(failure: Failure, call: { readonly idempotent: boolean }): boolean {
	const { resend } = consequenceOf(failure);
	return resend === 'all' || (resend === 'idempotent' && call.idempotent);
}

/** What a failure says of the request's token; undefined if another token can't help. */
export function doubtIn(failure: Failure): TokenDoubt | undefined {
	return consequenceOf(failure).token;
}

/**
 * A wait in milliseconds, which doubles with each earlier one.
 *
 * @param jitter the part of the wait, from 0 to 1, that chance may take off, so that what failed together comes back apart
 */
export function backoffMs(
	earlier: number,
	{ firstMs, maxMs, jitter }: Record<'firstMs' | 'maxMs' | 'jitter', number>,
): number {
	return Math.min(firstMs * 2 ** earlier, maxMs) * (1 - jitter * Math.random());
}

/**
 * With less at first, the retries of a crowd would keep a restarting service down; with more at the end, a Retry-After of an
 * hour would hold an execution for as long.
 */
const RETRIES = { firstMs: 300, maxMs: 30_000, jitter: 0.5 };

/** Milliseconds to wait before a request is resent: what the service asks for, else longer with each earlier retry. */
export function retryDelay(failure: Failure, earlier: number): number {
	const asked = failure.kind === 'status' ? failure.retryAfterMs : undefined;
	const waitMs = asked ?? backoffMs(earlier, RETRIES);
	return Math.round(Math.min(waitMs, RETRIES.maxMs));
}
