import type { OperationId } from '../messages';

/** An operation of the contract, or none. */
export type CalledOperation = OperationId | 'unknown';

/** A call that the sandbox was sent. */
export interface Call {
	operation: CalledOperation;
	method: string;
	/** Without the query, percent-encoded just as it came. */
	path: string;
	/** As it came: every value is a text, or a list of texts. */
	query: Record<string, unknown>;
	/** Parsed; undefined where there was none, or it was not JSON. */
	body: unknown;
	/** What came after `Bearer` in the Authorization header. */
	token: string | undefined;
	/** What was answered; undefined until then, and where no whole answer was given. */
	status: number | undefined;
	/** Why it was refused, in the answer's own words; undefined where it wasn't, or the answer doesn't say. */
	reason: string | undefined;
	/** When it came, in milliseconds since the epoch. */
	at: number;
}

export class CallRecord {
	/** How many calls there have been, those that were forgotten included. */
	total = 0;

	/** The calls since the record was last cleared, the oldest first. */
	calls: Call[] = [];

	/** @param least how many calls are kept at the least; older ones are forgotten */
	constructor(private readonly least: number) {}

	clear(): void {
		this.calls = [];
	}

	/** Adds a call, to be completed when it is answered. */
	add(call: Call): void {
		this.total += 1;
		this.calls.push(call);
		if (this.calls.length >= 2 * this.least) this.calls = this.calls.slice(-this.least);
	}
}
