import type { LimitOptions, SandboxOptions } from '../../sandbox';
import type { Away } from '../performance/sandbox/messages';
import type { PlanName } from '../performance/sandbox/plans';
import type { ContenderName } from './contenderNames';
import type { NginxLimit } from './nginx';

/** A service, and a batch of creates for it. */
export interface Service {
	name: string;
	title: string;
	count: number;
	/** How many executions make so many each, at the same time. */
	executions?: number;
	/** The namespace of an item's job; `default` unless told otherwise. Those in `default` are reported by themselves. */
	namespaceOf?: (n: number, execution: number) => string;
	/** Options › Concurrency of this node, which has none by default. */
	concurrency?: number;
	options: SandboxOptions;
	away?: Away;
	plan?: PlanName;
	/** An nginx in front of it. */
	nginx?: NginxLimit;
	/** Milliseconds that it takes where nothing is turned away and nobody waits for nothing; undefined for what can't be done. */
	best?: number;
	/** The HTTP Request node's own batching, set as well as one can. */
	batching?: { batchSize: number; batchInterval: number };
	/** A loop with a Wait, set as well as one can. */
	loop?: { batchSize: number; seconds: number };
	/** Who takes part beside this node. */
	beside: ContenderName[];
}

const everybody: ContenderName[] = ['httpRequest', 'httpRequestInBatches', 'loopWithWait'];

function limited(
	name: string,
	count: number,
	limits: LimitOptions & { perSecond: number },
	beside: ContenderName[] = [],
): Service {
	const { perSecond, burst = perSecond, tooMany = 429, retryAfter } = limits;
	const size = burst === 1 ? 1 : Math.max(1, perSecond / 10);
	const answer =
		retryAfter === undefined
			? `a bare ${tooMany}`
			: `${tooMany} with \`Retry-After: ${retryAfter}\``;
	return {
		name,
		title: `takes ${perSecond} a second, ${burst} at once, else ${answer}; ${count} jobs`,
		count,
		options: { limits },
		best: (1_000 * count) / perSecond,
		// A bare 503 wants some room.
		batching: {
			batchSize: size,
			batchInterval: ((burst === 1 ? 1_500 : 1_000) * size) / perSecond,
		},
		loop: { batchSize: perSecond, seconds: 1 },
		beside,
	};
}

function behindNginx(perSecond: number, count: number, burst: number, status: 429 | 503): Service {
	return {
		name: `nginx-${perSecond}-${status}`,
		title: `nginx: \`limit_req\` ${perSecond}r/s, burst ${burst}, ${status}; ${count} jobs`,
		count,
		options: {},
		nginx: { rate: `${perSecond}r/s`, burst: burst === 0 ? '' : `burst=${burst} nodelay`, status },
		best: (1_000 * count) / perSecond,
		beside: [],
	};
}

function open(latency: number, count: number, more: Partial<Service> = {}): Service {
	return {
		name: `${latency}ms${count > 1_000 ? `-${count}` : ''}`,
		title: `answers in ${latency} ms, as many at once as one likes; ${count} jobs`,
		count,
		options: { latency },
		best: (count * latency) / 100,
		beside: ['tenAtOnce', 'httpRequest'],
		...more,
	};
}

function away(name: string, latency: number, beside: ContenderName[]): Service {
	return {
		name,
		title: `answers in ${latency} ms, and is away for 8 s in mid-batch; 600 jobs`,
		count: 600,
		options: { latency },
		away: { after: 200, for: 8_000 },
		best: 8_000 + 6 * latency,
		beside,
	};
}

function cutting(connections: number, count: number): Service {
	return {
		name: `cuts-${connections}`,
		title: `takes ${connections} connections, cuts off others, 50 ms; ${count} jobs`,
		count,
		options: { latency: 50, limits: { connections } },
		beside: [],
	};
}

