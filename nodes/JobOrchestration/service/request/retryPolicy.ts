import type { Failure, FailureOf } from './failure';
import { rootCauseOf } from './failure';

/** Statuses after which an idempotent request is sent again. */
const TRANSIENT = [408, 429, 500, 502, 503, 504];

/** The first delay in milliseconds, doubled each time, and the longest. */
export const FIRST_DELAY = 300;
const MAX_DELAY = 30_000;

/**
 * Whether a request that failed so may be sent again.
 *
 * @param call `idempotent` where sending it twice does the same as sending it once
 */
export function mayRetry(failure: Failure, call: { readonly idempotent: boolean }): boolean {
	switch (failure.kind) {
		case 'unreachable':
		case 'n8nFailed':
			return true;
		case 'timeout':
		case 'broken':
			return call.idempotent;
		case 'status':
			return call.idempotent ? TRANSIENT.includes(failure.status) : isThrottled(failure);
		case 'login':
			// Whatever came of the log-in, the request itself was not acted on. One log-in without an answer is enough
			// to wait for.
			return failure.cause.kind !== 'timeout' && mayRetry(failure.cause, { idempotent: true });
		default:
			return false;
	}
}

/** Whether a failure is a log-in that would fail again, as with a wrong password, or has taken all of its time. */
export function isRefusedLogin(failure: Failure): failure is FailureOf<'login'> {
	return failure.kind === 'login' && !mayRetry(failure, { idempotent: true });
}

/**
 * Whether the service may have acted on a request that failed so. It is false only if the service certainly has
 * not.
 */
export function mayHaveActed(failure: Failure): boolean {
	switch (failure.kind) {
		case 'timeout':
		case 'broken':
		case 'unexpectedResponse':
			return true;
		case 'redirect':
			// "See Other" comes from a service that has acted and shows the result elsewhere.
			return failure.status === 303;
		case 'status':
			return failure.status === 408 || (failure.status >= 500 && !isThrottled(failure));
		default:
			return false;
	}
}

/** 429, and 503 with a time to come back: the service says that it did not take the request. */
export function isThrottled({ status, retryAfter }: FailureOf<'status'>): boolean {
	return status === 429 || (status === 503 && retryAfter !== undefined);
}

/**
 * Milliseconds to wait before a request is sent again: as long as the service asks for, else longer each time, with
 * jitter so that many requests don't come back at once; never longer than half a minute. A whole number, as timers
 * want it.
 *
 * @param failures how often it has failed so far, from 1
 * @param random a number from 0 to 1
 */
export function retryDelay(failure: Failure, failures: number, random = Math.random()): number {
	const cause = rootCauseOf(failure);
	const asked = cause.kind === 'status' ? cause.retryAfter : undefined;
	const grown = FIRST_DELAY * 2 ** (failures - 1) * (0.5 + random / 2);
	return Math.round(Math.min(asked ?? grown, MAX_DELAY));
}

/** Every date that a header can have names the time of day; Date.parse would read one in many other texts. */
const DATE = /[a-z].*\d\d:\d\d:\d\d|\d\d:\d\d:\d\d.*[a-z]/i;

/**
 * A Retry-After header, which holds seconds or a date (RFC 9110), in milliseconds from now; undefined where
 * there is none that can be read. Some services send fractions of a second.
 */
export function parseRetryAfter(header: unknown, now = Date.now()): number | undefined {
	if (typeof header !== 'string') return undefined;
	if (/^\s*\d+(?:\.\d+)?\s*$/.test(header)) return Number(header) * 1000;
	const date = DATE.test(header) ? Date.parse(header) : Number.NaN;
	return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
