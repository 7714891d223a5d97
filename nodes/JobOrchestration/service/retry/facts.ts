/** What the end of a request says about the service. */
export type Condition =
	/** It answered: with the expected answer, or with a refusal. */
	| 'answered'
	/** It asks to wait. */
	| 'throttled'
	/** It answered that it failed. */
	| 'failed'
	/** Its proxy answered that the service gives no answer. */
	| 'unavailable'
	/** It answered, and nobody can tell from the answer what it did. */
	| 'unclear'
	/** No connection was made. */
	| 'unreachable'
	/** The connection broke before the answer was complete. */
	| 'broken'
	/** The connection broke while the node logged in. */
	| 'loginFailed'
	/** No answer came in time. */
	| 'timedOut'
	/** n8n failed before it sent the request. */
	| 'n8nFailed'
	/** Nothing: the request was not sent, or it was cancelled. */
	| 'unknown';

/** Whether an answer rejects the token of its request, or may have come because the service no longer accepts it. */
export type TokenSuspicion = 'rejected' | 'suspect';

/** What follows from the end of a request. */
export interface Consequence {
	condition: Condition;
	/** Whether the service may have acted on it without having said so. False only if it certainly has not. */
	mayHaveActed: boolean;
	/** Set if another token might help. */
	token?: TokenSuspicion | undefined;
	/** Set if nothing was found at the address. `mayBeAway` if what stands before the service may have said so. */
	notFound?: 'not there' | 'mayBeAway' | undefined;
	/** Set if the service asks for a wait. */
	retryAfterMs?: number | undefined;
	/** Set if it is about the credential or the connection, so that it would meet every item. */
	isAboutAllItems?: true;
}

/** The service answered, and has certainly not acted without having said so. */
export const ANSWERED: Consequence = { condition: 'answered', mayHaveActed: false };
/** Nothing is known of the service, and nothing was sent. */
export const UNKNOWN: Consequence = { condition: 'unknown', mayHaveActed: false };
/** Nothing was done, and it is to be asked for later. */
export const THROTTLED: Consequence = { condition: 'throttled', mayHaveActed: false };
/** The service failed, perhaps after it had acted. It may succeed the next time. */
export const FAILED: Consequence = { condition: 'failed', mayHaveActed: true };
/** The same, as told by a proxy whose service gives no answer. */
export const UNAVAILABLE: Consequence = { condition: 'unavailable', mayHaveActed: true };
/** The service may have acted. The same answer would come the next time. */
export const UNCLEAR: Consequence = { condition: 'unclear', mayHaveActed: true };

/** An answer that isn't the expected one, as far as the retry policy looks at it. */
export interface Refusal {
	status: number;
	retryAfterMs?: number | undefined;
	form?: 'page' | 'text' | 'json';
	/** Whether it came as HTML, by its text or its content type. */
	isPage?: boolean;
}

/**
 * What a health check has found out about a failure: the service doesn't accept the token; the service is away, or perhaps
 * it is; or the failure is the call's own.
 */
export type Cause = 'token' | 'outage' | 'perhaps an outage' | 'call';

/** What is known of a call that has failed. Counts are of what happened before this failure. */
export interface Attempts {
	/** How often it was sent, or a health check in its place, this time included. */
	sent: number;
	/** How often it failed without being throttled, and was sent again after a backoff. */
	failed: number;
	throttled: number;
	/** How often a token was rejected that a health check accepted. */
	rejected: number;
	/** How often nothing was found at its address. */
	notFound: number;
	isIdempotent: boolean;
	/** Whether it is about a job that this execution has just created. */
	isOfNewJob: boolean;
	/** Whether a health check was sent in place of the call, and this is its failure. */
	isHealthCheck?: boolean;
	maxRetries: number;
	/** How long it may wait for a service that accepts no call. */
	patienceMs: number;
	/** Whether the service has answered this account as expected before. */
	wasAnswered: boolean;
	cause?: Cause | undefined;
	/** Since its login; Infinity if this process has not logged in for it. */
	tokenAgeMs: number;
	/** Whether the service has answered others since it throttled this call before. */
	isAlone: boolean;
	/** How long the call has waited by itself after it was throttled. */
	waitedMs: number;
	/** From 0 to 1. */
	random: number;
}

/** A call is sent again with the account's newest token; after 0 ms, as soon as the rate limiter permits it. */
export type Decision = { do: 'fail' | 'check health' } | { do: 'send again'; afterMs: number };
