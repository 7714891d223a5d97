import { ANSWERED, consequenceOf } from '../../nodes/JobOrchestration/service/errors/rules';
import { MAX_LIMIT } from '../../nodes/JobOrchestration/service/pace/pace';
import { Pace } from '../../nodes/JobOrchestration/service/pace/pace';
import { statusFailure } from '../reliability/statusFailure';
import type { Service, Simulated } from './simulate';
import {
	atOnce,
	bucket,
	byChance,
	connections,
	during,
	open,
	randomFrom,
	simulate,
	windowed,
} from './simulate';

/** What a batch may cost: a factor of the best time, and how many requests end without success. */
type Bounds = { times: number; resent?: number; uncertain?: number };
type Row = [name: string, items: number, best: number, bounds: Bounds, service: () => Service];

const second = { condition: 'throttled', retryAfterMs: 1_000 } as const;
const bare503 = { condition: 'unavailable' } as const;
const throttled = { condition: 'throttled' } as const;
const quick = open(() => 5);
const exponential = (mean: number) => -mean * Math.log(1 - Math.random());

const rows: Row[] = [
	['100/s, burst 20', 600, 5_800, { times: 1.3, resent: 60 }, () => bucket(100, 20)],
	[
		'the same at 50 ms',
		600,
		5_800,
		{ times: 1.3, resent: 130 },
		() => bucket(100, 20, throttled, 50),
	],
	[
		'the same, Retry-After 1',
		600,
		5_800,
		{ times: 1.7, resent: 25 },
		() => bucket(100, 20, second),
	],
	['200/s, burst 20', 1_000, 4_900, { times: 1.4, resent: 60 }, () => bucket(200, 20)],
	['200/s, Retry-After 1', 1_000, 4_900, { times: 1.9, resent: 25 }, () => bucket(200, 20, second)],
	['100/s, burst 1', 600, 6_000, { times: 2, resent: 60 }, () => bucket(100, 1)],
	['50/s, burst 1', 300, 6_000, { times: 2, resent: 60 }, () => bucket(50, 1)],
	['1000/s, burst 50', 3_000, 3_000, { times: 1.5, resent: 60 }, () => bucket(1_000, 50)],
	['10/s', 150, 14_000, { times: 1.25, resent: 100 }, () => bucket(10, 10)],
	['2/s', 40, 19_000, { times: 1.25, resent: 80 }, () => bucket(2, 2)],
	['100 in each second', 600, 5_000, { times: 1.4, resent: 60 }, () => windowed(100, 1_000)],
	['100 in ten seconds', 500, 40_000, { times: 1.25, resent: 70 }, () => windowed(100, 10_000)],
	['60 in a minute', 240, 180_000, { times: 1.1, resent: 90 }, () => windowed(60, 60_000)],
	[
		'60 in a minute, and says so',
		240,
		180_000,
		{ times: 1.1, resent: 90 },
		() => windowed(60, 60_000, true),
	],
	['100/s, bare 503', 600, 5_800, { times: 1.4, uncertain: 13 }, () => bucket(100, 20, bare503)],
	['50 ms, no limit', 1_000, 5_000, { times: 0.25 }, () => open(() => 50)],
	['300 ms, no limit', 1_000, 30_000, { times: 0.2 }, () => open(() => 300)],
	['50 ms on average', 1_000, 5_000, { times: 0.42 }, () => open(() => exponential(50))],
	['four at once at 50 ms', 200, 2_500, { times: 1.1 }, () => atOnce(4, 50)],
	['twenty at once at 50 ms', 600, 1_500, { times: 1.2 }, () => atOnce(20, 50)],
	[
		'a tenth rejected by chance',
		600,
		1_000,
		{ times: 60, resent: 100 },
		() => byChance(0.1, throttled),
	],
	[
		'away for 8 s',
		600,
		8_600,
		{ times: 1.6, resent: 50 },
		() => during(300, 8_300, { condition: 'unreachable' }, quick),
	],
	[
		'rejects all for 30 s',
		600,
		31_000,
		{ times: 1.3, resent: 60 },
		() => during(300, 30_300, throttled, quick),
	],
	['takes 5 connections', 300, 1_200, { times: 1.5, uncertain: 14 }, () => connections(5, 20)],
	['takes 20 connections', 600, 1_500, { times: 2, uncertain: 26 }, () => connections(20, 50)],
];

afterEach(() => jest.restoreAllMocks());

test.each(rows)('%s', (_, items, best, { times, resent = 0, uncertain = 0 }, service) => {
	const runs: Simulated[] = [1, 2, 3, 4, 5].map((seed) => {
		jest.spyOn(Math, 'random').mockImplementation(randomFrom(seed));
		return simulate(items, service());
	});
	for (const run of runs) {
		expect(run.answered + run.uncertain).toBe(items);
		expect(run.time / best).toBeLessThanOrEqual(times);
		expect(run.resent).toBeLessThanOrEqual(resent);
		expect(run.uncertain).toBeLessThanOrEqual(uncertain);
		expect(run.mostInFlight).toBeLessThanOrEqual(MAX_LIMIT);
	}
});

test('answers that n8n has no time for raise no limit', () => {
	// Each request takes n8n as long as the service.
	expect(
		simulate(
			1_000,
			open(() => 20),
			20,
		).mostInFlight,
	).toBe(10);
});

test('a slow service that becomes quick is sent more, and a quick one that becomes slow fewer', () => {
	const pace = new Pace();
	let now = 0;
	const round = (latency: number) => {
		const requests = Array.from({ length: pace.concurrency.limit }, () =>
			pace.start(now, now, true),
		);
		now += latency;
		for (const request of requests) pace.end(request, ANSWERED, now, now);
	};
	for (let rounds = 0; rounds < 8; rounds += 1) round(50);
	expect(pace.concurrency.limit).toBe(100);
	for (let rounds = 0; rounds < 8; rounds += 1) round(500);
	expect(pace.concurrency.limit).toBeLessThan(20);
	for (let rounds = 0; rounds < 30; rounds += 1) round(50);
	expect(pace.concurrency.limit).toBe(100);
});

test('nothing starts before a Retry-After of up to 5 s is over, to the millisecond', () => {
	const pace = new Pace();
	const requests = Array.from({ length: 3 }, () => pace.start(0, 0, true));
	requests.forEach((request, n) => {
		pace.end(request, consequenceOf(statusFailure(429, 3_000)), n, n);
	});
	expect(pace.delay(2, true)).toBe(3_000);
	expect(pace.delay(3_001, true)).toBe(1);
	expect(pace.delay(3_002, true)).toBeLessThanOrEqual(0);
});
