import type { Failure, FailureOf } from './failure';

/** What a failure says about the service, for the limiter. `unknown`: nothing. */
export type Condition =
	| 'answered'
	| 'throttled'
	| 'unavailable'
	| 'unreachable'
	| 'broken'
	| 'loginFailed'
	| 'timedOut'
	| 'unknown';

/** What an answer says of the request's token: the service doesn't accept it, or may not accept it any more. */
export type TokenDoubt = 'rejected' | 'doubtful';

/** What follows from a failure. */
interface Consequence {
	/** Which requests may be sent again: all, those that do the same if sent twice, or none. */
	resend: 'all' | 'idempotent' | 'none';
	/** Whether the service may have acted on the request. False only if it certainly has not. */
	mayHaveActed: boolean;
	condition: Condition;
	/** Set if it may be for its token that the service has not acted on the request. */
	token?: TokenDoubt;
}

const UNSENT: Consequence = { resend: 'none', mayHaveActed: false, condition: 'unknown' };
const REFUSED: Consequence = { ...UNSENT, condition: 'answered' };
const REJECTED: Consequence = { ...REFUSED, token: 'rejected' };
const UNCLEAR: Consequence = { resend: 'none', mayHaveActed: true, condition: 'answered' };
const FAILED: Consequence = { ...UNCLEAR, resend: 'idempotent' };
const UNAVAILABLE: Consequence = { ...FAILED, condition: 'unavailable' };
const THROTTLED: Consequence = { resend: 'all', mayHaveActed: false, condition: 'throttled' };

/** What isn't known for certain may have acted. */
const BY_KIND: Record<Failure['kind'], Consequence> = {
	baseUrl: UNSENT,
	unreachable: { ...THROTTLED, condition: 'unreachable' },
	blocked: UNSENT,
	tls: UNSENT,
	certificate: UNSENT,
	timeout: { ...FAILED, condition: 'timedOut' },
	broken: { ...FAILED, condition: 'broken' },
	cancelled: { ...UNCLEAR, condition: 'unknown' },
	n8nFailed: { ...UNSENT, resend: 'all' },
	redirect: UNCLEAR,
	status: UNCLEAR,
	unexpectedResponse: UNCLEAR,
	endlessList: REFUSED,
	foreignAddress: UNSENT,
};

const BY_STATUS: Partial<Record<number, Consequence>> = {
	// The client is to send the same request elsewhere (RFC 9110): nothing was done.
	307: REFUSED,
	308: REFUSED,
	401: REJECTED,
	403: { ...REFUSED, token: 'doubtful' },
	408: FAILED,
	// An expired session or token, in Laravel, IIS and ArcGIS.
	419: REJECTED,
	440: REJECTED,
	498: REJECTED,
	429: THROTTLED,
	501: UNCLEAR,
	502: UNAVAILABLE,
	503: UNAVAILABLE,
	504: UNAVAILABLE,
	505: UNCLEAR,
};

/** The last status that HTTP assigns to a refusal. Servers have others of their own: 499 may be a call cut off midway. */
const LAST_REFUSAL = 451;

/** From here on, a proxy (Cloudflare, say) got no answer from the service. */
const FIRST_OF_PROXIES = 520;

function ownConsequenceOf(failure: Failure): Consequence {
	if (failure.kind === 'cancelled' && !failure.sent) return UNSENT;
	if (failure.kind === 'redirect') return BY_STATUS[failure.status] ?? UNCLEAR;
	return failure.kind === 'status' ? consequenceOfStatus(failure) : BY_KIND[failure.kind];
}

function consequenceOfStatus({ status, retryAfter }: FailureOf<'status'>): Consequence {
	if (status === 503 && retryAfter !== undefined) return THROTTLED;
	const known = BY_STATUS[status];
	if (known !== undefined) return known;
	if (status >= 400 && status <= LAST_REFUSAL) return REFUSED;
	if (status < 500 || status > 599) return UNCLEAR;
	return status < FIRST_OF_PROXIES ? FAILED : UNAVAILABLE;
}

/** What follows from a failure. If its login failed, the request itself was not acted on. */
function consequenceOf(failure: Failure): Consequence {
	const { token, ...own } = ownConsequenceOf(failure);
	if (failure.ofLogin !== true) return token === undefined ? own : { ...own, token };
	// To wait for one login without an answer is enough.
	if (own.resend === 'none' || failure.kind === 'timeout') return UNSENT;
	const isOfLogin = own.condition === 'answered' || own.condition === 'broken';
	const condition = isOfLogin ? 'loginFailed' : own.condition;
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

/**
 * What a failure says of the request's token, and whether its status says that it was not acted on for it; undefined if a
 * new token can't help.
 */
export function expiryIn(
	failure: Failure,
): { doubt: TokenDoubt; isNotActedOn: boolean } | undefined {
	const { token } = consequenceOf(failure);
	if (token !== undefined) return { doubt: token, isNotActedOn: true };
	const saysExpired = failure.saysExpired === true && failure.ofLogin !== true;
	return saysExpired ? { doubt: 'doubtful', isNotActedOn: false } : undefined;
}

function retryAfterOf(failure: Failure): number | undefined {
	return failure.kind === 'status' ? failure.retryAfter : undefined;
}

interface Backoff {
	firstMs: number;
	maxMs: number;
	/** The part of the wait, from 0 to 1, that chance may take off, so that what failed together comes back apart. */
	jitter: number;
}

/** A wait in milliseconds, which doubles with each earlier one. */
export function backoffMs(earlier: number, { firstMs, maxMs, jitter }: Backoff): number {
	return Math.min(firstMs * 2 ** earlier, maxMs) * (1 - jitter * Math.random());
}

/**
 * With less at first, the retries of a crowd would keep a restarting service down; with more at the end, a Retry-After of an
 * hour would hold an execution for as long.
 */
const RETRIES = { firstMs: 300, maxMs: 30_000, jitter: 0.5 };

/** Milliseconds to wait before a request is resent: what the service asks for, else longer with each earlier retry. */
export function retryDelay(failure: Failure, earlier: number): number {
	const waitMs = retryAfterOf(failure) ?? backoffMs(earlier, RETRIES);
	return Math.round(Math.min(waitMs, RETRIES.maxMs));
}
