import { monitorEventLoopDelay } from 'node:perf_hooks';

import type { Cost } from './messages';

/** Milliseconds between two looks at the event loop. */
const RESOLUTION = 1;

/** Milliseconds between two looks at the heap, each after a collection of garbage. */
const HEAP_INTERVAL = 50;

/** Does a piece of work and says what it cost this process. Needs `--expose-gc`. */
export async function measure(
	work: () => Promise<readonly unknown[]>,
	{ watchHeap }: { watchHeap: boolean },
): Promise<Cost> {
	await someTurns();
	const inUseBefore = inUse();
	const memoryBefore = process.memoryUsage.rss();
	const heap = watchHeap ? new HeapWatch() : undefined;
	const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
	delay.enable();
	await someTurns();
	const cpuBefore = process.cpuUsage();
	const startedAt = performance.now();

	const results = await work();

	const elapsed = performance.now() - startedAt;
	const cpu = process.cpuUsage(cpuBefore);
	await someTurns();
	delay.disable();
	const peakMemory = process.resourceUsage().maxRSS * 1024 - memoryBefore;
	const inUseAfter = inUse();
	return {
		results: results.length,
		elapsed,
		cpu: (cpu.user + cpu.system) / 1000,
		delayP99: lateness(delay.percentile(99)),
		delayMax: lateness(delay.max),
		peakMemory,
		resultMemory: inUseAfter - inUseBefore,
		...(heap && { peakInUse: Math.max(heap.stop(), inUseAfter) - inUseBefore }),
	};
}

/** Notes the most of the heap that was in use while it lives. */
class HeapWatch {
	private highest = 0;
	private readonly timer = setInterval(() => {
		this.highest = Math.max(this.highest, inUse());
	}, HEAP_INTERVAL);

	stop(): number {
		clearInterval(this.timer);
		return this.highest;
	}
}

/** Bytes of the heap that something holds, garbage collected before. */
function inUse(): number {
	if (globalThis.gc === undefined) throw new Error('Start this with --expose-gc');
	globalThis.gc();
	globalThis.gc();
	return process.memoryUsage().heapUsed;
}

/** What lies between two looks, in nanoseconds, as milliseconds too late. */
function lateness(nanoseconds: number): number {
	return Math.max(0, nanoseconds / 1e6 - RESOLUTION);
}

/** Lets the watch of the event loop begin, or notice how long the last piece of work has kept it. */
async function someTurns(): Promise<void> {
	await new Promise((resolve) => setTimeout(resolve, 5 * RESOLUTION));
}
