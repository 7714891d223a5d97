/**
 * Waits so many milliseconds, or until the signal says that there is nothing to wait for.
 *
 * The timer is the signal's own: n8n lets community nodes use neither setTimeout nor a `sleep` that can be
 * ended, and a timer that is left behind would keep a process from exiting.
 */
export async function wait(milliseconds: number, end?: AbortSignal): Promise<void> {
	if (end?.aborted === true) return;
	const timer = AbortSignal.timeout(milliseconds);
	await new Promise<void>((resolve) => {
		const done = () => {
			timer.removeEventListener('abort', done);
			end?.removeEventListener('abort', done);
			resolve();
		};
		timer.addEventListener('abort', done);
		end?.addEventListener('abort', done);
	});
}
