import type { Failure, FailureOf } from './failure';

/** What the end of a request says about the service, for the limiter. `failed`: answered, but unclearly; `unknown`: nothing. */
export type Condition =
	| 'answered'
	| 'failed'
	| 'throttled'
	| 'unavailable'
	| 'unreachable'
	| 'broken'
	| 'loginFailed'
	| 'timedOut'
	| 'unknown';

/** What an answer says of the request's token: the service doesn't accept it, or may not accept it any more. */
export type TokenDoubt = 'rejected' | 'doubtful';

/** What follows from the end of a request. */
export interface Consequence {
	condition: Condition;
	/** Which requests may be sent again: all, those that do the same if sent twice, or none. */
	resend: 'all' | 'idempotent' | 'none';
	/** Whether the service may have acted on it without having said so. False only if it certainly has not. */
	mayHaveActed: boolean;
	/** Set if the service asks for a wait. */
	retryAfterMs?: number | undefined;
}

export const ANSWERED: Consequence = { condition: 'answered', resend: 'none', mayHaveActed: false };
export const UNKNOWN: Consequence = { ...ANSWERED, condition: 'unknown' };
/** A success's status, whatever else the answer says: the service works. */
const ODD_SUCCESS: Consequence = { ...ANSWERED, mayHaveActed: true };
const UNCLEAR: Consequence = { ...ODD_SUCCESS, condition: 'failed' };
const FAILED: Consequence = { ...UNCLEAR, resend: 'idempotent' };
const UNAVAILABLE: Consequence = { ...FAILED, condition: 'unavailable' };
const THROTTLED: Consequence = { ...ANSWERED, condition: 'throttled', resend: 'all' };

/** What isn't known for certain may have acted. */
const BY_KIND: Record<Failure['kind'], Consequence> = {
	baseUrl: UNKNOWN,
	unreachable: { ...THROTTLED, condition: 'unreachable' },
	blocked: UNKNOWN,
	tls: UNKNOWN,
	certificate: UNKNOWN,
	timeout: { ...FAILED, condition: 'timedOut' },
	broken: { ...FAILED, condition: 'broken' },
	cancelled: { ...UNCLEAR, condition: 'unknown' },
	n8nFailed: { ...UNKNOWN, resend: 'all' },
	redirect: UNCLEAR,
	status: UNCLEAR,
	unexpectedResponse: ODD_SUCCESS,
	endlessList: ANSWERED,
	cutList: ANSWERED,
	foreignAddress: UNKNOWN,
};

const BY_STATUS: Partial<Record<number, Consequence>> = {
	// The client is to send the same request elsewhere (RFC 9110): nothing was done.
	307: ANSWERED,
	308: ANSWERED,
	408: FAILED,
	// An expired session or token, in Laravel, IIS and ArcGIS.
	419: ANSWERED,
	440: ANSWERED,
	498: ANSWERED,
	501: UNCLEAR,
	502: UNAVAILABLE,
	503: UNAVAILABLE,
	504: UNAVAILABLE,
	505: UNCLEAR,
};

/** Statuses that say that the token isn't accepted. */
const REJECTIONS = new Set([401, 419, 440, 498]);

/** Statuses that are about what was requested: no service tells an expired token so. */
const ABOUT_REQUEST = new Set([404, 405, 409, 410, 422]);

/** The last status that HTTP assigns to a refusal. Servers have others of their own: 499 may be a call cut off midway. */
const LAST_REFUSAL = 451;

/** From here on, a proxy (Cloudflare, say) got no answer from the service. */
const FIRST_OF_PROXIES = 520;

/** What follows from a failure. If its login failed, the request itself was not acted on. */
export function consequenceOf(failure: Failure): Consequence {
	const own = ownConsequenceOf(failure);
	if (failure.ofLogin !== true) return own;
	const isLater = failure.kind === 'status' && failure.retryAfterMs !== undefined;
	if (isLater && failure.status !== 401)
		return { ...THROTTLED, retryAfterMs: failure.retryAfterMs };
	// One that was answered is not repeated, since it may lock the account. To wait for one without an answer is enough.
	if (own.resend === 'none' || ['failed', 'timedOut'].includes(own.condition)) return UNKNOWN;
	const condition = own.condition === 'broken' ? 'loginFailed' : own.condition;
	return { ...own, condition, resend: 'all', mayHaveActed: false };
}

function ownConsequenceOf(failure: Failure): Consequence {
	if (failure.kind === 'cancelled' && !failure.sent) return UNKNOWN;
	if (failure.kind === 'redirect') return BY_STATUS[failure.status] ?? UNCLEAR;
	return failure.kind === 'status' ? consequenceOfStatus(failure) : BY_KIND[failure.kind];
}

function consequenceOfStatus({ status, retryAfterMs }: FailureOf<'status'>): Consequence {
	if (status === 429 || (status === 503 && retryAfterMs !== undefined)) {
		return { ...THROTTLED, retryAfterMs };
	}
	const known = BY_STATUS[status];
	if (known !== undefined) return known;
	if (status >= 400 && status <= LAST_REFUSAL) return ANSWERED;
	if (status >= 200 && status < 300) return ODD_SUCCESS;
	if (status < 500 || status > 599) return UNCLEAR;
	return status < FIRST_OF_PROXIES ? FAILED : UNAVAILABLE;
}

/** Whether a request that failed so may be resent. @param call `idempotent` if sending it twice does the same as once */
export function mayRetry(failure: Failure, call: { readonly idempotent: boolean }): boolean {
	const { resend } = consequenceOf(failure);
	return resend === 'all' || (resend === 'idempotent' && call.idempotent);
}

/**
 * What an answer says of the token: that of a request, or of the question whether a token is accepted. Undefined if it was
 * the expected one, if it is about the request itself or the service's state, or if there is none.
 */
export function doubtIn(failure: Failure): TokenDoubt | undefined {
	if (failure.ofLogin === true || !('status' in failure)) return undefined;
	if (REJECTIONS.has(failure.status)) return 'rejected';
	const { condition } = consequenceOf(failure);
	const isOfState = condition === 'throttled' || condition === 'unavailable';
	return isOfState || ABOUT_REQUEST.has(failure.status) ? undefined : 'doubtful';
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
