/** What the outcome of a request says about the service. */
export type Condition =
	/** The service responded: as expected, with another success, with a redirect (307, 308) or with a refusal. */
	| 'answered'
	/** The service asks the client to send the request later. */
	| 'throttled'
	/** The service responded that it failed. */
	| 'failed'
	/** A proxy responded that it got no response from the service. */
	| 'unavailable'
	/** The service responded, but the response doesn't show what the service did. */
	| 'unclear'
	/** No connection was made, or a proxy responded in place of a service that is away. */
	| 'unreachable'
	/** The connection broke before the response was complete. */
	| 'broken'
	/** The connection broke while the node logged in. */
	| 'loginFailed'
	/** No response arrived in time. */
	| 'timedOut'
	/** n8n failed before it sent the request. */
	| 'n8nFailed'
	/** Nothing is known about the service, because the request was not sent, or was cancelled. */
	| 'unknown';

/** The conclusions that follow from the outcome of a request. */
export interface Consequence {
	condition: Condition;
	/**
	 * Whether the service may have acted on the request without saying so. It is false only if the service certainly
	 * hasn't.
	 */
	mayHaveActed: boolean;
	/**
	 * `rejected` if the response says that the service doesn't accept the token; `suspect` if the request may have failed
	 * because the service doesn't accept it.
	 */
	token?: 'rejected' | 'suspect' | undefined;
	/** The source of a response which says that nothing exists at the address; undefined if no response says so. */
	notFoundBy?: 'service' | 'service or proxy' | undefined;
	/** The wait that the service asks for, in milliseconds; undefined if it asks for none. */
	retryAfterMs?: number | undefined;
	/** Set if the failure concerns the credential or the connection, so that it would affect every item. */
	isAboutAllItems?: true;
}

/**
 * The outcome of a request to which the service responded. It has certainly not acted on the request without saying so.
 */
export const ANSWERED: Consequence = { condition: 'answered', mayHaveActed: false };
/** The outcome of a request that says nothing about the service, and on which the service has certainly not acted. */
export const UNKNOWN: Consequence = { condition: 'unknown', mayHaveActed: false };

/** The facts about an unexpected response that the retry policy needs. */
export interface FailedResponse {
	status: number;
	retryAfterMs?: number | undefined;
	bodyType?: 'page' | 'text' | 'json';
	/** Whether the body may be a web page or a part of one, judging by its text or its content type. */
	mayBePage?: boolean;
	/** Whether the body says that the request was refused, although the status code says that it succeeded. */
	saysRefused?: boolean;
}

/**
 * The cause of a failure. A health check finds it, unless it follows from what is already known about the token.
 * - `token`: The service doesn't accept the token.
 * - `outage`: The service is away.
 * - `maybe outage`: The service may be away.
 * - `call`: The call itself is the cause.
 */
export type Cause = 'token' | 'outage' | 'maybe outage' | 'call';

/** The history of a call before its last attempt. */
export interface CallCounts {
	/** The number of attempts, including health checks that were sent before the call, and including the last attempt. */
	attempts: number;
	/** The number of times that the call was sent again after a failure of `RETRY.afterBackoff`. */
	retries: number;
	/**
	 * The number of times that the service didn't accept the call, because it was throttled or didn't reach the service.
	 */
	waits: number;
	/** The number of times that the token was rejected although a health check accepted it. */
	tokenRejections: number;
	/** The number of times that nothing was found at the call's address. */
	notFounds: number;
	/** How long the call has waited because the service didn't accept it, in milliseconds. */
	waitedMs: number;
}

/** The facts about a call whose last attempt has failed. */
export interface CallState extends CallCounts {
	isIdempotent: boolean;
	/** Whether the last attempt was a health check that was sent before the call. */
	isHealthCheck: boolean;
	maxRetries: number;
	/** How long the call may wait while the service accepts no calls, in milliseconds. */
	patienceMs: number;
	/** How long the run of the call may still send requests, in milliseconds; Infinity if the run has no time limit. */
	remainingMs: number;
	/** Whether the service has ever responded to this account as expected. */
	wasAnswered: boolean;
	/** The cause of the last attempt's failure; undefined before it has been looked for. */
	cause?: Cause | undefined;
	/** The milliseconds since the token's login; Infinity if the token isn't from the last login of this process. */
	tokenAgeMs: number;
	/** Whether the service has answered other requests since it last throttled this call. */
	othersAreAnswered: boolean;
	/** A random number from 0 to 1. */
	random: number;
}

/**
 * What to do after an attempt. A call is sent again with the account's newest token. If `afterMs` is 0, it is sent as
 * soon as the rate limiter permits it.
 */
export type Decision = { do: 'fail' | 'check health' } | { do: 'send again'; afterMs: number };

/** The conditions in which the request didn't reach the service. */
export const NOT_REACHED: Condition[] = ['unreachable', 'loginFailed'];
/** The conditions in which the service itself gave no response, so it isn't known whether it is still running. */
export const NO_ANSWER: Condition[] = [...NOT_REACHED, 'broken', 'timedOut', 'unavailable'];
/** The conditions that say nothing about the service. */
export const NOTHING_KNOWN: Condition[] = ['unknown', 'n8nFailed'];
