/**
 * Aborted when a person or the system wants this to end. Where npm runs this, that is also when npm is
 * gone: it passes SIGTERM on to the shell between the two, which ends without passing it on.
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