/** The rows of the table. */
export const services: Service[] = [
	limited('100', 600, { perSecond: 100, burst: 20 }, everybody),
	limited('100-retry-after', 600, { perSecond: 100, burst: 20, retryAfter: 1 }, everybody),
	limited('200', 1_000, { perSecond: 200, burst: 20 }),
	limited('100-evenly', 600, { perSecond: 100, burst: 1 }),
	behindNginx(100, 600, 20, 429),
	behindNginx(100, 600, 20, 503),
	behindNginx(50, 300, 0, 429),
	limited('10', 200, { perSecond: 10 }, everybody),
	limited('2', 60, { perSecond: 2 }, everybody),
	limited('503', 600, { perSecond: 100, tooMany: 503 }, everybody),
	limited('503-evenly', 600, { perSecond: 100, burst: 1, tooMany: 503 }, [
		'httpRequest',
		'httpRequestInBatches',
	]),
	open(0, 1_000),
	open(0, 10_000, { beside: ['tenAtOnce'] }),
	open(50, 1_000),
	open(50, 3_000),
	open(50, 1_000, {
		name: 'concurrency-300',
		title: 'answers in 50 ms; Options › Concurrency is 300; 1000 jobs',
		concurrency: 300,
		beside: [],
	}),
	open(300, 1_000),
	open(300, 3_000),
	{
		name: 'four',
		title: 'serves four at once, 50 ms each; 1000 jobs',
		count: 1_000,
		options: { latency: 50, limits: { atOnce: 4 } },
		best: 12_500,
		batching: { batchSize: 4, batchInterval: 50 },
		loop: { batchSize: 8, seconds: 0.02 },
		beside: everybody,
	},
	away('away', 50, ['tenAtOnce', 'httpRequest']),
	away('away-0ms', 0, []),
	{
		name: 'nobody',
		title: "isn't there; 20000 jobs",
		count: 20_000,
		options: {},
		away: { after: 0, for: Infinity },
		beside: ['httpRequest'],
	},
	{
		name: 'ten-executions',
		title: 'answers in 50 ms; ten executions at once, 200 jobs each',
		count: 200,
		executions: 10,
		options: { latency: 50 },
		best: 1_000,
		beside: ['tenAtOnce', 'httpRequest'],
	},
	{
		name: 'full',
		title: 'rejects the first 15 of 300 for good, `Retry-After: 60`',
		count: 300,
		namespaceOf: (n) => (n < 15 ? 'full' : 'default'),
		options: {},
		plan: 'fullForAMinute',
		beside: [],
	},
	{
		name: 'full-for-an-hour',
		title: 'rejects each tenth of 200 for good, `Retry-After: 3600`',
		count: 200,
		namespaceOf: (n) => (n % 10 === 0 ? 'full' : 'default'),
		options: {},
		plan: 'fullForAnHour',
		beside: [],
	},
	{
		name: 'beside-full',
		title: 'an execution of 300 beside one whose first 15 are rejected for good, `Retry-After: 60`',
		count: 300,
		executions: 2,
		namespaceOf: (n, execution) => (execution === 1 ? 'default' : n < 15 ? 'full' : 'neighbour'),
		options: {},
		plan: 'fullForAMinute',
		beside: [],
	},
	cutting(5, 300),
	cutting(20, 600),
	{
		name: 'a-tenth',
		title: 'answers in 50 ms, rejects a tenth by chance, a bare 429; 600 jobs',
		count: 600,
		options: { latency: 50 },
		plan: 'aTenth',
		beside: [],
	},
	{
		name: 'window',
		title: 'takes 50 in each 500 ms, else 429 with a date; 600 jobs',
		count: 600,
		options: {},
		plan: 'window',
		best: 6_000,
		beside: [],
	},
	{
		name: 'congested',
		title: 'takes 20 ms + n²/2 with n under way; 600 jobs',
		count: 600,
		options: {},
		plan: 'congested',
		best: 3_800,
		beside: [],
	},
];
