import fc from 'fast-check';

import type { Consequence } from '../../nodes/JobOrchestration/service/errors/rules';
import { ANSWERED } from '../../nodes/JobOrchestration/service/errors/rules';
import type { Permit } from '../../nodes/JobOrchestration/service/pace/breaker';
import { Pace } from '../../nodes/JobOrchestration/service/pace/pace';
import { RateLimit } from '../../sandbox/limits/rateLimit';

/*
 * Batches at simulated services, in virtual milliseconds: the arithmetic of the pace without timers and promises.
 */

/** How a request ends, as far as the pace learns from it. */
export type End = Pick<Consequence, 'condition' | 'retryAfterMs'>;

/** When a service answers a request that comes now, and what. */
export type Service = (now: number) => { outcome: End; after: number };

export interface Simulated {
	/** Milliseconds. */
	time: number;
	answered: number;
	/** Requests that were sent again, because they were rejected or met no service. */
	resent: number;
	/** Requests that may have had an effect. */
	uncertain: number;
	mostInFlight: number;
}

const UNCLEAR: Array<Consequence['condition']> = ['unavailable', 'broken', 'timedOut'];
const RESENT: Array<Consequence['condition']> = ['throttled', 'unreachable', 'loginFailed'];

/** Random numbers from 0 to 1, from a seed: some thousands, and then the same again. */
export function randomFrom(seed: number): () => number {
	const numbers = fc.noBias(fc.integer({ min: 0, max: 2 ** 31 - 1 }));
	const drawn = fc.sample(numbers, { seed, numRuns: 5_000 });
	let next = 0;
	return () => (drawn[next++ % drawn.length] ?? 0) / 2 ** 31;
}

/**
 * @param work milliseconds of n8n's own per request, one after the other
 * @throws Error if the batch isn't done after an hour
 */
export function simulate(items: number, service: Service, work = 0.8): Simulated {
	const pace = new Pace();
	const inFlight: Array<{ at: number; permit: Permit; outcome: End }> = [];
	const result = { time: 0, answered: 0, resent: 0, uncertain: 0, mostInFlight: 0 };
	const start = 100_000;
	let now = start;
	let busy = 0;
	let waiting = items;
	let burst = 0;
	let pausedUntil = 0;
	const workFor = (milliseconds: number) => {
		now += milliseconds;
		busy += milliseconds;
	};
	const mayStart = () => waiting > 0 && pace.inFlight + 1 <= pace.concurrency.limit;
	while (waiting > 0 || inFlight.length > 0) {
		while (mayStart() && pace.delay(now, true) <= 0 && now >= pausedUntil) {
			const permit = pace.start(now, now - busy, true);
			if (!permit.isQuestion) waiting -= 1;
			workFor(work / 2);
			const { outcome, after } = service(now);
			inFlight.push({ at: now + after, permit, outcome });
			result.mostInFlight = Math.max(result.mostInFlight, inFlight.length);
			// As the limiter, it gives the event loop a turn.
			burst = (burst + 1) % 4;
			if (burst === 0 && pace.inFlight > 10) pausedUntil = now + 1;
		}
		inFlight.sort((a, b) => a.at - b.at);
		// Timers count milliseconds, and are late.
		const startsAt = Math.max(now + Math.ceil(pace.delay(now, true)) + Math.random(), pausedUntil);
		const timer = mayStart() ? startsAt : Infinity;
		now = Math.max(now, Math.min(timer, inFlight[0]?.at ?? Infinity));
		if (now - start > 3_600_000) throw new Error(`Stuck: ${JSON.stringify(result)}`);
		for (let first = inFlight[0]; first !== undefined && first.at <= now; first = inFlight[0]) {
			inFlight.shift();
			workFor(work / 2);
			const mayHaveActed = UNCLEAR.includes(first.outcome.condition);
			pace.end(first.permit, { ...ANSWERED, ...first.outcome, mayHaveActed }, now, now - busy);
			if (first.permit.isQuestion) continue;
			if (first.outcome.condition === 'answered') result.answered += 1;
			else if (!RESENT.includes(first.outcome.condition)) result.uncertain += 1;
			else {
				result.resent += 1;
				waiting += 1;
			}
		}
	}
	return { ...result, time: now - start };
}

const answered: End = { condition: 'answered' };

/** Accepts a number of requests per second, and some of them at once: a token bucket. */
export function bucket(
	perSecond: number,
	burst: number,
	rejection: End = { condition: 'throttled' },
	latency = 2,
): Service {
	const limit = new RateLimit({ perSecond, burst, retryAfter: 0 });
	return (now) => ({ outcome: limit.take(now) ? answered : rejection, after: latency });
}

/** Accepts a number of requests in each window of time; may say how long it lasts. */
export function windowed(most: number, milliseconds: number, saysHowLong = false): Service {
	let window = -1;
	let count = 0;
	return (now) => {
		const current = Math.floor(now / milliseconds);
		if (current !== window) [window, count] = [current, 0];
		count += 1;
		if (count <= most) return { outcome: answered, after: 2 };
		const retryAfterMs = Math.ceil(((current + 1) * milliseconds - now) / 1_000) * 1_000;
		return { outcome: { condition: 'throttled', ...(saysHowLong && { retryAfterMs }) }, after: 2 };
	};
}

export const open = (latency: () => number): Service => {
	return () => ({ outcome: answered, after: latency() });
};

/** Works on a few at once, while the others wait in line. */
export function atOnce(places: number, latency: number): Service {
	const freeAt = new Array<number>(places).fill(0);
	return (now) => {
		const place = freeAt.indexOf(Math.min(...freeAt));
		const end = Math.max(now, freeAt[place] ?? 0) + latency;
		freeAt[place] = end;
		return { outcome: answered, after: end - now };
	};
}

/** Takes a few connections at once, and cuts off the others. */
export function connections(most: number, latency: number): Service {
	let endsAt: number[] = [];
	return (now) => {
		endsAt = endsAt.filter((at) => at > now);
		if (endsAt.length >= most) return { outcome: { condition: 'broken' }, after: 1 };
		endsAt.push(now + latency);
		return { outcome: answered, after: latency };
	};
}

export const byChance = (share: number, outcome: End): Service => {
	return () => ({ outcome: Math.random() < share ? outcome : answered, after: 5 });
};

/** Ends requests with an outcome for a while. */
export function during(from: number, to: number, outcome: End, service: Service): Service {
	let start: number | undefined;
	return (now) => {
		start ??= now;
		const isDuring = now - start >= from && now - start < to;
		return isDuring ? { outcome, after: 1 } : service(now);
	};
}
