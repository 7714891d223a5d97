/** Whether a fault strikes before the call takes effect or after it. */
export type When = 'beforeActing' | 'afterActing';

/** The faults that only replace the answer. A status is 200 where none is given, and 302 for a redirect. */
export type AnsweringFault =
	/** A text is sent as it is, any other body as JSON; without one the answer is empty. */
	| {
			kind: 'answer';
			when: When;
			status: number;
			headers?: Record<string, string> | undefined;
			body?: unknown;
	  }
	/** Answers 429 before acting; `retryAfter` is seconds, or a date. */
	| { kind: 'rateLimit'; retryAfter?: number | Date }
	/** Sends the client elsewhere before acting. */
	| { kind: 'redirect'; location: string; status?: 301 | 302 | 303 | 307 | 308 }
	/** Answers with a page, as a proxy would. */
	| { kind: 'html'; when: When; status?: number }
	/** Answers with JSON of this size. It is generated while it is sent, so it takes no memory. */
	| { kind: 'hugeBody'; when: When; bytes: number; status?: number };

/**
 * What can go wrong with a call, besides another answer:
 *
 * - `break` closes the connection without an answer
 * - `stall` never answers; the connection stays open until one side closes it
 * - `drip` answers a little at a time, and never to the end
 * - `halfBody` announces a body by its `content-length`, sends half of it and closes the connection
 * - `wait` holds the call until a promise is settled, and then goes on normally
 * - `expireTokens` ends all tokens issued so far, and goes on: before acting, unless it says otherwise, so that the call's
 *   own token has expired, too
 */
export type Fault =
	| AnsweringFault
	| { kind: 'break' | 'stall' | 'drip' | 'halfBody'; when: When }
	| { kind: 'wait'; when: When; until: Promise<unknown> }
	| { kind: 'expireTokens'; when?: When };

/** When a fault strikes. */
export function whenOf(fault: Fault): When {
	const { when = 'beforeActing' } = 'when' in fault ? fault : {};
	return when;
}
