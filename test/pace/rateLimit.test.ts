import { RateLimit } from '../../nodes/JobOrchestration/service/pace/rateLimit';

/*
 * What a single request that is turned away among others does to the rate.
 */

const single = { inNumbers: false, probes: 1, isCostly: false };
const inNumbers = { inNumbers: true, probes: 1, isCostly: false };

/** Requests that get through, so many a second, evenly; the time at their end. */
function pass(limit: RateLimit, from: number, count: number, perSecond: number): number {
	for (let n = 0; n < count; n += 1) {
		const now = from + (n * 1_000) / perSecond;
		limit.begun(now);
		limit.passed(now);
	}
	return from + (count * 1_000) / perSecond;
}

/** One is turned away, and all go on: what the rate is then. */
function turnAway(limit: RateLimit, now: number, how: typeof single): number {
	limit.begun(now);
	limit.throttled(now);
	limit.resumed(now, how);
	return Math.round(limit.rate(now));
}

/**
 * A limit of a hundred a second was met three seconds ago, and since then so many a second got through. It is known
 * not to be chance: many were turned away before, and none at the lower rate.
 */
function afterAHundred(perSecond: number) {
	const limit = new RateLimit();
	const met = pass(limit, 0, 200, 100);
	for (let n = 0; n < 30; n += 1) limit.throttled(met);
	expect(turnAway(limit, met, inNumbers)).toBe(90);
	return { limit, now: pass(limit, met, 3 * perSecond, perSecond) };
}

test('lowers the rate where less than four fifths of it got through', () => {
	const { limit, now } = afterAHundred(60);
	expect(turnAway(limit, now, single)).toBe(54);
});

test('does not where almost all of it did', () => {
	const { limit, now } = afterAHundred(90);
	expect(turnAway(limit, now, single)).toBeGreaterThan(95);
});

test('does not within a second after it was lowered', () => {
	const { limit, now } = afterAHundred(60);
	turnAway(limit, now, single);
	expect(turnAway(limit, pass(limit, now, 20, 40), single)).toBeGreaterThanOrEqual(54);
});

test('lowers it the third time that next to nothing got through in between', () => {
	const { limit, now } = afterAHundred(100);
	const before = turnAway(limit, now, single);
	const rates = [1, 2, 3].map((n) => turnAway(limit, pass(limit, now + 20 * n, 3, 1_000), single));
	expect(rates[1]).toBeGreaterThanOrEqual(before);
	expect(rates[2]).toBeLessThan(before);
});
