import type { Latency, SimulatedService } from './simulate';
import { always, exponential, limited, randomFrom, serving, spread } from './simulate';

/** A batch at a service, and what is promised of it. */
export interface Batch {
	name: string;
	items: number;
	/** With a seed: latencies are drawn anew each time. */
	service: (seed: number) => SimulatedService;
	/** Milliseconds that it takes at best. */
	best: number;
	/** At most so many times as long. */
	times: number;
	/** At most so many requests turned away. */
	turnedAway?: number;
	/** At most so many items uncertain. */
	uncertain?: number;
	/** At most so many under way on average. */
	average?: number;
}

const drawn = (milliseconds: number) => (seed: number) => spread(milliseconds, randomFrom(seed));

function limits(perSecond: number, items: number): Batch[] {
	const best = (items / perSecond) * 1_000;
	// In a small batch: what it takes to find out.
	const turnedAway = Math.max(items / 10, 45);
	return (['bucket', 'window'] as const).flatMap((counting) =>
		[2, 50].flatMap((latency): Batch[] => {
			const name = `${perSecond} a second, counted as a ${counting}, ${latency} ms; ${items} items`;
			const common = { items, best };
			const options = (seed: number) => ({ counting, latency: drawn(latency)(seed) });
			return [
				{
					...common,
					name: `${name}; 429`,
					service: (seed) => limited(perSecond, options(seed)),
					times: 1.3,
					turnedAway,
				},
				{
					...common,
					name: `${name}; 429 with Retry-After: 1`,
					service: (seed) =>
						limited(perSecond, {
							...options(seed),
							refusal: { kind: 'throttled', retryAfter: 1_000 },
						}),
					times: 2,
					turnedAway,
				},
			];
		}),
	);
}

const kinds: Array<[string, (milliseconds: number, seed: number) => Latency]> = [
	['each time', (milliseconds) => always(milliseconds)],
	['more or less', (milliseconds, seed) => spread(milliseconds, randomFrom(seed))],
	['on average, some much longer', (ms, seed) => exponential(ms, randomFrom(seed))],
];

const open = (latency: number, items: number, times: [number, number, number]): Batch[] =>
	kinds.map(([kind, latencyOf], index) => ({
		name: `${latency} ms ${kind}, without a limit; ${items} items`,
		items,
		service: (seed) => serving(1_000, latencyOf(latency, seed)),
		best: (items * latency) / 100,
		times: times[index] ?? Infinity,
	}));

const busy = (
	[atOnce, latency]: [number, number],
	items: number,
	average: [number, number, number],
	times: [number, number, number],
): Batch[] =>
	kinds.map(([kind, latencyOf], index) => ({
		name: `${atOnce} at once, ${latency} ms ${kind}; ${items} items`,
		items,
		service: (seed) => serving(atOnce, latencyOf(latency, seed)),
		best: (items * latency) / atOnce,
		times: times[index] ?? Infinity,
		average: average[index] ?? Infinity,
	}));

/** The services that the pace was made for. The bounds of the table are wider for answers that vary. */
export const batches: Batch[] = [
	...limits(100, 1_000),
	...limits(10, 200),
	...limits(2, 60),
	{
		name: '100 a second, else a bare 503, 2 ms; 1000 items',
		items: 1_000,
		service: (seed) => limited(100, { latency: drawn(2)(seed), refusal: { kind: 'unavailable' } }),
		best: 10_000,
		times: 1.3,
		uncertain: 30,
	},
	{
		name: '100 a second, evenly spread, else a bare 503, 50 ms; 1000 items',
		items: 1_000,
		service: (seed) =>
			limited(100, {
				counting: 'spaced',
				latency: drawn(50)(seed),
				refusal: { kind: 'unavailable' },
			}),
		best: 10_000,
		times: 2.2,
		uncertain: 30,
	},
	{
		name: '100 in ten seconds, else 429; 1000 items',
		items: 1_000,
		service: () => limited(10, { counting: 'window', seconds: 10 }),
		best: 90_000,
		times: 1.3,
		turnedAway: 100,
	},
	{
		name: '60 in a minute, else 429; 300 items',
		items: 300,
		service: () => limited(1, { counting: 'window', seconds: 60 }),
		best: 240_000,
		times: 1.3,
		turnedAway: 100,
	},
	...open(300, 1_000, [1.25, 1.4, 3]),
	...open(50, 2_000, [1.25, 1.35, 2.5]),
	...busy([4, 50], 1_000, [16, 16, 16], [1.1, 1.15, 1.25]),
	...busy([1, 50], 1_000, [13, 13, 20], [1.1, 1.1, 1.15]),
	...busy([20, 50], 1_000, [40, 40, 60], [1.1, 1.15, 1.4]),
	...busy([8, 200], 3_000, [20, 20, 24], [1.1, 1.1, 1.2]),
];
