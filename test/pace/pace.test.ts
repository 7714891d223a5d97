import fc from 'fast-check';

import type { Outcome } from '../../nodes/JobOrchestration/service/pace/pace';
import { batches } from './services';
import type { Simulated, SimulatedService } from './simulate';
import {
	always,
	away,
	exponential,
	limited,
	randomFrom,
	serving,
	simulate,
	spread,
} from './simulate';

const SEEDS = [1, 2, 3, 4, 5];

/** The middle one of several runs by a figure. */
function median(runs: Simulated[], figure: (run: Simulated) => number): number {
	return runs.map(figure).sort((a, b) => a - b)[Math.floor(runs.length / 2)] ?? NaN;
}

test.each(batches.map((batch) => [batch.name, batch] as const))('%s', (_name, batch) => {
	const runs = SEEDS.map((seed) => simulate(batch.items, batch.service(seed)));
	for (const run of runs) expect(run.most).toBeLessThanOrEqual(100);
	// An uncertain item takes no more time: the service did not have to serve it.
	const settled = (run: Simulated) => (batch.best * run.done) / batch.items;
	expect(median(runs, (run) => run.time / settled(run))).toBeLessThanOrEqual(batch.times);
	expect(median(runs, (run) => run.turnedAway)).toBeLessThanOrEqual(batch.turnedAway ?? 0);
	expect(median(runs, (run) => run.uncertain)).toBeLessThanOrEqual(batch.uncertain ?? 0);
	expect(median(runs, (run) => run.average)).toBeLessThanOrEqual(batch.average ?? 100);
});

/** Any service that takes something: how fast it is, how much it takes, and when it is away. */
const services = fc.record({
	seed: fc.nat(),
	latency: fc.integer({ min: 1, max: 500 }),
	kind: fc.constantFrom('always', 'spread', 'exponential' as const),
	atOnce: fc.constantFrom(1, 2, 5, 20, 50, 100, 1_000),
	perSecond: fc.constantFrom(0.5, 1, 3, 10, 30, 100, 300, Infinity),
	counting: fc.constantFrom('bucket', 'window', 'spaced' as const),
	retryAfter: fc.constantFrom(undefined, 0, 1_000, 5_000),
	/** One in so many requests is turned away by chance. */
	oneIn: fc.constantFrom(Infinity, Infinity, 50, 10),
	outage: fc.record({
		from: fc.integer({ min: 0, max: 5_000 }),
		for: fc.integer({ min: 0, max: 30_000 }),
	}),
	items: fc.integer({ min: 1, max: 400 }),
});
type Generated = typeof services extends fc.Arbitrary<infer Value> ? Value : never;

function serviceOf(given: Generated): SimulatedService {
	const random = randomFrom(given.seed);
	const latencies = { always, spread, exponential };
	const latency = latencies[given.kind](given.latency, random);
	const refusal: Outcome = { kind: 'throttled', retryAfter: given.retryAfter };
	const atWork = serving(given.atOnce, latency);
	const limit = limited(given.perSecond, { counting: given.counting, refusal, latency: () => 0 });
	const outageEnds = given.outage.from + given.outage.for;
	return away(
		(now) => {
			const answer = random() * given.oneIn < 1 ? { outcome: refusal, at: now } : limit(now);
			return answer.outcome.kind === 'done' ? atWork(now) : { ...answer, at: now + 2 };
		},
		given.outage.from,
		outageEnds,
	);
}

/** Milliseconds that a service takes at best, were it never away. */
const bestOf = ({ items, latency, atOnce, perSecond }: Generated) =>
	Math.max((items * latency) / Math.min(atOnce, 100), (items / perSecond) * 1_000, latency);

test('whatever the service, all items get through, and never more than a hundred are under way', () => {
	fc.assert(
		fc.property(services, (given) => {
			const run = simulate(given.items, serviceOf(given), {
				// Whoever is told to wait for five seconds each time is not fast.
				longest: 90_000 + 8 * bestOf(given) + given.items * (given.retryAfter ?? 0),
			});
			expect(run.done).toBe(given.items);
			expect(run.most).toBeLessThanOrEqual(100);
		}),
		{ numRuns: 200, seed: 14 },
	);
});

test('whatever the service, nothing begins before the time that it has named', () => {
	fc.assert(
		fc.property(services, (given) => {
			fc.pre(given.retryAfter !== undefined);
			let closedUntil = -Infinity;
			simulate(given.items, serviceOf(given), {
				longest: Infinity,
				each: ({ now, kind }) => {
					if (kind === 'begin') expect(now).toBeGreaterThanOrEqual(closedUntil);
					if (kind === 'throttled')
						closedUntil = Math.max(closedUntil, now + (given.retryAfter ?? 0));
				},
			});
		}),
		{ numRuns: 100, seed: 14 },
	);
});

test('while the service is away, one request at a time asks, at least every second', () => {
	const asked: number[] = [];
	const run = simulate(600, away(serving(1_000, always(50)), 200, 8_200), {
		each: ({ now, kind, pace }) => {
			if (kind === 'begin' && now > 300 && now < 8_200) {
				expect(pace.underWay).toBe(1);
				asked.push(now);
			}
		},
	});
	expect(run.done).toBe(600);
	expect(run.time).toBeLessThan(10_500);
	expect(asked.length).toBeGreaterThan(7);
	expect(asked.length).toBeLessThan(20);
	asked.slice(1).forEach((at, index) => expect(at - (asked[index] ?? 0)).toBeLessThan(1_010));
});

