import type { SandboxOptions } from '../../sandbox';
import type { Away } from '../performance/sandbox/messages';
import type { ContenderName } from './contenderNames';

/** A service, and a batch of creates for it. */
export interface Service {
	name: string;
	title: string;
	count: number;
	/** How many executions make so many each, at the same time. */
	executions?: number;
	options: SandboxOptions;
	away?: Away;
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

function limited(name: string, perSecond: number, count: number, more: Partial<Service>): Service {
	const size = Math.max(1, perSecond / 10);
	return {
		name,
		title: `takes ${perSecond} a second, else ${more.title}; ${count} jobs`,
		count,
		options: { limits: { perSecond, ...more.options?.limits } },
		best: (1_000 * count) / perSecond,
		batching: { batchSize: size, batchInterval: (1_000 * size) / perSecond },
		loop: { batchSize: perSecond, seconds: 1 },
		beside: more.beside ?? everybody,
		...(more.batching && { batching: more.batching }),
	};
}

function open(latency: number, count: number): Service {
	return {
		name: `${latency}ms${count > 1_000 ? `-${count}` : ''}`,
		title: `answers in ${latency} ms, as many at once as one likes; ${count} jobs`,
		count,
		options: { latency },
		best: (count * latency) / 100,
		beside: ['tenAtOnce', 'httpRequest'],
	};
}

/** The rows of the table. */
export const services: Service[] = [
	limited('100', 100, 1_000, { title: 'a bare 429' }),
	limited('100-retry-after', 100, 1_000, {
		title: '429 with `Retry-After: 1`',
		options: { limits: { retryAfter: 1 } },
	}),
	limited('10', 10, 200, { title: 'a bare 429' }),
	limited('2', 2, 60, { title: 'a bare 429' }),
	limited('503', 100, 1_000, {
		title: 'a bare 503',
		options: { limits: { tooMany: 503 } },
	}),
	limited('503-evenly', 100, 1_000, {
		title: 'a bare 503, with no room for a burst',
		options: { limits: { tooMany: 503, burst: 1 } },
		batching: { batchSize: 1, batchInterval: 15 },
		beside: ['httpRequest', 'httpRequestInBatches'],
	}),
	open(0, 1_000),
	open(0, 3_000),
	open(50, 1_000),
	open(50, 3_000),
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
	{
		name: 'away',
		title: 'answers in 50 ms, and is away for 8 s in mid-batch; 600 jobs',
		count: 600,
		options: { latency: 50 },
		away: { after: 200, for: 8_000 },
		best: 8_300,
		beside: ['tenAtOnce', 'httpRequest'],
	},
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
];
