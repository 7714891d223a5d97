import fc from 'fast-check';

import type { Outcome } from '../../nodes/JobOrchestration/service/pace/pace';
import { Pace } from '../../nodes/JobOrchestration/service/pace/pace';
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
	const refusal: Outcome = { kind: 'tooMany', retryAfter: given.retryAfter };
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
					if (kind === 'tooMany')
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
				? { outcome: { kind: 'tooMany', retryAfter: undefined }, at: now + 20 }
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
				? { outcome: { kind: 'tooMany', retryAfter: undefined }, at: now + 20 }
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

test('a service that answers nothing in time is sent fewer and fewer', () => {
	const pace = new Pace(() => 1);
	const limits: number[] = [];
	for (let round = 0, now = 0; round < 4; round += 1, now += 60_000) {
		const begun = [];
		while (pace.delay(now) === 0) begun.push(pace.begin(now));
		limits.push(begun.length);
		for (const one of begun) pace.end(one, { kind: 'timedOut' }, now + 59_000);
	}
	expect(limits).toEqual([10, 5, 2, 1]);
});

test('a log-in that fails makes all wait, and one ask', () => {
	const pace = new Pace(() => 1);
	pace.end(pace.begin(0), { kind: 'loginFailed' }, 0);
	expect(pace.delay(0)).toBe(300);
	pace.end(pace.begin(300), { kind: 'loginFailed' }, 300);
	expect(pace.delay(300)).toBe(600);
	expect(pace.hold?.why).toBe('loginFailed');
	expect(pace.limit).toBe(10);
	pace.end(pace.begin(900), { kind: 'done' }, 960);
	expect(pace.hold).toBeUndefined();
});

test('a log-in that fails while too many are turned away does not hide that', () => {
	const pace = new Pace(() => 1);
	const [one, another, late] = [pace.begin(0), pace.begin(0), pace.begin(0)];
	pace.end(one, { kind: 'tooMany', retryAfter: undefined }, 1);
	pace.end(another, { kind: 'loginFailed' }, 2);
	pace.end(late, { kind: 'done' }, 3);
	expect(pace.hold?.why).toBe('tooMany');
});

test.each([
	['a request whose number somebody has set', 0, 0],
	['one of few at the pace', 9, 0],
	['one of ten at the pace', 10, Infinity],
])('while more than the pace allows are under way, %s: may it begin?', (_, paced, delay) => {
	const pace = new Pace(() => 1);
	for (let n = 0; n < 40; n += 1) pace.begin(0);
	expect(pace.delay(1, { paced })).toBe(delay);
});

test('waits are spread over a quarter of their length, but for what the service has named', () => {
	const waitsBy = (random: number, retryAfter?: number) => {
		const pace = new Pace(() => random);
		pace.end(pace.begin(0), { kind: 'tooMany', retryAfter }, 0);
		const first = pace.delay(0);
		pace.end(pace.begin(first), { kind: 'tooMany', retryAfter }, first);
		return [first, pace.delay(first)];
	};
	expect(waitsBy(1)).toEqual([50, 100]);
	expect(waitsBy(0)).toEqual([38, 75]);
	expect(waitsBy(0, 1_000)).toEqual([1_000, 1_000]);
	const drawn = new Pace();
	drawn.end(drawn.begin(0), { kind: 'broken' }, 0);
	expect(drawn.delay(0)).toBeGreaterThanOrEqual(38);
	expect(drawn.delay(0)).toBeLessThanOrEqual(50);
});

