const work: Array<() => Promise<void>> = [];

/** Has something done when all tests are over; the last said is done first. */
export function onTearDown(done: () => Promise<void>): void {
	work.push(done);
}

/** Stops what `setUp.ts` has started. */
export default async function tearDown(): Promise<void> {
	for (let next = work.pop(); next; next = work.pop()) await next();
}
