const now = Date.now.bind(Date);

let passed = 0;

/**
 * Moves `Date.now()` forward by `ms` more milliseconds, so that tokens and other dated values grow old. The clock is
 * reset when the test ends (`useSandbox`). Jest's fake timers don't serve here, because their date stands still.
 */
export function pass(ms: number): void {
	passed = jest.isMockFunction(Date.now) ? passed + ms : ms;
	jest.spyOn(Date, 'now').mockImplementation(() => now() + passed);
}

/** After this time, a token isn't recently issued any more. */
export const MINUTE_MS = 61_000;

/** After this time, each token of the sandbox has expired. */
export const HOUR_MS = 3_601_000;
