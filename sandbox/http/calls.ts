import type { OperationId } from '../messages';

/** An operation of the contract, or none. */
export type CalledOperation = OperationId | 'unknown';

/** A call that the sandbox was sent. */
export interface Call {
	operation: CalledOperation;
	/** In capitals. */
	method: string;
	/** Without the query, percent-encoded just as it came. */
	path: string;
	/** As it came: every value is a text, or a list of texts. */
	query: Record<string, unknown>;
	/** Parsed; undefined where there was none, or it was no JSON. */
	body: unknown;
	/** What came after `Bearer` in the Authorization header. */
	token: string | undefined;
	/** What was answered; undefined while it is under way, and where no whole answer was given. */
	status: number | undefined;
	/** Why it was refused, in the answer's own words; undefined where it wasn't, or the answer doesn't say. */
	reason: string | undefined;
	/** When it came, in milliseconds since the epoch. */
	at: number;
}

/** How many calls are kept at the least; older ones are forgotten. */
const kept = 100_000;

/** How many calls the page shows. */
const recentKept = 50;

/** What was called, in order. */
export class CallRecord {
	private all: Call[] = [];
	private latest: Call[] = [];
	private count = 0;

	/** @param keepAll whether more is kept than what the page shows */
	constructor(private readonly keepAll: boolean) {}

	/** The calls since the record was last cleared, the oldest first. */
	get calls(): readonly Call[] {
		return this.all;
	}

	/** How many calls there have been at all. */
	get total(): number {
		return this.count;
	}

	/** The latest calls, the latest first. */
	recent(): Call[] {
		return this.latest.slice(-recentKept).reverse();
	}

	/** Forgets the calls so far, though not how many there were. */
	clear(): void {
		this.all = [];
	}

	/** Adds a call, to be completed while it is under way. */
	add(call: Call): void {
		this.count += 1;
		this.latest = withLast(this.latest, call, recentKept);
		if (this.keepAll) this.all = withLast(this.all, call, kept);
	}
}

/** Adds to a list in place; one that has grown to twice its size is cut back to the newest. */
function withLast(list: Call[], call: Call, size: number): Call[] {
	list.push(call);
	return list.length >= 2 * size ? list.slice(-size) : list;
}

/** The message of an error's body, as it is sent; undefined where there is none. */
export function reasonIn(status: number, body: unknown): string | undefined {
	if (status < 400 || typeof body !== 'string') return undefined;
	try {
		const { message } = (JSON.parse(body) ?? {}) as { message?: unknown };
		return typeof message === 'string' ? message : undefined;
	} catch {
		return undefined;
	}
}
