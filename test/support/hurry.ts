import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

import type * as Timers from '../../nodes/JobOrchestration/service/timers';
import type { Fault, Sandbox } from '../../sandbox';

/** Taken before anything is mocked, since more than one test of a file may hurry. */
const timer = AbortSignal.timeout.bind(AbortSignal);
const now = performance.now.bind(performance);

/** How many requests are in flight in this process. */
let inFlight = 0;

function count(message: unknown): void {
	inFlight += 1;
	(message as { request: ClientRequest }).request.once('close', () => (inFlight -= 1));
}
// Each file of a process has its own copy of this module, and all of them the same channel.
beforeAll(() => subscribe('http.client.request.start', count));
afterAll(() => void unsubscribe('http.client.request.start', count));

/** Takes the service away until a number of requests to paths with this end have not reached it. */
export async function awayUntil(
	{ sandbox }: { sandbox: Sandbox },
	end: string,
	requests: number,
): Promise<void> {
	let missed = 0;
	const onRequest = (message: unknown) => {
		const { path } = (message as { request: ClientRequest }).request;
		if (!path.endsWith(end) || (missed += 1) < requests) return;
		unsubscribe('http.client.request.start', onRequest);
		// The hurried clock stands still meanwhile, as it does while a request is in flight.
		inFlight += 1;
		void sandbox.comeBack().finally(() => (inFlight -= 1));
	};
	await sandbox.goAway();
	subscribe('http.client.request.start', onRequest);
}

/** A request that may begin is sent some turns later: n8n reads the credential first. */
const QUIET_TURNS = 4;

/** What a test says of the time limits of requests. */
export type Limits = ReturnType<typeof hurry>;

/**
 * Lets the node wait for nothing: where it waits, to send again, for another process's login, for a service that
 * takes no request, and no request is in flight, the clock that it looks at goes on to the end of the wait. So
 * nothing depends on how fast the machine is. What limits a request stays as it is, since an answer takes the time
 * that it takes; a test can say when that time is up. Jest's `restoreAllMocks` ends it.
 *
 * Jest's fake timers don't serve here: they neither fake AbortSignal.timeout nor know of requests in flight.
 */
export function hurry() {
	let skipped = 0;
	const clock = () => now() + skipped;
	jest.spyOn(performance, 'now').mockImplementation(clock);

	const waits: Array<{ until: number; end: AbortController }> = [];
	/** How many of the requests in flight wait for ever. */
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

	const limits = new Set<AbortController>();
	const limitAfter = (milliseconds: number) => {
		const limit = new AbortController();
		timer(Math.ceil(milliseconds)).addEventListener('abort', () => limit.abort());
		limits.add(limit);
		return limit.signal;
	};
	const timers = builtTimers();
	jest.spyOn(timers, 'timeoutSignal').mockImplementation(limitAfter);
	/** The time is up for all that is in flight. */
	const runOut = () => {
		stuck = 0;
		for (const limit of limits) limit.abort();
		limits.clear();
	};
	/** A fault as it is; where it lets a request wait for ever, its time is up once nothing else is in flight. */
	const orRunOut = (fault: Fault) => {
		if (fault.kind === 'stall' || fault.kind === 'drip') stuck += 1;
		go();
		return fault;
	};
	return { runOut, orRunOut };
}

/** The module as n8n's loader has it, too. */
function builtTimers(): typeof Timers {
	return jest.requireActual('../../dist/nodes/JobOrchestration/service/timers');
}
