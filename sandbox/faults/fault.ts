/** Whether a fault strikes before the call takes effect or after it. */
export type When = 'beforeActing' | 'afterActing';

/** Answers so, whatever the service would have answered. */
export interface AnswerFault {
	kind: 'answer';
	when: When;
	status: number;
	/** Header name to value; a body that is no text comes as JSON unless this says otherwise. */
	headers?: Record<string, string>;
	/** A text is sent as it is, anything else as JSON; nothing is an empty body. */
	body?: unknown;
}

/** Breaks the connection without an answer. */
export interface BreakFault {
	kind: 'break';
	when: When;
}

/** Never answers; the connection stays open until one side closes it. */
export interface StallFault {
	kind: 'stall';
	when: When;
}

/** Answers a little at a time, and never to the end. */
export interface DripFault {
	kind: 'drip';
	when: When;
}

/** Ends all tokens given out so far, then goes on: the call itself meets its own ended token. */
export interface ExpireTokensFault {
	kind: 'expireTokens';
}

/** Answers 429 before acting. */
export interface RateLimitFault {
	kind: 'rateLimit';
	/** The `Retry-After` header: seconds, or a date; without it there is no such header. */
	retryAfter?: number | Date;
}

/** Sends the client elsewhere before acting. */
export interface RedirectFault {
	kind: 'redirect';
	location: string;
	/** 302 unless told otherwise. */
	status?: 301 | 302 | 303 | 307 | 308;
}

/** Answers with a page, as a proxy would. */
export interface HtmlFault {
	kind: 'html';
	when: When;
	/** 200 unless told otherwise. */
	status?: number;
}

/** Answers with a JSON body of this size. It is made while it is sent, so that it costs no memory. */
export interface HugeBodyFault {
	kind: 'hugeBody';
	when: When;
	bytes: number;
	/** 200 unless told otherwise. */
	status?: number;
}

/** Promises a body by its `content-length`, sends the first half and breaks the connection. */
export interface HalfBodyFault {
	kind: 'halfBody';
	when: When;
}

/** Holds the call until a promise is settled, then goes on as if nothing had been. */
export interface WaitFault {
	kind: 'wait';
	when: When;
	until: Promise<unknown>;
}

/** What can go wrong with a call. */
export type Fault =
	| AnswerFault
	| BreakFault
	| StallFault
	| DripFault
	| ExpireTokensFault
	| RateLimitFault
	| RedirectFault
	| HtmlFault
	| HugeBodyFault
	| HalfBodyFault
	| WaitFault;

/** When a fault strikes. */
export function whenOf(fault: Fault): When {
	return 'when' in fault ? fault.when : 'beforeActing';
}
