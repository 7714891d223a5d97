import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 1;

/**
 * Runs a function, and measures the time, the processor time and the memory that this process uses for it. Node.js must
 * run with `--expose-gc`.
 */
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
		/** The processor time of all threads. */
		cpuMs: (user + system) / 1_000,
		/** The event loop delay: the 99th percentile and the maximum. */
		delayP99Ms: latenessMs(delay.percentile(99)),
		longestDelayMs: latenessMs(delay.max),
		/** The highest resident memory since the process started, minus the resident memory before the work. */
		peakMemoryBytes: process.resourceUsage().maxRSS * 1_024 - memoryBefore,
		/** The heap in use after the work, with its result, minus the heap in use before the work. */
		resultBytes: bytesInUse() - inUseBefore,
	};
	return { result, cost };
}

/** Collects garbage, and returns how many bytes of the heap are still in use. */
function bytesInUse(): number {
	if (globalThis.gc === undefined) throw new Error('Start this with --expose-gc');
	globalThis.gc();
	globalThis.gc();
	return process.memoryUsage().heapUsed;
}

/** Converts a value of the histogram, the nanoseconds between two timers, to the delay of a timer in milliseconds. */
function latenessMs(nanoseconds: number): number {
	return Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
}

/** Waits until the histogram has started, or has recorded the last delay. */
async function someTurns(): Promise<void> {
	await new Promise((resolve) => setTimeout(resolve, 5 * RESOLUTION_MS));
}
