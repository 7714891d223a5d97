/** Who waits, by the signal that ends it: each signal has one listener, or Node.js warns of a leak. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Waits so many milliseconds, or until the signal says that there is nothing to wait for.
 *
 * The timer is the signal's own: n8n lets community nodes use neither setTimeout nor a `sleep` that can be
 * ended, and a timer that is left behind would keep a process from exiting.
 */
export async function wait(milliseconds: number, end?: AbortSignal): Promise<void> {
	if (end?.aborted === true) return;
	const timer = AbortSignal.timeout(milliseconds);
	const others = end === undefined ? undefined : waitingFor(end);
	await new Promise<void>((resolve) => {
		const done = () => {
			timer.removeEventListener('abort', done);
			others?.delete(done);
			resolve();
		};
		timer.addEventListener('abort', done);
		others?.add(done);
	});
}

function waitingFor(end: AbortSignal): Set<() => void> {
	const known = waiting.get(end);
	if (known !== undefined) return known;
	const all = new Set<() => void>();
	waiting.set(end, all);
	end.addEventListener('abort', () => all.forEach((done) => done()), { once: true });
	return all;
}
