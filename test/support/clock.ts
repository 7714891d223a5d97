const now = Date.now.bind(Date);

let passed = 0;

/**
 * Lets time pass for whatever is remembered with a date: tokens grow old. It ends with the test (`useSandbox`). The date
 * of Jest's fake timers doesn't go on by itself.
 */
export function pass(ms: number): void {
	passed = jest.isMockFunction(Date.now) ? passed + ms : ms;
	jest.spyOn(Date, 'now').mockImplementation(() => now() + passed);
}

/** After it, a token isn't recently issued any more. */
export const MINUTE_MS = 61_000;

/** After it, each token of the sandbox has expired. */
export const HOUR_MS = 3_601_000;
