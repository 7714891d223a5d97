/** What the outcome of a request says about the service. */
export type Condition =
	/** The service responded: as expected, with another success, with a redirect (304, 307, 308) or with a refusal. */
	| 'answered'
	/** The service asks the client to send the request later. */
	| 'throttled'
	/** The service responded that it failed. */
	| 'failed'
	/** A proxy responded that it got no response from the service. */
	| 'unavailable'
	/** The service responded, but the response doesn't show what the service did. */
	| 'unclear'
	/** No connection was made, or it broke while the node logged in. */
	| 'unreachable'
	/** The connection broke before the response was complete. */
	| 'broken'
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
	 * Set if the status code says that the request succeeded. A call that isn't idempotent is then never sent again, even
	 * if the body says that the service refused it.
	 */
	isSuccess?: true;
	/**
	 * `rejected` if the response says that the service doesn't accept the token; `suspect` if the request may have failed
	 * because the service doesn't accept it.
	 */
	token?: 'rejected' | 'suspect' | undefined;
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

/**
 * Why a call is sent again:
 * - `failure`: The request failed, and the call may be repeated up to Max Request Retries times.
 * - `wait`: The service accepted no request, or not this one, and the call waits until it does.
 */
export type Reason = 'failure' | 'wait';

/** The facts about a call whose last attempt has failed. */
export interface CallState {
	isIdempotent: boolean;
	/** How often the call was sent again, by reason. */
	resends: Readonly<Record<Reason, number>>;
	/** How long the call has slept for the reason `wait`, in milliseconds. */
	waitedMs: number;
	/** The option Max Request Retries. */
	maxRetries: number;
	/** How long the call may wait while the service accepts no calls, in milliseconds; undefined for the usual time. */
	patienceMs: number | undefined;
	/** How long the run of the call may still send requests, in milliseconds; Infinity if the run has no time limit. */
	remainingMs: number;
	/** Whether the service has answered other requests since it last throttled this call. */
	othersAreAnswered: boolean;
}

/** Why a call is sent again, and after how many milliseconds. The rate limiter may delay it further. */
export interface Resend {
	because: Reason;
	afterMs: number;
}

/** The conditions in which the service itself gave no response, so it isn't known whether it is still running. */
export const NO_ANSWER: Condition[] = ['unreachable', 'broken', 'timedOut', 'unavailable'];
/**
 * The conditions in which the service itself gave a response that doesn't ask for a wait. As the response to a health
 * check, each shows that the service is there, even if it failed to list the work clusters or isn't allowed to.
 */
export const ANSWERS: Condition[] = ['answered', 'unclear', 'failed'];
/** The conditions that say nothing about the service. */
export const NOTHING_KNOWN: Condition[] = ['unknown', 'n8nFailed'];
