import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
	/** Milliseconds after which to stop waiting. */
	timeout: number;
	/** Milliseconds between two calls of `look`. By default, 200. */
	interval?: number;
}

/**
 * Calls `look` repeatedly until it returns a value.
 *
 * The library p-wait-for isn't used. It can return a value since version 5, but this version is an ES module, which
 * Jest can't load on Node.js 20.
 * @param look returns the value; undefined as long as the value does not exist
 * @returns the value, or undefined after the timeout
 * @throws any error that `look` throws
 */
export async function waitFor<T>(
	look: () => Promise<T | undefined> | T | undefined,
	{ timeout, interval = 200 }: WaitOptions,
): Promise<T | undefined> {
	const end = Date.now() + timeout;
	while (Date.now() < end) {
		const seen = await look();
		if (seen !== undefined) return seen;
		await sleep(interval);
	}
	return undefined;
}
