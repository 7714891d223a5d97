import type { Failure, FailureOf } from './failure';
import { rootCauseOf } from './failure';
import type { JsonObject } from '../../json';

/** Statuses after which an idempotent request is sent again. */
const TRANSIENT = [408, 429, 500, 502, 503, 504];

/** The first delay in milliseconds, doubled each time, and the longest. */
const FIRST_DELAY = 300;
const MAX_DELAY = 30_000;

/** What a failure means for sending the request again. */
interface RetryRule {
	/** Which requests may be sent again: those that do the same if sent twice, all of them, or none. */
	resend: 'idempotent' | 'all' | 'none';
	/** Whether the service may have acted on the request. */
	mayHaveActed: boolean;
}

/** The service certainly did nothing, and would do nothing the next time. */
const REFUSED: RetryRule = { resend: 'none', mayHaveActed: false };
/** The service certainly did nothing, and may do it the next time. */
const NOT_TAKEN: RetryRule = { resend: 'all', mayHaveActed: false };
/** The service may have acted, and may give a clear answer the next time. */
const UNCERTAIN: RetryRule = { resend: 'idempotent', mayHaveActed: true };
/** The service may have acted, and would answer the same the next time. */
const UNCLEAR: RetryRule = { resend: 'none', mayHaveActed: true };

/** The redirects after which the client is to send the same request elsewhere (RFC 9110): nothing was done. */
const NOTHING_DONE = [307, 308];

/** The last status that HTTP assigns to a refusal. Servers have others of their own: 499 may be a call cut off midway. */
const LAST_REFUSAL = 451;

/**
 * The one table from a failure to what follows from it. Whatever it doesn't know may have acted: a job that may exist
 * is never created a second time.
 */
function retryRuleOf(failure: Failure): RetryRule {
	switch (failure.kind) {
		case 'baseUrl':
		case 'blocked':
		case 'tls':
		case 'certificate':
		case 'endlessList':
		case 'foreignAddress':
		case 'n8nTimeout':
		case 'proxy':
			return REFUSED;
		case 'unreachable':
		case 'n8nFailed':
			return NOT_TAKEN;
		case 'timeout':
		case 'broken':
			return UNCERTAIN;
		case 'cancelled':
			return failure.sent ? UNCLEAR : REFUSED;
		case 'redirect':
			return NOTHING_DONE.includes(failure.status) ? REFUSED : UNCLEAR;
		case 'status':
			if (isThrottled(failure)) return NOT_TAKEN;
			if (TRANSIENT.includes(failure.status)) return UNCERTAIN;
			return failure.status >= 400 && failure.status <= LAST_REFUSAL ? REFUSED : UNCLEAR;
		case 'login':
			// Whatever came of the login, the request itself was not acted on. One login without an answer is enough to
			// wait for.
			return failure.cause.kind !== 'timeout' && retryRuleOf(failure.cause).resend !== 'none'
				? NOT_TAKEN
				: REFUSED;
		default:
			return UNCLEAR;
	}
}

/**
 * Whether a request that failed so may be sent again.
 *
 * @param call `idempotent` where sending it twice does the same as sending it once
 */
export function mayRetry(failure: Failure, call: { readonly idempotent: boolean }): boolean {
	const { resend } = retryRuleOf(failure);
	return resend === 'all' || (resend === 'idempotent' && call.idempotent);
}

/** Whether a failure is a log-in that would fail again, as with a wrong password, or has taken all of its time. */
export function isRefusedLogin(failure: Failure): failure is FailureOf<'login'> {
	return failure.kind === 'login' && !mayRetry(failure, { idempotent: true });
}

/** Whether the service may have acted on a request that failed so. False only if it certainly has not. */
export function mayHaveActed(failure: Failure): boolean {
	return retryRuleOf(failure).mayHaveActed;
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
 * The wait that a Retry-After header asks for, in milliseconds; undefined if there is none that can be read. It holds
 * seconds, which some services send as a fraction, or a date (RFC 9110). A date is read against the `date` header of
 * the same answer, since the service's clock may differ from this one.
 */
export function parseRetryAfter(headers: JsonObject, now = Date.now()): number | undefined {
	const retryAfter = headers['retry-after'];
	if (typeof retryAfter !== 'string') return undefined;
	if (/^\s*\d+(?:\.\d+)?\s*$/.test(retryAfter)) return Number(retryAfter) * 1000;
	const until = dateIn(retryAfter);
	return until === undefined ? undefined : Math.max(0, until - (dateIn(headers.date) ?? now));
}

/** A date as headers have it, in milliseconds; undefined if it is none. */
function dateIn(header: unknown): number | undefined {
	const date = typeof header === 'string' && DATE.test(header) ? Date.parse(header) : Number.NaN;
	return Number.isNaN(date) ? undefined : date;
}
