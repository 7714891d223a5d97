import type { Failure } from '../../nodes/JobOrchestration/service/errors/kinds';
import { RateLimit } from '../../sandbox/limits/rateLimit';
import { broken, statusFailure } from '../reliability/statusFailure';

/*
 * Services that take only so much, by the clock of Executions.
 */

/** What comes of a request: nothing if it is answered well, else why not, and after how long if that isn't at once. */
type Answer = Failure | undefined | { failure?: Failure | undefined; after: number };

/** How a service answers an item's request that comes at a number of milliseconds; a health check's item is NaN. */
export type Service = (n: number, at: number) => Answer;

export const rejected = (retryAfter?: number) => statusFailure(429, retryAfter);
export const silence = { failure: { kind: 'timeout' }, after: 500 } as const;

/** Gives each test the same random numbers from 0 to 1 (Park and Miller's generator). */
export function useSameRandomNumbers(): void {
	beforeEach(() => {
		let last = 1;
		const next = () => (last = (16_807 * last) % (2 ** 31 - 1)) / (2 ** 31 - 1);
		jest.spyOn(Math, 'random').mockImplementation(next);
	});
	afterEach(() => jest.restoreAllMocks());
}

/** Accepts a number of requests per second, and some of them at once: a token bucket. */
export function bucket(perSecond: number, burst: number, failure: Failure = rejected()): Service {
	const limit = new RateLimit({ perSecond, burst, retryAfter: 0 });
	return (_, at) => ({ failure: limit.take(at) ? undefined : failure, after: 2 });
}

/** Accepts a number of requests in each window of time; may say how long it lasts. */
export function windowed(most: number, milliseconds: number, saysHowLong = false): Service {
	let window = -1;
	let count = 0;
	return (_, at) => {
		const current = Math.floor(at / milliseconds);
		if (current !== window) [window, count] = [current, 0];
		count += 1;
		const retryAfter = Math.ceil(((current + 1) * milliseconds - at) / 1_000) * 1_000;
		const failure = count <= most ? undefined : rejected(saysHowLong ? retryAfter : undefined);
		return { failure, after: 2 };
	};
}

export const open = (latency: () => number): Service => {
	return () => ({ after: latency() });
};

/** Works on a few at once, while the others wait in line. */
export function atOnce(places: number, latency: number): Service {
	const freeAt = new Array<number>(places).fill(0);
	return (_, at) => {
		const place = freeAt.indexOf(Math.min(...freeAt));
		const end = Math.max(at, freeAt[place] ?? 0) + latency;
		freeAt[place] = end;
		return { after: end - at };
	};
}

/** Takes a few connections at once, and fails the others. */
export function connections(most: number, latency: number, failure: Failure = broken): Service {
	let endsAt: number[] = [];
	return (_, at) => {
		endsAt = endsAt.filter((end) => end > at);
		if (endsAt.length >= most) return { failure, after: 2 };
		endsAt.push(at + latency);
		return { after: latency };
	};
}

export const byChance = (share: number, failure: Failure): Service => {
	return () => ({ failure: Math.random() < share ? failure : undefined, after: 5 });
};

/** Fails all requests for a while. */
export function during(from: number, to: number, failure: Failure, service: Service): Service {
	return (n, at) => (at >= from && at < to ? { failure, after: 1 } : service(n, at));
}
