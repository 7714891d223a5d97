/** Whether a fault strikes before the service processes the call, or afterwards, in place of the response. */
export type When = 'beforeActing' | 'afterActing';

/** The faults that only replace the response. The default status is 200, or 302 for a redirect. */
export type AnsweringFault =
	/** Sends this response. A string is sent unchanged as the body, and any other value as JSON. */
	| {
			kind: 'answer';
			when: When;
			status: number;
			headers?: Record<string, string> | undefined;
			body?: unknown;
	  }
	/** Responds with a 429 before the call is processed. `retryAfter` is a number of seconds or a date. */
	| { kind: 'rateLimit'; retryAfter?: number | Date }
	/** Redirects the client before the call is processed. */
	| { kind: 'redirect'; location: string; status?: 301 | 302 | 303 | 307 | 308 }
	/** Responds with a web page, as a proxy does. */
	| { kind: 'html'; when: When; status?: number }
	/** Responds with JSON of this size, which must be at least 13 bytes. */
	| { kind: 'hugeBody'; when: When; bytes: number; status?: number };

/**
 * A fault that a call meets. Besides the faults that only replace the response, there are:
 *
 * - `break` closes the connection without a response
 * - `stall` never responds; the connection stays open until one side closes it
 * - `drip` sends a response byte by byte, and never ends it
 * - `halfBody` sends the `content-length` of a body and half of this body, and then closes the connection
 * - `wait` delays the call until a promise is settled; the call then continues
 * - `expireTokens` makes all tokens expire that have been issued so far; the call then continues. By default, the fault
 *   strikes before the call is processed, so that the token of the call has expired, too
 */
export type Fault =
	| AnsweringFault
	| { kind: 'break' | 'stall' | 'drip' | 'halfBody'; when: When }
	| { kind: 'wait'; when: When; until: Promise<unknown> }
	| { kind: 'expireTokens'; when?: When };

/** Returns when a fault strikes: before the call is processed, unless the fault says otherwise. */
export function whenOf(fault: Fault): When {
	const { when = 'beforeActing' } = 'when' in fault ? fault : {};
	return when;
}
