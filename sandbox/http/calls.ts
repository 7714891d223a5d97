import type { OperationId } from '../messages';

/** The operation that a request calls; `unknown` if the contract has no such operation. */
export type CalledOperation = OperationId | 'unknown';

/** A call that the sandbox has received. */
export interface Call {
	operation: CalledOperation;
	method: string;
	/** The path without the query, percent-encoded as it was received. */
	path: string;
	/** The query as it was received: each value is a string or a list of strings. */
	query: Record<string, unknown>;
	/** The parsed body; undefined if there was no body, if it wasn't JSON, or if the body hasn't been read. */
	body: unknown;
	/** The token in the Authorization header, without `Bearer`. */
	token: string | undefined;
	/** The status of the response; undefined until the response is sent, and if it isn't sent completely. */
	status: number | undefined;
	/** The message in an error response; undefined if the call succeeded, or if the response has no message. */
	reason: string | undefined;
	/** When the call was received, in milliseconds since the epoch. */
	at: number;
}

/** Records the latest calls. */
export class CallRecord {
	/** The number of all calls since the start, including those that are no longer recorded. */
	total = 0;

	/** The latest calls since the record was last cleared, the oldest first. */
	calls: Call[] = [];

	/** @param least the minimum number of calls to keep; at most twice as many are kept */
	constructor(private readonly least: number) {}

	clear(): void {
		this.calls = [];
	}

	/** Adds a call. The caller sets the fields about the response when it responds. */
	add(call: Call): void {
		this.total += 1;
		this.calls.push(call);
		if (this.calls.length >= 2 * this.least) this.calls = this.calls.slice(-this.least);
	}
}
