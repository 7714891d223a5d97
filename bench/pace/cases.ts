import type { LimitOptions } from '../../sandbox';
import type { Case, CreateTask, Service } from '../case';
import type { ContenderName } from '../contenders/names';

const ALL: ContenderName[] = ['httpRequest', 'httpRequestInBatches', 'loopWithWait'];
const UNLIMITED: ContenderName[] = ['tenAtOnce', 'httpRequest'];

/** A case is measured three times if it can be done in less than this. */
const SHORT_MS = 5_000;

interface Details extends Pick<Case, 'bestMs'>, Service {
	task?: Omit<CreateTask, 'kind' | 'count'>;
	/** What is measured beside this node. */
	beside?: ContenderName[];
}

function create(name: string, title: string, count: number, details: Partial<Details>): Case {
	const { task, bestMs, beside = [], options = {}, ...service } = details;
	return {
		name,
		title,
		task: { kind: 'create', count, ...task },
		service: { options, ...service },
		contenders: ['thisNode', ...beside],
		rounds: bestMs !== undefined && bestMs < SHORT_MS ? 3 : 1,
		...(bestMs !== undefined && { bestMs }),
	};
}

function limited(
	name: string,
	count: number,
	limits: LimitOptions & { perSecond: number },
	beside: ContenderName[] = [],
): Case {
	const { perSecond, burst = perSecond, tooMany = 429, retryAfter } = limits;
	const batchSize = burst === 1 ? 1 : Math.max(1, perSecond / 10);
	// A bare 503 needs some room.
	const batchInterval = ((burst === 1 ? 1_500 : 1_000) * batchSize) / perSecond;
	const answer =
		retryAfter === undefined
			? `a bare ${tooMany}`
			: `${tooMany} with \`Retry-After: ${retryAfter}\``;
	const title = `takes ${perSecond} a second, ${burst} at once, else ${answer}; ${count} jobs`;
	return create(name, title, count, {
		options: { limits },
		bestMs: (1_000 * count) / perSecond,
		task: { batching: { batchSize, batchInterval }, loop: { batchSize: perSecond, seconds: 1 } },
		beside,
	});
}

function behindNginx(perSecond: number, count: number, burst: number, status: 429 | 503): Case {
	const title = `nginx: \`limit_req\` ${perSecond}r/s, burst ${burst}, ${status}; ${count} jobs`;
	return create(`nginx-${perSecond}-${status}`, title, count, {
		nginx: { rate: `${perSecond}r/s`, burst: burst === 0 ? '' : `burst=${burst} nodelay`, status },
		bestMs: (1_000 * count) / perSecond,
	});
}

function unlimited(latencyMs: number, count: number, beside = UNLIMITED): Case {
	const name = `${latencyMs}ms${count > 1_000 ? `-${count}` : ''}`;
	return create(name, `answers in ${latencyMs} ms, without a limit; ${count} jobs`, count, {
		options: { latency: latencyMs },
		bestMs: (count * latencyMs) / 100,
		beside,
	});
}

function away(name: string, latencyMs: number, beside: ContenderName[]): Case {
	const title = `answers in ${latencyMs} ms, and is away for 8 s in mid-batch; 600 jobs`;
	return create(name, title, 600, {
		options: { latency: latencyMs },
		away: { afterJobs: 200, forMs: 8_000 },
		bestMs: 8_000 + 6 * latencyMs,
		beside,
	});
}

function cutting(connections: number, count: number): Case {
	const title = `takes ${connections} connections, cuts off others, 50 ms; ${count} jobs`;
	const options = { latency: 50, limits: { connections } };
	return create(`cuts-${connections}`, title, count, { options });
}

/** The namespaces of one execution. */
function namespaces(count: number, namespaceOf: (n: number) => string): string[] {
	return Array.from({ length: count }, (_, n) => namespaceOf(n));
}

/** The services whose pace is to be found out. */
export const cases: Case[] = [
	limited('100', 600, { perSecond: 100, burst: 20 }, ALL),
	limited('100-retry-after', 600, { perSecond: 100, burst: 20, retryAfter: 1 }, ALL),
	limited('200', 1_000, { perSecond: 200, burst: 20 }),
	limited('100-evenly', 600, { perSecond: 100, burst: 1 }),
	behindNginx(100, 600, 20, 429),
	behindNginx(100, 600, 20, 503),
	behindNginx(50, 300, 0, 429),
	limited('10', 200, { perSecond: 10 }, ALL),
	limited('2', 60, { perSecond: 2 }, ALL),
	limited('503', 600, { perSecond: 100, tooMany: 503 }, ALL),
	limited('503-evenly', 600, { perSecond: 100, burst: 1, tooMany: 503 }, ALL.slice(0, 2)),
	unlimited(0, 1_000),
	unlimited(0, 10_000, ['tenAtOnce']),
	unlimited(50, 1_000),
	unlimited(50, 3_000),
	create('concurrency-300', 'answers in 50 ms; Options › Concurrency is 300; 1000 jobs', 1_000, {
		task: { concurrency: 300 },
		options: { latency: 50 },
		bestMs: 500,
	}),
	unlimited(300, 1_000),
	unlimited(300, 3_000),
	create('four', 'serves four at once, 50 ms each; 1000 jobs', 1_000, {
		task: {
			batching: { batchSize: 4, batchInterval: 50 },
			loop: { batchSize: 8, seconds: 0.02 },
		},
		options: { latency: 50, limits: { atOnce: 4 } },
		bestMs: 12_500,
		beside: ALL,
	}),
	away('away', 50, UNLIMITED),
	away('away-0ms', 0, []),
	create('always-away', "isn't there; 20000 jobs", 20_000, {
		away: 'always',
		beside: ['httpRequest'],
	}),
	create('ten-executions', 'answers in 50 ms; ten executions at once, 200 jobs each', 200, {
		task: { executions: 10 },
		options: { latency: 50 },
		bestMs: 1_000,
		beside: UNLIMITED,
	}),
	create('full', 'rejects the first 15 of 300 for good, `Retry-After: 60`', 300, {
		task: { namespaces: [namespaces(300, (n) => (n < 15 ? 'full' : 'default'))] },
		plan: 'fullForAMinute',
	}),
	create('full-for-an-hour', 'rejects each tenth of 200 for good, `Retry-After: 3600`', 200, {
		task: { namespaces: [namespaces(200, (n) => (n % 10 === 0 ? 'full' : 'default'))] },
		plan: 'fullForAnHour',
	}),
	create('beside-full', '300 beside an execution that has 15 rejected as in `full`', 300, {
		task: {
			executions: 2,
			namespaces: [
				namespaces(300, (n) => (n < 15 ? 'full' : 'neighbour')),
				namespaces(300, () => 'default'),
			],
		},
		plan: 'fullForAMinute',
	}),
	cutting(5, 300),
	cutting(20, 600),
	create('a-tenth', 'answers in 50 ms, rejects a tenth by chance, a bare 429; 600 jobs', 600, {
		options: { latency: 50 },
		plan: 'aTenth',
	}),
	create('window', 'takes 50 in each 500 ms, else 429 with a date; 600 jobs', 600, {
		plan: 'window',
		bestMs: 6_000,
	}),
	create('congested', 'takes 20 ms + n²/2 with n open requests; 600 jobs', 600, {
		plan: 'congested',
		bestMs: 3_800,
	}),
];
