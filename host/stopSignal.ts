/**
 * Returns a signal that is aborted by SIGINT, SIGTERM and SIGHUP. If npm runs this process, the signal is also aborted
 * when the parent process has ended: npm forwards SIGTERM only to the shell that it has started, and this shell ends
 * without forwarding it to this process.
 */
export function stopSignal(): AbortSignal {
	const controller = new AbortController();
	const stop = () => controller.abort();
	for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop);
	const { ppid } = process;
	if (process.env['npm_lifecycle_event'] !== undefined) {
		setInterval(() => process.ppid !== ppid && stop(), 500).unref();
	}
	return controller.signal;
}
