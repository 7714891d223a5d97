import type { InFlightRequest, Outcome } from '../../nodes/JobOrchestration/service/pace/pace';
import { Pace } from '../../nodes/JobOrchestration/service/pace/pace';

/** A service in a time of its own: says when a request that arrives is answered, and how. */
export type SimulatedService = (now: number) => { outcome: Outcome; at: number };

export interface Simulated {
	/** Milliseconds until every item was settled. */
	time: number;
	done: number;
	/** Items whose job may exist, after an answer that is no refusal. */
	uncertain: number;
	/** Requests that were turned away. */
	turnedAway: number;
	/** Requests that found no service. */
	unreached: number;
	/** The most that were under way at once, and how many on average. */
	most: number;
	average: number;
	pace: Pace;
}

/** A batch at a service, in no time: a loop over what happens next. */
export function simulate(
	items: number,
	service: SimulatedService,
	{
		pace = new Pace(() => 1),
		start = 0,
		longest = 3_600_000,
		most = Infinity,
		own = 0,
		each = () => {},
	}: {
		pace?: Pace;
		start?: number;
		/** Milliseconds after which it is stuck. */
		longest?: number;
		most?: number;
		/** Milliseconds of this process's own that each request takes, one after the other. */
		own?: number;
		each?: (event: { now: number; kind: string; pace: Pace }) => void;
	} = {},
): Simulated {
	const result = {
		time: 0,
		done: 0,
		uncertain: 0,
		turnedAway: 0,
		unreached: 0,
		most: 0,
		average: 0,
		pace,
	};
	const underWay = new Heap();
	let waiting = items;
	let now = start;
	let area = 0;
	let busy = 0;
	const work = () => {
		now += own / 2;
		busy += own / 2;
	};
	/** Begins what may begin; milliseconds until the next may. */
	const beginAll = (): number => {
		for (;;) {
			const delay = waiting > 0 && pace.underWay < most ? pace.delay(now) : Infinity;
			if (delay > 0) return delay;
			const request = pace.begin(now, now - busy);
			each({ now, kind: 'begin', pace });
			waiting -= 1;
			work();
			underWay.add({ ...service(now), request });
			result.most = Math.max(result.most, pace.underWay);
		}
	};
	while (waiting > 0 || underWay.size > 0) {
		const delay = beginAll();
		const next = underWay.first;
		// Timers have whole milliseconds, and are a bit late.
		const timer = now + Math.max(1, Math.ceil(delay));
		if (next === undefined && delay === Infinity) throw new Error(`Stuck at ${now} ms`);
		const to = Math.max(now, Math.min(next?.at ?? Infinity, timer));
		area += pace.underWay * (to - now);
		now = to;
		if (now - start > longest)
			throw new Error(`Not done after ${longest} ms: ${JSON.stringify({ ...result, waiting })}`);
		while (underWay.first !== undefined && underWay.first.at <= now) {
			const { request, outcome } = underWay.take();
			work();
			pace.end(request, outcome, now, { idle: now - busy, waiting });
			each({ now, kind: outcome.kind, pace });
			if (outcome.kind === 'done') result.done += 1;
			else if (outcome.kind === 'throttled') result.turnedAway += 1;
			else if (outcome.kind === 'unreachable') result.unreached += 1;
			else result.uncertain += 1;
			if (outcome.kind === 'throttled' || outcome.kind === 'unreachable') waiting += 1;
			beginAll();
		}
	}
	result.time = now - start;
	result.average = area / result.time;
	return result;
}

interface UnderWay {
	at: number;
	request: InFlightRequest;
	outcome: Outcome;
}

/** What is under way, by when it ends. */
class Heap {
	private readonly all: UnderWay[] = [];

	get first(): UnderWay | undefined {
		return this.all[0];
	}

	get size(): number {
		return this.all.length;
	}

	add(entry: UnderWay): void {
		let low = 0;
		let high = this.all.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if ((this.all[middle]?.at ?? Infinity) <= entry.at) low = middle + 1;
			else high = middle;
		}
		this.all.splice(low, 0, entry);
	}

	take(): UnderWay {
		const first = this.all.shift();
		if (first === undefined) throw new Error('Nothing is under way');
		return first;
	}
}

/** How long an answer takes that waits for nothing, in milliseconds. */
export type Latency = () => number;

/** A random number from 0 to 1, from a seed. */
export function randomFrom(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let t = Math.imul(state ^ (state >>> 15), 1 | state);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
	};
}

export const always =
	(milliseconds: number): Latency =>
	() =>
		milliseconds;
/** Between half and one and a half times as long. */
export const spread =
	(milliseconds: number, random: () => number): Latency =>
	() =>
		milliseconds * (0.5 + random());
/** Mostly shorter, now and then much longer. */
export const exponential =
	(milliseconds: number, random: () => number): Latency =>
	() =>
		-milliseconds * Math.log(1 - random());

/** Serves so many at once; the others wait in line. */
export function serving(atOnce: number, latency: Latency): SimulatedService {
	const freeAt = new Array<number>(Math.min(atOnce, 1_000)).fill(0);
	return (now) => {
		let first = 0;
		freeAt.forEach((at, index) => {
			if (at < (freeAt[first] ?? 0)) first = index;
		});
		const at = Math.max(now, freeAt[first] ?? 0) + latency();
		freeAt[first] = at;
		return { outcome: { kind: 'done' }, at };
	};
}

/** How a limit counts. */
export type Counting = 'window' | 'bucket' | 'spaced';

/** Takes so many a second, and turns the others away. */
export function limited(
	perSecond: number,
	{
		counting = 'bucket',
		latency = always(5),
		refusal = { kind: 'throttled', retryAfter: undefined },
		seconds = 1,
	}: {
		counting?: Counting;
		latency?: Latency;
		refusal?: Outcome;
		/** How long a window is, or how many seconds' worth a bucket holds. */
		seconds?: number;
	} = {},
): SimulatedService {
	const takes = limiter(perSecond, counting, seconds);
	return (now) => ({ outcome: takes(now) ? { kind: 'done' } : refusal, at: now + latency() });
}

function limiter(perSecond: number, counting: Counting, seconds: number): (now: number) => boolean {
	if (counting === 'window') {
		let window = -1;
		let taken = 0;
		return (now) => {
			const current = Math.floor(now / (1_000 * seconds));
			if (current !== window) [window, taken] = [current, 0];
			taken += 1;
			return taken <= Math.max(1, perSecond * seconds);
		};
	}
	const most = counting === 'spaced' ? 1 : Math.max(1, perSecond * seconds);
	let tokens = most;
	let last = 0;
	return (now) => {
		tokens = Math.min(most, tokens + ((now - last) / 1_000) * perSecond);
		last = now;
		if (tokens < 1 - 1e-9) return false;
		tokens -= 1;
		return true;
	};
}

/** Can't be reached for a while. */
export function away(service: SimulatedService, from: number, until: number): SimulatedService {
	return (now) =>
		now >= from && now < until ? { outcome: { kind: 'unreachable' }, at: now + 1 } : service(now);
}
