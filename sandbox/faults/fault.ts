/** Whether a fault strikes before the call takes effect or after it. */
export type When = 'beforeActing' | 'afterActing';

interface Timed {
	when: When;
}

/** Answers this instead of what the service would have answered. */
interface AnswerFault extends Timed {
	kind: 'answer';
	status: number;
	headers?: Record<string, string>;
	/** A text is sent as it is, anything else as JSON; without it the body is empty. */
	body?: unknown;
}

/** Answers 429 before acting. */
interface RateLimitFault {
	kind: 'rateLimit';
	/** The `Retry-After` header: seconds, or a date; without it there is no such header. */
	retryAfter?: number | Date;
}

/** Sends the client elsewhere before acting. */
interface RedirectFault {
	kind: 'redirect';
	location: string;
	/** 302 by default. */
	status?: 301 | 302 | 303 | 307 | 308;
}

/** Answers with a page, as a proxy would. */
interface HtmlFault extends Timed {
	kind: 'html';
	/** 200 by default. */
	status?: number;
}

/** Answers with a JSON body of this size. It is generated while it is sent, so it takes no memory. */
interface HugeBodyFault extends Timed {
	kind: 'hugeBody';
	bytes: number;
	/** 200 by default. */
	status?: number;
}

/** The faults that only replace the answer. */
export type AnsweringFault =
	| AnswerFault
	| RateLimitFault
	| RedirectFault
	| HtmlFault
	| HugeBodyFault;

/**
 * What can go wrong with a call, besides another answer:
 *
 * - `break` closes the connection without an answer
 * - `stall` never answers; the connection stays open until one side closes it
 * - `drip` answers a little at a time, and never to the end
 * - `halfBody` announces a body by its `content-length`, sends half of it and closes the connection
 * - `wait` holds the call until a promise is settled, and then goes on normally
 * - `expireTokens` ends all tokens issued so far before acting, the call's own among them, and goes on
 */
export type Fault =
	| AnsweringFault
	| ({ kind: 'break' | 'stall' | 'drip' | 'halfBody' } & Timed)
	| ({ kind: 'wait'; until: Promise<unknown> } & Timed)
	| { kind: 'expireTokens' };

/** When a fault strikes. */
export function whenOf(fault: Fault): When {
	return 'when' in fault ? fault.when : 'beforeActing';
}
