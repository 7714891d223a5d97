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

/** What follows from the end of a request. */
export interface Consequence {
	condition: Condition;
	/** Whether the service may have acted on it without having said so. False only if it certainly has not. */
	mayHaveActed: boolean;
	/** `rejected` if the answer says that the service doesn't accept the token; `suspect` if that may be why it failed. */
	token?: 'rejected' | 'suspect' | undefined;
	/** Set if nothing was found at the address: who says so. */
	notFoundBy?: 'service' | 'service or proxy' | undefined;
	/** Set if the service asks for a wait. */
	retryAfterMs?: number | undefined;
	/** Set if it is about the credential or the connection, so that it would meet every item. */
	isAboutAllItems?: true;
}

/** The service answered, and has certainly not acted without having said so. */
export const ANSWERED: Consequence = { condition: 'answered', mayHaveActed: false };
/** Nothing is known of the service, and nothing was sent. */
export const UNKNOWN: Consequence = { condition: 'unknown', mayHaveActed: false };

/** An answer that isn't the expected one, as far as the retry policy looks at it. */
export interface Refusal {
	status: number;
	retryAfterMs?: number | undefined;
	form?: 'page' | 'text' | 'json';
	/** Whether it may be a web page, or a part of one, by its text or its content type. */
	mayBePage?: boolean;
	/** Whether its body says that the request was refused, though its status is a success's. */
	saysRefused?: boolean;
}

/**
 * What a health check has found to be the cause of a failure: the service doesn't accept the token; the service is away, or
 * maybe away; or the call itself.
 */
export type Cause = 'token' | 'outage' | 'maybe outage' | 'call';

/** What has happened to a call before its last attempt. */
export interface CallCounts {
	/** How often it was sent, or a health check before it; the last attempt is included. */
	attempts: number;
	/** How often it was sent again after a backoff. */
	retries: number;
	/** How often the service has not accepted it: it was throttled, or no connection was made. */
	waits: number;
	/** How often its token was rejected though a health check accepted it. */
	tokenRejections: number;
	/** How often nothing was found at its address. */
	notFounds: number;
	/** How long it has waited because the service didn't accept it. */
	waitedMs: number;
}

/** What is known of a call whose last attempt has failed. */
export interface CallState extends CallCounts {
	isIdempotent: boolean;
	/** Whether it is about a job that this execution has just created. */
	isOfNewJob: boolean;
	/** Whether the last attempt was a health check that was sent before the call. */
	isHealthCheck: boolean;
	maxRetries: number;
	/** How long it may wait while the service accepts no calls. */
	patienceMs: number;
	/** How long its run may still send requests; Infinity if that has no limit. */
	remainingMs: number;
	/** Whether the service has answered this account as expected before. */
	wasAnswered: boolean;
	/** Why the last attempt failed, once a health check has found out. */
	cause?: Cause | undefined;
	/** Since the login; Infinity if this process has not logged in for this token. */
	tokenAgeMs: number;
	/** Whether the service has answered others since it throttled this call before. */
	isAlone: boolean;
	/** A random number from 0 to 1. */
	random: number;
}

/** A call is sent again with the account's newest token; after 0 ms, as soon as the rate limiter permits it. */
export type Decision = { do: 'fail' | 'check health' } | { do: 'send again'; afterMs: number };

/** No connection was made. */
export const NOT_REACHED: Condition[] = ['unreachable', 'loginFailed'];
/** The service itself gave no answer, so that nobody can tell whether it still runs. */
export const NO_ANSWER: Condition[] = [...NOT_REACHED, 'broken', 'timedOut', 'unavailable'];
/** Nothing is known of the service. */
export const NOTHING_KNOWN: Condition[] = ['unknown', 'n8nFailed'];