test('a service that turns one in fifty away by chance is not slowed down to a trickle', () => {
	for (const seed of SEEDS) {
		const random = randomFrom(seed);
		const atWork = serving(1_000, spread(20, random));
		const run = simulate(3_000, (now) =>
			random() < 0.02
				? { outcome: { kind: 'throttled', retryAfter: undefined }, at: now + 20 }
				: atWork(now),
		);
		expect(run.time).toBeLessThan(10_000);
	}
});

test('nor is one that turns one in ten away', () => {
	const times = Array.from({ length: 9 }, (_, seed) => {
		const random = randomFrom(seed);
		const atWork = serving(1_000, spread(20, random));
		return simulate(3_000, (now) =>
			random() < 0.1
				? { outcome: { kind: 'throttled', retryAfter: undefined }, at: now + 20 }
				: atWork(now),
		).time;
	}).sort((a, b) => a - b);
	// It would be 600 ms without, and 300 times are waited for all together, at 50 ms each.
	expect(times[4]).toBeLessThan(15_000);
	expect(times[8]).toBeLessThan(120_000);
});

describe('Where this process is busy itself,', () => {
	test.each([
		[0, 1_000],
		[2, 1_000],
	])('answers in %d ms are sent for by two dozen at once at the most', (latency, items) => {
		const run = simulate(items, serving(1_000, always(latency)), { own: 0.7 });
		expect(run.most).toBe(24);
		expect(run.time).toBeLessThan(1.05 * items * 0.7);
	});

	test.each([
		['each time', always(50)],
		['more or less', spread(50, randomFrom(1))],
	])(
		'a batch takes little longer than its own work, with answers in 50 ms %s',
		(_name, latency) => {
			for (const own of [0.7, 1.4]) {
				const run = simulate(3_000, serving(1_000, latency), { own });
				expect(run.time).toBeLessThan((3_000 * own + 50) / 0.9);
			}
		},
	);

	test('a service that serves four at once is found out all the same', () => {
		const run = simulate(1_000, serving(4, always(50)), { own: 1 });
		expect(run.time).toBeLessThan(1.1 * 12_500);
		expect(run.average).toBeLessThan(16);
	});
});

describe('What is known fades:', () => {
	test('a service that took two a second takes a hundred at once some time after', () => {
		const { pace, time } = simulate(40, limited(2));
		expect(pace.rate(time)).toBeLessThan(3);
		const later = time + 600_000;
		const run = simulate(1_000, serving(1_000, always(50)), { pace, start: later });
		// At two a second it would be eight minutes, with ten at once five seconds.
		expect(run.time).toBeLessThan(1_500);
	});

	test('a service that was slow for its crowd is found fast a minute after', () => {
		const { pace, time } = simulate(500, serving(1, always(200)));
		expect(pace.limit).toBeLessThan(10);
		const run = simulate(1_000, serving(1_000, always(50)), { pace, start: time + 60_001 });
		expect(run.time).toBeLessThan(1_500);
	});

	test('a service that took a hundred at once, and takes four a minute after, meets no crowd', () => {
		const { pace, time } = simulate(500, serving(1_000, always(50)));
		expect(pace.limit).toBe(100);
		const run = simulate(1_000, serving(4, always(50)), { pace, start: time + 60_001 });
		expect(run.average).toBeLessThan(16);
	});

	test('nor after it was away', () => {
		const { pace, time: start } = simulate(500, serving(1_000, always(50)));
		const few = away(serving(4, always(50)), start, start + 3_000);
		expect(simulate(1_000, few, { pace, start }).average).toBeLessThan(16);
	});

	test.each([
		['ten times as much', 10, 100],
		['a tenth', 100, 10],
	])('a limit that becomes %s is found while a batch runs', (_name, before, after) => {
		const [first, then] = [limited(before), limited(after)];
		const changesAt = 20_000;
		let late = 0;
		simulate(before * 20 + after * 60, (now) => (now < changesAt ? first : then)(now), {
			each: ({ now, kind }) => {
				// From half a minute after the change on: as much as there is now.
				if (kind === 'done' && now > 50_000 && now <= 70_000) late += 1;
			},
		});
		expect(late).toBeGreaterThan(0.8 * after * 20);
		expect(late).toBeLessThanOrEqual(1.1 * after * 20);
	});

	test('a service that becomes slow is sent fewer at once, and more when it is fast again', () => {
		const [fast, slow] = [serving(1_000, always(50)), serving(4, always(50))];
		const loads: Record<string, number[]> = { slow: [], fast: [] };
		simulate(60_000, (now) => (now > 5_000 && now < 25_000 ? slow : fast)(now), {
			each: ({ now, pace }) => {
				if (now > 15_000 && now < 25_000) loads.slow?.push(pace.underWay);
				if (now > 30_000 && now < 31_000) loads.fast?.push(pace.underWay);
			},
		});
		expect(loads.slow?.length).toBeGreaterThan(100);
		expect(Math.max(...(loads.slow ?? []))).toBeLessThan(16);
		expect(Math.max(...(loads.fast ?? []))).toBeGreaterThan(90);
	});
});

test('a connection that breaks right at the beginning does not keep the number from following how long answers take', () => {
	const serve = serving(4, always(50));
	let isFirst = true;
	const loads: number[] = [];
	simulate(
		1_000,
		(now) => {
			if (!isFirst) return serve(now);
			isFirst = false;
			return { outcome: { kind: 'broken' }, at: now + 1 };
		},
		{ each: ({ now, pace }) => now > 5_000 && loads.push(pace.underWay) },
	);
	expect(loads.length).toBeGreaterThan(100);
	expect(Math.max(...loads)).toBeLessThan(40);
});
