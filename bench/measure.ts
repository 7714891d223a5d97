import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

const RESOLUTION_MS = 1;

/** Runs a function once, and measures the time and the processor time that it takes, and the requests that it sends. */
export async function measure<Result>(work: () => Promise<Result>) {
	const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
	delay.enable();
	// The histogram starts with the next turns of the event loop.
	await sleep(5 * RESOLUTION_MS);
	const sent = countRequests();
	const cpuBefore = process.cpuUsage();
	const startedAt = performance.now();

	const result = await work();

	const elapsedMs = performance.now() - startedAt;
	const { user, system } = process.cpuUsage(cpuBefore);
	await sleep(5 * RESOLUTION_MS);
	delay.disable();
	const cost = {
		elapsedMs,
		/** The processor time of all threads. */
		cpuMs: (user + system) / 1_000,
		/** The event loop delay: the 99th percentile and the maximum. */
		delayP99Ms: latenessMs(delay.percentile(99)),
		longestDelayMs: latenessMs(delay.max),
		...sent,
	};
	return { result, cost };
}

/** Converts a value of the histogram, the nanoseconds between two timers, to the delay of a timer in milliseconds. */
function latenessMs(nanoseconds: number): number {
	return Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
}

/** Counts the requests that this process sends from now on. Returns the counts, which change as requests are sent. */
function countRequests() {
	const startedAt = performance.now();
	const open = new Set<ClientRequest>();
	const counts = {
		/** The maximum number of requests in flight. */
		atOnce: 0,
		/** The number of jobs created in each second, beginning with the first. */
		createdBySecond: [] as number[],
	};
	subscribe('http.client.request.start', (message) => {
		const { request } = message as { request: ClientRequest };
		open.add(request);
		counts.atOnce = Math.max(counts.atOnce, open.size);
		request.once('close', () => open.delete(request));
	});
	subscribe('http.client.response.finish', (message) => {
		const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
		response.once('end', () => open.delete(request));
		if (response.statusCode !== 200 || !request.path.endsWith('/jobs')) return;
		const second = Math.floor((performance.now() - startedAt) / 1_000);
		while (counts.createdBySecond.length <= second) counts.createdBySecond.push(0);
		counts.createdBySecond[second] = (counts.createdBySecond[second] ?? 0) + 1;
	});
	return counts;
}
