import type { Failure } from './failure';

/**
 * Whether sending a request twice is the same as sending it once. Reads and state changes are `idempotent`;
 * a create is not: a second one makes a second job.
 */
export type Repeatable = 'idempotent' | 'onceOnly';

/** Statuses after which an idempotent request is sent again. */
const TRANSIENT = [408, 429, 500, 502, 503, 504];

/** The first wait, doubled each time. Milliseconds, as all below. */
const FIRST_WAIT = 300;
const LONGEST_WAIT = 30_000;

/** Whether a request that failed so may be sent again. */
export function mayRetry(failure: Failure, repeatable: Repeatable): boolean {
	switch (failure.kind) {
		case 'unreachable':
			return true;
		case 'timeout':
		case 'broken':
			return repeatable === 'idempotent';
		case 'status':
			return repeatable === 'idempotent'
				? TRANSIENT.includes(failure.status)
				: wasTurnedAway(failure);
		case 'login':
			// Whatever came of the log-in, the request itself was not acted on.
			return mayRetry(failure.because, 'idempotent');
		default:
			return false;
	}
}

/**
 * Whether the service may have acted on a request that failed so. Only what is known not to have been acted
 * on is a no.
 */
export function mayHaveActed(failure: Failure): boolean {
	switch (failure.kind) {
		case 'timeout':
		case 'broken':
		case 'cancelled':
		case 'unexpectedAnswer':
			return true;
		case 'redirect':
			// "See other" is what a service says that has acted and shows the result elsewhere.
			return failure.status === 303;
		case 'status':
			return failure.status === 408 || (failure.status >= 500 && !wasTurnedAway(failure));
		default:
			return false;
	}
}

/** 429, and 503 with a time to come back: the service says that it did not take the request. */
function wasTurnedAway({ status, retryAfter }: Extract<Failure, { kind: 'status' }>): boolean {
	return status === 429 || (status === 503 && retryAfter !== undefined);
}

/**
 * How long to wait before a request is sent again, in milliseconds: as long as the service asks for, else
 * longer each time, spread so that many do not come back at once; never longer than half a minute. A whole
 * number, as timers want it.
 *
 * @param failures how often it has failed so far, from 1
 * @param random a number from 0 to 1
 */
export function waitBeforeRetry(
	failure: Failure,
	failures: number,
	random = Math.random(),
): number {
	const cause = failure.kind === 'login' ? failure.because : failure;
	const asked = cause.kind === 'status' ? cause.retryAfter : undefined;
	const grown = FIRST_WAIT * 2 ** (failures - 1) * (0.5 + random / 2);
	return Math.round(Math.min(asked ?? grown, LONGEST_WAIT));
}

/**
 * A Retry-After header, which holds seconds or a date (RFC 9110), in milliseconds from now; undefined where
 * there is none that can be read.
 */
export function readRetryAfter(header: unknown, now = Date.now()): number | undefined {
	if (typeof header !== 'string') return undefined;
	if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1000;
	const date = /[a-z]/i.test(header) ? Date.parse(header) : Number.NaN;
	return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
