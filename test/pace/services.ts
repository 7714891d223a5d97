import type { Failure } from '../../nodes/JobOrchestration/service/errors/failure';
import { RateLimit } from '../../sandbox/limits/rateLimit';
import { broken, statusFailure, timedOut } from '../reliability/statusFailure';

/*
 * Simulated services with limits, in the virtual time of Executions.
 */

/**
 * How a request ends: undefined for a success, or a failure. `after` is the number of milliseconds until the response;
 * by default, 20 for a success and 5 for a failure.
 */
type Answer = Failure | undefined | { failure?: Failure | undefined; after: number };

/**
 * Returns how a service responds to the request of item `n` that arrives after `at` milliseconds. For a health check,
 * `n` is NaN.
 */
export type Service = (n: number, at: number) => Answer;

/** Returns a service that answers health checks as `check` does, and other requests as `service` does. */
export const withChecks =
	(service: Service, check: Service = () => undefined): Service =>
	(n, at) =>
		Number.isNaN(n) ? check(n, at) : service(n, at);

export const rejected = (retryAfter?: number) => statusFailure(429, retryAfter);
export const silence = { failure: timedOut, after: 500 } as const;

/** Makes Math.random() return the same numbers in each test (Park and Miller's generator). */
export function useSameRandomNumbers(): void {
	beforeEach(() => {
		let last = 1;
		const next = () => (last = (16_807 * last) % (2 ** 31 - 1)) / (2 ** 31 - 1);
		jest.spyOn(Math, 'random').mockImplementation(next);
	});
	afterEach(() => jest.restoreAllMocks());
}

/** Returns a service with a token bucket: it accepts `perSecond` requests per second, and `burst` of them at once. */
export function bucket(perSecond: number, burst: number, failure: Failure = rejected()): Service {
	const limit = new RateLimit({ perSecond, burst, retryAfter: 0 });
	return (_, at) => ({ failure: limit.take(at) ? undefined : failure, after: 2 });
}

/**
 * Returns a service that accepts `most` requests in each window of time. If `saysHowLong` is true, its Retry-After is
 * the time until the next window.
 */
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

export const answersIn = (latency: number): Service => {
	return () => ({ after: latency });
};

/** Returns a service that processes `places` requests at a time. The others wait in a queue. */
export function atOnce(places: number, latency: number): Service {
	const freeAt = new Array<number>(places).fill(0);
	return (_, at) => {
		const place = freeAt.indexOf(Math.min(...freeAt));
		const end = Math.max(at, freeAt[place] ?? 0) + latency;
		freeAt[place] = end;
		return { after: end - at };
	};
}

/** Returns a service that accepts `most` connections at a time, and fails further requests. */
export function connections(most: number, latency: number, failure: Failure = broken): Service {
	let endsAt: number[] = [];
	return (_, at) => {
		endsAt = endsAt.filter((end) => end > at);
		if (endsAt.length >= most) return { failure, after: 2 };
		endsAt.push(at + latency);
		return { after: latency };
	};
}

/** Returns a service that fails all requests between two times. */
export function during(
	from: number,
	to: number,
	failure: Failure,
	service: Service = () => undefined,
): Service {
	return (n, at) => (at >= from && at < to ? failure : service(n, at));
}
