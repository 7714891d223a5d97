import type { LimitOptions } from '../sandbox';
import type { Case, Service, Task } from './case';

/** A case is measured three times if its `bestMs` is below this value, and once otherwise. */
const SHORT_MS = 5_000;

interface Details extends Pick<Case, 'bestMs'>, Service {
	task: Omit<Task, 'count'>;
}

function create(name: string, title: string, count: number, details: Partial<Details>): Case {
	const { task, bestMs, options = {}, ...service } = details;
	return {
		name,
		title: `${title}; ${count} jobs`,
		task: { count, ...task },
		service: { options, ...service },
		contenders: ['thisNode'],
		rounds: bestMs !== undefined && bestMs < SHORT_MS ? 3 : 1,
		...(bestMs !== undefined && { bestMs }),
	};
}

function limited(name: string, count: number, limits: LimitOptions & { perSecond: number }): Case {
	const { perSecond, burst = perSecond, tooMany = 429, retryAfter } = limits;
	const answer =
		retryAfter === undefined
			? `a bare ${tooMany}`
			: `${tooMany} with \`Retry-After: ${retryAfter}\``;
	return create(name, `takes ${perSecond} a second, ${burst} at once, else ${answer}`, count, {
		options: { limits },
		bestMs: (1_000 * count) / perSecond,
	});
}

/** Returns the namespaces of `count` jobs. Every `nth` job is in the namespace `full`. */
function everyNth(nth: number, count: number): string[] {
	return Array.from({ length: count }, (_, n) => (n % nth === 0 ? 'full' : 'default'));
}

/** Services with different limits and outages. */
export const cases: Case[] = [
	limited('100', 600, { perSecond: 100, burst: 20 }),
	limited('100-retry-after', 600, { perSecond: 100, burst: 20, retryAfter: 1 }),
	limited('200', 1_000, { perSecond: 200, burst: 20 }),
	limited('10', 200, { perSecond: 10 }),
	limited('2', 60, { perSecond: 2 }),
	limited('503', 600, { perSecond: 100, tooMany: 503 }),
	create('four', 'serves four at once, 50 ms each', 1_000, {
		options: { latency: 50, limits: { atOnce: 4 } },
		bestMs: 12_500,
	}),
	create('unlimited', 'answers in 50 ms, without a limit', 3_000, {
		options: { latency: 50 },
		bestMs: 1_500,
	}),
	create('away', 'answers in 50 ms, and is away for 8 s in mid-batch', 600, {
		options: { latency: 50 },
		away: { afterJobs: 200, forMs: 8_000 },
		bestMs: 8_300,
	}),
	create('full', 'rejects each tenth for good, `Retry-After: 3600`', 200, {
		task: { namespaces: everyNth(10, 200) },
		creates: 'full',
	}),
	create('half-full', 'rejects each second for good, `Retry-After: 3600`', 2_000, {
		task: { namespaces: everyNth(2, 2_000) },
		creates: 'full',
	}),
	create('eighty', 'answers in 300 ms; one execution for each job', 80, {
		task: { isOneEach: true },
		options: { latency: 300 },
	}),
	create('eighty-503', 'the same, and takes ten at once, else a bare 503', 80, {
		task: { isOneEach: true },
		options: { latency: 300 },
		creates: 'tenAtOnce',
	}),
	create('silent', 'falls silent after 20 jobs; Timeout 500 ms', 120, {
		task: { timeout: 500 },
		creates: 'silent',
	}),
	create('always-503', 'answers each create with a bare 503, and lists', 300, { creates: '503' }),
	create('thousand', 'answers at once; one execution for each job', 1_000, {
		task: { isOneEach: true },
	}),
];
