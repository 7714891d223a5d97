import type { Outcome } from '../../nodes/JobOrchestration/service/pace/pace';
import { Pace } from '../../nodes/JobOrchestration/service/pace/pace';

/*
 * What one request after the other does to the pace. Whole batches at simulated services: pace.test.ts.
 */

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
	expect(pace.hold?.reason).toBe('loginFailed');
	expect(pace.limit).toBe(10);
	pace.end(pace.begin(900), { kind: 'done' }, 960);
	expect(pace.hold).toBeUndefined();
});

test('a log-in that fails while too many are turned away does not hide that', () => {
	const pace = new Pace(() => 1);
	const [one, another, late] = [pace.begin(0), pace.begin(0), pace.begin(0)];
	pace.end(one, { kind: 'throttled', retryAfter: undefined }, 1);
	pace.end(another, { kind: 'loginFailed' }, 2);
	pace.end(late, { kind: 'done' }, 3);
	expect(pace.hold?.reason).toBe('throttled');
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
		pace.end(pace.begin(0), { kind: 'throttled', retryAfter }, 0);
		const first = pace.delay(0);
		pace.end(pace.begin(first), { kind: 'throttled', retryAfter }, first);
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
		expect(pace.hold?.reason).toBe('broken');
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
		pace.end(one, { kind: 'throttled', retryAfter: undefined }, 1);
		pace.end(another, { kind: 'broken' }, 2);
		pace.end(pace.begin(51), { kind: 'broken' }, 52);
		expect(pace.hold?.reason).toBe('throttled');
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
	[{ kind: 'throttled', retryAfter: undefined }, 8_000],
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
	pace.end(pace.begin(0), { kind: 'throttled', retryAfter: undefined }, 1);
	expect(pace.delay(1)).toBe(50);
	const probe = pace.begin(51);
	expect(pace.delay(51)).toBe(Infinity);
	pace.end(probe, { kind: 'unknown' }, 60);
	expect(pace.delay(60)).toBe(100);
	pace.end(pace.begin(160), { kind: 'otherAnswer' }, 170);
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
	expect(pace.hold?.reason).toBe('broken');
	pace.forget(60_052);
	expect(pace.hold).toBeUndefined();
});

describe('A request that is turned away after others have gone on', () => {
	/** The first of two requests is turned away, and a probe found that the service takes requests again. */
	function withOneLeft() {
		const pace = new Pace(() => 1);
		const [first, late] = [pace.begin(0), pace.begin(0)];
		pace.end(first, { kind: 'throttled', retryAfter: undefined }, 1);
		pace.end(pace.begin(51), { kind: 'otherAnswer' }, 60);
		expect(pace.hold).toBeUndefined();
		return { pace, late };
	}

	test('makes nobody wait', () => {
		const { pace, late } = withOneLeft();
		pace.end(late, { kind: 'throttled', retryAfter: undefined }, 70);
		expect(pace.hold).toBeUndefined();
	});

	test('makes all wait until a time that it names, and not for longer', () => {
		const { pace, late } = withOneLeft();
		pace.end(late, { kind: 'throttled', retryAfter: 20 }, 70);
		expect(pace.hold).toMatchObject({ reason: 'throttled', since: 70, until: 90 });
	});
});

test('a time that the service has named is waited for, also where it can not be reached meanwhile', () => {
	const pace = new Pace(() => 1);
	const [first, unreachable, late] = [pace.begin(0), pace.begin(0), pace.begin(0)];
	pace.end(first, { kind: 'throttled', retryAfter: 5_000 }, 1);
	pace.end(unreachable, { kind: 'unreachable' }, 2);
	pace.end(late, { kind: 'otherAnswer' }, 3);
	expect(pace.delay(10)).toBe(4_991);
	expect(pace.delay(10, { ignoreUnreachable: true })).toBe(4_991);
	expect(pace.delay(5_001)).toBe(0);
});

test('requests that could not be sent say nothing of how many a second the service takes', () => {
	const pace = new Pace(() => 1);
	const [last, ...others] = [pace.begin(0), pace.begin(0), pace.begin(0), pace.begin(0)];
	for (const one of others) pace.end(one, { kind: 'unreachable' }, 1);
	pace.end(last, { kind: 'throttled', retryAfter: undefined }, 2);
	pace.end(pace.begin(60), { kind: 'otherAnswer' }, 70);
	expect(pace.hold).toBeUndefined();
	expect(pace.rate(70)).toBe(Infinity);
});
