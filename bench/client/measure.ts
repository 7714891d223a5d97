import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 1;

/** Does a piece of work and measures what it costs this process. Needs `--expose-gc`. */
export async function measure<Result>(work: () => Promise<Result>) {
	await someTurns();
	const inUseBefore = bytesInUse();
	const memoryBefore = process.memoryUsage.rss();
	const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
	delay.enable();
	await someTurns();
	const cpuBefore = process.cpuUsage();
	const startedAt = performance.now();

	const result = await work();

	const elapsedMs = performance.now() - startedAt;
	const { user, system } = process.cpuUsage(cpuBefore);
	await someTurns();
	delay.disable();
	const cost = {
		elapsedMs,
		/** Processor time, of all threads. */
		cpuMs: (user + system) / 1_000,
		/** How late timers were, in the worst of a hundred cases and at most. */
		delayP99Ms: latenessMs(delay.percentile(99)),
		longestDelayMs: latenessMs(delay.max),
		/** How much more memory than before the process had at its peak. */
		peakMemoryBytes: process.resourceUsage().maxRSS * 1_024 - memoryBefore,
		/** How much more of the heap than before was in use at the end, with the result still held. */
		resultBytes: bytesInUse() - inUseBefore,
	};
	return { result, cost };
}

/** Bytes of the heap that are still referenced. */
function bytesInUse(): number {
	if (globalThis.gc === undefined) throw new Error('Start this with --expose-gc');
	globalThis.gc();
	globalThis.gc();
	return process.memoryUsage().heapUsed;
}

/** The histogram has the time between two timers, in nanoseconds. */
function latenessMs(nanoseconds: number): number {
	return Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
}

/** Lets the histogram begin, or record the delay that the last piece of work has caused. */
async function someTurns(): Promise<void> {
	await new Promise((resolve) => setTimeout(resolve, 5 * RESOLUTION_MS));
}
