import { sleep } from 'n8n-workflow';

/** The most that Node.js counts: a longer time would be over at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** All that is to be called when a signal is aborted, as one listener: from the eleventh on, Node.js warns of a leak. */
class Callbacks extends Set<() => void> {
	handleEvent(): void {
		for (const callback of this) callback();
	}
}

const callbacksBySignal = new WeakMap<AbortSignal, Callbacks>();

/** Calls back when a signal is aborted, at once if it is. @returns a function that removes the callback */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
	if (signal === undefined) return () => {};
	if (signal.aborted) callback();
	const callbacks = callbacksBySignal.get(signal) ?? new Callbacks();
	callbacksBySignal.set(signal, callbacks);
	callbacks.add(callback);
	signal.addEventListener('abort', callbacks);
	return () => {
		callbacks.delete(callback);
		if (callbacks.size === 0) signal.removeEventListener('abort', callbacks);
	};
}

/** Waits `delayMs`, or until an abort. n8n forbids nodes setTimeout; its newer releases lack `sleepWithAbort`. */
export async function wait(delayMs: number, signal?: AbortSignal): Promise<void> {
	if (signal?.aborted === true) return;
	await new Promise<void>((resolve) => {
		const stopListening = onAbort(signal, resolve);
		onAbort(timeoutSignal(delayMs), () => {
			stopListening();
			resolve();
		});
	});
}

/** The result of some work, which an abort doesn't stop. @throws its error, or "canceled", as n8n's HTTP client does */
export async function unlessAborted<Result>(
	work: Promise<Result>,
	signal: AbortSignal | undefined,
): Promise<Result> {
	return await new Promise((resolve, reject) => {
		const stopListening = onAbort(signal, () => reject(new Error('canceled')));
		void work.then(resolve, reject).finally(stopListening);
	});
}

/** A signal that is aborted after `delayMs`. It limits a whole response; the `timeout` of n8n's HTTP client doesn't. */
export function timeoutSignal(delayMs: number): AbortSignal {
	return AbortSignal.timeout(Math.min(Math.ceil(delayMs), MAX_TIMEOUT_MS));
}

/** Whether `since` (ms since 1970) is less than `ms` ago; false if it is undefined, or the clock went back. */
export function isWithin(ms: number, since = Infinity): boolean {
	const age = Date.now() - since;
	return age >= 0 && age < ms;
}

/** The time in milliseconds, which tests set themselves. */
export const realClock = {
	now: () => performance.now(),
	/** How long this process has been idle in all. */
	idle: () => performance.eventLoopUtilization().idle,
	wait,
	/** Gives the event loop a turn, hundreds of times a second, for which an AbortSignal's timer is too slow. */
	pause: async () => await sleep(1),
};

/**
 * A wait in milliseconds that doubles with each earlier one.
 *
 * @param jitter its part, 0 to 1, that chance takes off, to part a crowd
 * @param random from 0 to 1
 */
export function backoffMs(
	earlier: number,
	{ firstMs, maxMs, jitter = 0 }: { firstMs: number; maxMs: number; jitter?: number },
	random = Math.random(),
): number {
	return Math.min(firstMs * 2 ** earlier, maxMs) * (1 - jitter * random);
}