describe('A connection that breaks', () => {
	test('makes all wait, and one ask whether that goes on: each time for twice as long, for up to 8 s', () => {
		const pace = new Pace(() => 1);
		const waits: number[] = [];
		for (let now = 0; waits.length < 10; now += pace.delay(now)) {
			pace.end(pace.begin(now), { kind: 'broken' }, now);
			waits.push(pace.delay(now));
		}
		expect(waits).toEqual([50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 8_000, 8_000]);
		expect(pace.hold?.why).toBe('broken');
	});

	test('among others that are answered makes nobody wait for long, and halves the number at once', () => {
		const pace = new Pace(() => 1);
		const [one, another] = [pace.begin(0), pace.begin(0)];
		pace.end(one, { kind: 'broken' }, 1);
		pace.end(another, { kind: 'done' }, 2);
		expect(pace.delay(2)).toBe(0);
		expect(pace.limit).toBe(5);
		expect(pace.rate(2)).toBe(Infinity);
	});

	test('while the service takes too many requests does not hide that, be it of a probe', () => {
		const pace = new Pace(() => 1);
		const [one, another] = [pace.begin(0), pace.begin(0)];
		pace.end(one, { kind: 'tooMany', retryAfter: undefined }, 1);
		pace.end(another, { kind: 'broken' }, 2);
		pace.end(pace.begin(51), { kind: 'broken' }, 52);
		expect(pace.hold?.why).toBe('tooMany');
	});

	test('right at the beginning does not keep the number from following how long answers take', () => {
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

	test('again and again is forgotten once the service answers', () => {
		const pace = new Pace(() => 1);
		pace.end(pace.begin(0), { kind: 'broken' }, 1);
		pace.end(pace.begin(51), { kind: 'broken' }, 52);
		pace.end(pace.begin(152), { kind: 'done' }, 160);
		expect(pace.hold).toBeUndefined();
		expect(pace.limit).toBe(10);
	});
});

test.each<[Outcome, longest: number]>([
	[{ kind: 'unreachable' }, 1_000],
	[{ kind: 'broken' }, 8_000],
	[{ kind: 'unavailable' }, 8_000],
	[{ kind: 'tooMany', retryAfter: undefined }, 8_000],
])(
	'after many probes in vain that ended with %j, the next one comes after %i ms',
	(outcome, longest) => {
		const pace = new Pace(() => 1);
		let now = 0;
		for (let probes = 0; probes < 12; probes += 1) {
			pace.end(pace.begin(now), outcome, now);
			now += pace.delay(now);
		}
		pace.end(pace.begin(now), outcome, now);
		expect(pace.delay(now)).toBe(longest);
	},
);

test('a request whose end says nothing does not keep others from asking', () => {
	const pace = new Pace(() => 1);
	pace.end(pace.begin(0), { kind: 'tooMany', retryAfter: undefined }, 1);
	expect(pace.delay(1)).toBe(50);
	const probe = pace.begin(51);
	expect(pace.delay(51)).toBe(Infinity);
	pace.end(probe, { kind: 'unknown' }, 60);
	expect(pace.delay(60)).toBe(100);
	pace.end(pace.begin(160), { kind: 'answered' }, 170);
	expect(pace.hold).toBeUndefined();
});

test('a service that is booting is sent as much as before, though its gateway answered 502 at last', () => {
	const pace = new Pace(() => 1);
	pace.end(pace.begin(0), { kind: 'done' }, 1);
	pace.end(pace.begin(1), { kind: 'unreachable' }, 2);
	pace.end(pace.begin(52), { kind: 'unreachable' }, 53);
	pace.end(pace.begin(200), { kind: 'unavailable' }, 201);
	pace.end(pace.begin(500), { kind: 'done' }, 510);
	expect(pace.hold).toBeUndefined();
	expect(pace.rate(510)).toBe(Infinity);
});

test('a probe that ends after others have gone on does not keep the next one from asking', () => {
	const pace = new Pace(() => 1);
	const [first, other] = [pace.begin(0), pace.begin(0)];
	pace.end(first, { kind: 'broken' }, 1);
	const late = pace.begin(51);
	pace.end(other, { kind: 'done' }, 60);
	pace.end(pace.begin(60), { kind: 'broken' }, 61);
	expect(pace.delay(111)).toBe(0);
	pace.end(pace.begin(111), { kind: 'broken' }, 112);
	pace.end(late, { kind: 'timedOut' }, 113);
	expect(pace.hold?.probes).toBe(1);
});

test('why all wait is forgotten where nobody has asked for a minute', () => {
	const pace = new Pace(() => 1);
	pace.end(pace.begin(0), { kind: 'broken' }, 1);
	pace.forget(60_051);
	expect(pace.hold?.why).toBe('broken');
	pace.forget(60_052);
	expect(pace.hold).toBeUndefined();
});

describe('A request that is turned away after others have gone on', () => {
	/** The first of two requests is turned away, and a probe found that the service takes requests again. */
	function withOneLeft() {
		const pace = new Pace(() => 1);
		const [first, late] = [pace.begin(0), pace.begin(0)];
		pace.end(first, { kind: 'tooMany', retryAfter: undefined }, 1);
		pace.end(pace.begin(51), { kind: 'answered' }, 60);
		expect(pace.hold).toBeUndefined();
		return { pace, late };
	}

	test('makes nobody wait', () => {
		const { pace, late } = withOneLeft();
		pace.end(late, { kind: 'tooMany', retryAfter: undefined }, 70);
		expect(pace.hold).toBeUndefined();
	});

	test('makes all wait until a time that it names, and not for longer', () => {
		const { pace, late } = withOneLeft();
		pace.end(late, { kind: 'tooMany', retryAfter: 20 }, 70);
		expect(pace.hold).toMatchObject({ why: 'tooMany', since: 70, until: 90 });
	});
});

test('a time that the service has named is waited for, also where it can not be reached meanwhile', () => {
	const pace = new Pace(() => 1);
	const [first, unreachable, late] = [pace.begin(0), pace.begin(0), pace.begin(0)];
	pace.end(first, { kind: 'tooMany', retryAfter: 5_000 }, 1);
	pace.end(unreachable, { kind: 'unreachable' }, 2);
	pace.end(late, { kind: 'answered' }, 3);
	expect(pace.delay(10)).toBe(4_991);
	expect(pace.delay(10, { regardless: true })).toBe(4_991);
	expect(pace.delay(5_001)).toBe(0);
});

test('requests that could not be sent say nothing of how many a second the service takes', () => {
	const pace = new Pace(() => 1);
	const [last, ...others] = [pace.begin(0), pace.begin(0), pace.begin(0), pace.begin(0)];
	for (const one of others) pace.end(one, { kind: 'unreachable' }, 1);
	pace.end(last, { kind: 'tooMany', retryAfter: undefined }, 2);
	pace.end(pace.begin(60), { kind: 'answered' }, 70);
	expect(pace.hold).toBeUndefined();
	expect(pace.rate(70)).toBe(Infinity);
});
