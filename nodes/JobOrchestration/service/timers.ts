import { sleep } from 'n8n-workflow';

/**
 * How long this process remembers what it has learnt of a service, and which execution was retried, in milliseconds.
 * Measured with one minute: the next batch sends 50 requests again instead of 16 to a service that accepts two requests
 * per second.
 */
export const MEMORY_MS = 3_600_000;

/** The longest delay of a Node.js timer, in milliseconds. A longer one would end at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** The callbacks of one signal. They share a listener, since Node.js warns of a leak from the eleventh listener on. */
class Callbacks extends Set<() => void> {
	handleEvent(): void {
		for (const callback of this) callback();
	}
}

const callbacksBySignal = new WeakMap<AbortSignal, Callbacks>();

/**
 * Calls a function when a signal is aborted, or at once if it is already aborted.
 *
 * @returns a function that removes the callback
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
	if (signal?.aborted === true) callback();
	if (signal === undefined || signal.aborted) return () => {};
	const callbacks = callbacksBySignal.get(signal) ?? new Callbacks();
	callbacksBySignal.set(signal, callbacks);
	callbacks.add(callback);
	signal.addEventListener('abort', callbacks);
	return () => {
		callbacks.delete(callback);
		if (callbacks.size === 0) signal.removeEventListener('abort', callbacks);
	};
}

/**
 * Waits `delayMs`, or until the signal is aborted. n8n forbids setTimeout in nodes, and its newer releases lack
 * `sleepWithAbort`.
 */
export async function wait(delayMs: number, signal?: AbortSignal): Promise<void> {
	if (signal?.aborted === true) return;
	const over = new Promise<void>((resolve) => void onAbort(timeoutSignal(delayMs), resolve));
	await unlessAborted(over, signal).catch(() => {});
}

/**
 * Returns the result of some work, unless the signal is aborted before. An abort doesn't stop the work.
 *
 * @throws the error of the work, or after an abort an Error "canceled", as n8n's HTTP client does
 */
export async function unlessAborted<Result>(
	work: Promise<Result>,
	signal: AbortSignal | undefined,
): Promise<Result> {
	return await new Promise((resolve, reject) => {
		const stopListening = onAbort(signal, () => reject(new Error('canceled')));
		void work.then(resolve, reject).finally(stopListening);
	});
}

/**
 * Returns a signal that is aborted after `delayMs`. It limits the time of a whole response; the `timeout` of n8n's HTTP
 * client doesn't.
 */
export function timeoutSignal(delayMs: number): AbortSignal {
	return AbortSignal.timeout(Math.max(0, Math.min(Math.ceil(delayMs), MAX_TIMEOUT_MS)));
}

/**
 * Decides whether `since` (ms since 1970) is less than `ms` ago. Returns false if it is undefined, or if the clock was
 * set back.
 */
export function isWithin(ms: number, since = Infinity): boolean {
	const age = Date.now() - since;
	return age >= 0 && age < ms;
}

/**
 * Returns a function that waits until a pause is over, if one is due. The pause gives the event loop a turn. All work that
 * goes on side by side shares the pauses. If each part had its own, the parts would run one after the other in the same
 * turn.
 *
 * @param everyMs milliseconds without a turn after which a pause is due
 */
export function sharedPause(everyMs: number): () => Promise<void> {
	let endedAt = Date.now();
	let pause: Promise<void> | undefined;
	const begin = async () => {
		await wait(0);
		endedAt = Date.now();
		pause = undefined;
	};
	return async () => {
		if (Date.now() - endedAt > everyMs) pause ??= begin();
		await pause;
	};
}

/**
 * The maximum number of items in progress. Large enough that items which wait for a Retry-After don't fill the window,
 * small enough to limit the memory for items in progress.
 */
const WINDOW = 2_000;

/**
 * Runs `work` for each element in order, with at most `atOnce` elements in progress at the same time. Begins no further
 * element once the signal is aborted.
 *
 * @param work must not reject
 * @returns the results, in the order of the elements
 */
export async function inParallel<Element, Result>(
	elements: readonly Element[],
	{ atOnce = WINDOW, signal }: { atOnce?: number; signal?: AbortSignal | undefined },
	work: (element: Element) => Promise<Result>,
): Promise<Result[]> {
	const results: Result[] = [];
	const queue = elements.entries();
	const worker = async () => {
		for (const [index, element] of queue) {
			if (signal?.aborted !== true) results[index] = await work(element);
		}
	};
	await Promise.all(Array.from({ length: Math.min(atOnce, elements.length) }, worker));
	return results;
}

/** The clock of the rate limiter, in milliseconds. Tests replace it with a clock of their own. */
export const realClock = {
	now: () => performance.now(),
	/** Returns how long this process has been idle in all. */
	idle: () => performance.eventLoopUtilization().idle,
	wait,
	/** Gives the event loop a turn. An AbortSignal's timer would be too slow for hundreds of turns a second. */
	pause: async () => await sleep(1),
};

/**
 * Returns a backoff in milliseconds, which doubles with each earlier wait.
 *
 * @param earlier number of earlier waits
 * @param jitter largest share of the backoff, from 0 to 1, that is randomly subtracted, so that clients don't retry all
 * at once
 * @param random random number from 0 to 1
 */
export function backoffMs(
	earlier: number,
	{ firstMs, maxMs, jitter = 0 }: { firstMs: number; maxMs: number; jitter?: number },
	random = Math.random(),
): number {
	return Math.min(firstMs * 2 ** earlier, maxMs) * (1 - jitter * random);
}
