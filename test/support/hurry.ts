import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

import type * as Timers from '../../nodes/JobOrchestration/service/timers';
import type { Fault } from '../../sandbox';

/** The real timer. It is saved before a test mocks it, because several tests of a file may call `hurry`. */
const timer = AbortSignal.timeout.bind(AbortSignal);
const now = performance.now.bind(performance);

/** The number of requests that are in flight in this process. */
let inFlight = 0;

function count(message: unknown): void {
	inFlight += 1;
	(message as { request: ClientRequest }).request.once('close', () => (inFlight -= 1));
}
// Each test file has its own copy of this module, but all files in a process share the diagnostics channel.
beforeAll(() => subscribe('http.client.request.start', count));
afterAll(() => void unsubscribe('http.client.request.start', count));

/**
 * How many turns without a request in flight must pass before a wait is skipped. A request starts some turns late,
 * because n8n reads the credential first.
 */
const QUIET_TURNS = 4;

/** The functions by which a test controls the time limits of requests. */
export type Limits = ReturnType<typeof hurry>;

/**
 * Skips the waits of the node: before it sends a request again, for the login of another process, and for a service
 * that accepts no requests. Whenever the node waits and no request is in flight, its clock jumps to the end of the
 * wait, so the tests don't depend on the speed of the machine. The time limits of requests stay real, because a
 * response takes real time; `runOut` ends them early. Jest's `restoreAllMocks` undoes all of this.
 *
 * Jest's fake timers don't serve here: they don't fake AbortSignal.timeout, and don't know which requests are in
 * flight.
 */
export function hurry() {
	let skipped = 0;
	const clock = () => now() + skipped;
	jest.spyOn(performance, 'now').mockImplementation(clock);

	const waits: Array<{ until: number; end: AbortController }> = [];
	/** The number of requests in flight that never get a complete response. */
	let stuck = 0;
	let quiet = 0;
	let isGoing = false;
	const goOn = () => {
		quiet = inFlight <= stuck ? quiet + 1 : 0;
		if (quiet >= QUIET_TURNS) {
			quiet = 0;
			if (stuck > 0) runOut();
			else {
				const next = waits.shift();
				skipped += Math.max(0, (next?.until ?? 0) - clock());
				next?.end.abort();
			}
		}
		isGoing = false;
		go();
	};
	const go = () => {
		if (isGoing || (waits.length === 0 && stuck === 0)) return;
		isGoing = true;
		setTimeout(goOn, 1);
	};
	jest.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
		const wait = { until: clock() + milliseconds, end: new AbortController() };
		waits.push(wait);
		waits.sort((a, b) => a.until - b.until);
		go();
		return wait.end.signal;
	});

	const limits = new Map<AbortController, number>();
	const limitAfter = (milliseconds: number) => {
		const limit = new AbortController();
		timer(Math.min(Math.ceil(milliseconds), 2 ** 31 - 1)).addEventListener('abort', () =>
			limit.abort(),
		);
		limits.set(limit, milliseconds);
		return limit.signal;
	};
	const timers = builtTimers();
	jest.spyOn(timers, 'timeoutSignal').mockImplementation(limitAfter);
	/** Ends the time limits of all requests in flight: those that aren't longer than this. */
	const runOut = (longestMs = Infinity) => {
		stuck = 0;
		for (const [limit, milliseconds] of limits) {
			if (milliseconds > longestMs) continue;
			limit.abort();
			limits.delete(limit);
		}
	};
	/**
	 * Returns the fault unchanged. If it keeps a request waiting for ever, the request times out as soon as no other
	 * request is in flight.
	 */
	const orRunOut = (fault: Fault) => {
		if (fault.kind === 'stall' || fault.kind === 'drip') stuck += 1;
		go();
		return fault;
	};
	/** Lets time pass for the node, as if a response had taken so long. */
	const advance = (milliseconds: number) => {
		skipped += milliseconds;
	};
	return { runOut, orRunOut, advance, skippedMs: () => skipped };
}

/** Returns the built module, of which n8n's loader uses the same copy. */
function builtTimers(): typeof Timers {
	return jest.requireActual('../../dist/nodes/JobOrchestration/service/timers');
}
