import type { Failure } from './failure';
import { rootCauseOf } from './failure';
import type { Condition, Consequence } from './rules';
import { RULES } from './rules';
import type { JsonObject } from '../../json';

/** The first wait, doubled each time. With less, the retries of a crowd would keep a restarting service down. */
const FIRST_DELAY_MS = 300;
/** The longest wait. With more, a Retry-After of an hour would hold an execution for as long. */
const MAX_DELAY_MS = 30_000;

/** The last status that HTTP assigns to a refusal. Servers have others of their own: 499 may be a call cut off midway. */
const LAST_REFUSAL = 451;

/** The key of the rule for a failure; if a login failed, of that for its cause. */
export function ruleKeyOf(failure: Failure): keyof typeof RULES {
	const cause = rootCauseOf(failure);
	if (cause.kind === 'cancelled') return cause.sent ? 'cancelled' : 'cancelledUnsent';
	const key = 'status' in cause ? `${cause.kind} ${cause.status}` : cause.kind;
	if (key === 'status 503' && retryAfterOf(cause) !== undefined) {
		return 'status 503 with Retry-After';
	}
	if (isKey(key)) return key;
	if (cause.kind !== 'status') return cause.kind;
	if (cause.status >= 400 && cause.status <= LAST_REFUSAL) return 'refusal';
	return cause.status < 500 ? 'oddStatus' : 'serverError';
}

const isKey = (text: string): text is keyof typeof RULES => Object.hasOwn(RULES, text);

/** What follows from a failure. If its login failed, the request itself was not acted on. */
function consequenceOf(failure: Failure): Consequence {
	const [rule] = RULES[ruleKeyOf(failure)];
	if (failure.kind !== 'login') return rule;
	// To wait for one login without an answer is enough.
	const isFinal = rule.resend === 'none' || failure.cause.kind === 'timeout';
	if (isFinal) return { resend: 'none', mayHaveActed: false, condition: 'unknown' };
	const isOfLogin = rule.condition === 'answered' || rule.condition === 'broken';
	const condition = isOfLogin ? 'loginFailed' : rule.condition;
	return { resend: 'all', mayHaveActed: false, condition };
}

/** Whether a request that failed so may be resent. @param call `idempotent` if sending it twice does the same as once */
export function mayRetry(failure: Failure, call: { readonly idempotent: boolean }): boolean {
	const { resend } = consequenceOf(failure);
	return resend === 'all' || (resend === 'idempotent' && call.idempotent);
}

/** Whether the service may have acted on a request that failed so. False only if it certainly has not. */
export function mayHaveActed(failure: Failure): boolean {
	return consequenceOf(failure).mayHaveActed;
}

/** What a failure says about the service. `retryAfter` is in milliseconds. */
export function conditionOf(failure: Failure): {
	kind: Condition;
	retryAfter?: number | undefined;
} {
	const { condition: kind } = consequenceOf(failure);
	return kind === 'throttled' ? { kind, retryAfter: retryAfterOf(failure) } : { kind };
}

function retryAfterOf(failure: Failure): number | undefined {
	const cause = rootCauseOf(failure);
	return cause.kind === 'status' ? cause.retryAfter : undefined;
}

/**
 * Milliseconds to wait before a request is resent: what the service asks for, else longer each time, with jitter.
 *
 * @param failures how often it has failed so far, from 1
 * @param random a number from 0 to 1
 */
export function retryDelay(failure: Failure, failures: number, random = Math.random()): number {
	const grown = FIRST_DELAY_MS * 2 ** (failures - 1) * (0.5 + random / 2);
	return Math.round(Math.min(retryAfterOf(failure) ?? grown, MAX_DELAY_MS));
}

/** Every date that a header can have names the time of day; Date.parse would read one in many other texts. */
const DATE = /[a-z].*\d\d:\d\d:\d\d|\d\d:\d\d:\d\d.*[a-z]/i;

/**
 * The wait that a Retry-After header asks for, in milliseconds; undefined if it can't be read. A date is read against the
 * answer's own `date`, since the service's clock may differ.
 */
export function parseRetryAfter(headers: JsonObject, now = Date.now()): number | undefined {
	const retryAfter = headers['retry-after'];
	if (typeof retryAfter !== 'string') return undefined;
	if (/^\s*\d+(?:\.\d+)?\s*$/.test(retryAfter)) return Number(retryAfter) * 1000;
	const until = dateIn(retryAfter);
	return until === undefined ? undefined : Math.max(0, until - (dateIn(headers.date) ?? now));
}

/** A header's date in milliseconds; undefined if it can't be read. */
function dateIn(header: unknown): number | undefined {
	const date = typeof header === 'string' && DATE.test(header) ? Date.parse(header) : Number.NaN;
	return Number.isNaN(date) ? undefined : date;
}
