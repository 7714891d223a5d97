import { setTimeout as sleep } from 'node:timers/promises';

import { Stopped } from './problem';

export interface WaitOptions {
	/** Milliseconds until it gives up. */
	timeout: number;
	/** Makes it give up at once. */
	signal?: AbortSignal | undefined;
	/** Milliseconds between two looks. */
	interval?: number;
}

/**
 * Looks again and again until there is something to see.
 * The library p-wait-for does the same since version 5, which is an ES module: Jest can't load it on Node.js 20.
 * @param look what to look at; undefined means not yet
 * @returns what was seen, or undefined after the time-out
 * @throws Stopped when the signal says so, and whatever `look` throws
 */
export async function waitFor<T>(
	look: () => Promise<T | undefined> | T | undefined,
	{ timeout, signal, interval = 200 }: WaitOptions,
): Promise<T | undefined> {
	const end = Date.now() + timeout;
	while (Date.now() < end) {
		if (signal?.aborted) throw new Stopped();
		const seen = await look();
		if (seen !== undefined) return seen;
		await sleep(interval);
	}
	return undefined;
}
