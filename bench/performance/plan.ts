import type { ContenderName } from './contenders';

/** A table of the benchmark: contenders that do the same, in rounds, each in its turn. */
export interface Case {
	kind: 'create' | 'list' | 'memory' | 'memoryOfList' | 'concurrency';
	/** Milliseconds that the service holds back every answer. */
	latency: number;
	/** How many jobs are created, or clusters listed. */
	count: number;
	concurrency: number;
	pageSize: number;
	rounds: number;
	contenders: ContenderName[];
	/** Those who would do the same but take too long. */
	leftOut: ContenderName[];
}

/** What is measured. */
export interface Plan {
	cases: Case[];
	/** The case whose time is taken apart; none in a quick run. */
	profiled?: Case;
	/** How often the loading of the package is measured. */
	loads: number;
}

/** How many at once, for those who can't find out. */
const CONCURRENCY = 10;
const PAGE_SIZE = 100;

/** The most seconds that one measurement may take. */
export const MOST_SECONDS = 240;

/** Seconds, roughly, that one at a time takes more than all others together. */
const LONGEST_ONE_AT_A_TIME = 120;

const all: ContenderName[] = [
	'thisNode',
	'httpRequestWithOurs',
	'httpRequestWithPlain',
	'generatedNode',
	'oneAtATime',
	'bareHelper',
	'keepAlive',
];
const alsoCompared: ContenderName[] = ['thisNodeFixed', 'bareHelperWithExpression'];
const listing: ContenderName[] = ['thisNode', 'httpRequestWithOurs', 'bareHelper', 'keepAlive'];

/** Everything that the documentation shows: about forty minutes. */
export const fullPlan: Plan = {
	cases: [
		create({ latency: 0, count: 1, rounds: 1 }),
		create({ latency: 0, count: 100, rounds: 3 }),
		create({ latency: 0, count: 1_000, rounds: 5, also: alsoCompared }),
		create({ latency: 0, count: 10_000, rounds: 5, also: alsoCompared }),
		create({ latency: 50, count: 1, rounds: 1 }),
		create({ latency: 50, count: 100, rounds: 2 }),
		create({ latency: 50, count: 1_000, rounds: 5 }),
		create({ latency: 50, count: 10_000, rounds: 1 }),
		{
			...create({ latency: 0, count: 2_000, rounds: 1 }),
			kind: 'memory',
			contenders: ['thisNode', 'httpRequestWithOurs', 'bareHelper'],
		},
		list({ count: 100, rounds: 3 }),
		list({ count: 10_000, rounds: 3 }),
		list({ count: 100_000, rounds: 3 }),
		list({ count: 100_000, rounds: 1, pageSize: 1_000 }),
		{
			...list({ count: 100_000, rounds: 1 }),
			kind: 'memoryOfList',
			contenders: ['thisNode', 'bareHelper'],
		},
		...curve([1, 2, 5, 10, 20, 50], 2),
	],
	profiled: {
		...create({ latency: 0, count: 10_000, rounds: 1 }),
		contenders: ['thisNode', 'thisNodeFixed', 'bareHelper'],
	},
	loads: 15,
};

/** Enough to see that all is well, and roughly how fast: about three minutes. */
export const quickPlan: Plan = {
	cases: [
		create({ latency: 0, count: 100, rounds: 1 }),
		create({ latency: 0, count: 1_000, rounds: 3, also: alsoCompared }),
		create({ latency: 50, count: 100, rounds: 1 }),
		list({ count: 10_000, rounds: 3 }),
		{ ...list({ count: 10_000, rounds: 1 }), kind: 'memoryOfList' },
	],
	loads: 5,
};

function create({
	latency,
	count,
	rounds,
	also = [],
}: {
	latency: number;
	count: number;
	rounds: number;
	also?: ContenderName[];
}): Case {
	const tooLong = (count * latency) / 1000 > LONGEST_ONE_AT_A_TIME;
	return {
		kind: 'create',
		latency,
		count,
		concurrency: CONCURRENCY,
		pageSize: PAGE_SIZE,
		rounds,
		contenders: [...all.filter((name) => !tooLong || name !== 'oneAtATime'), ...also],
		leftOut: tooLong ? ['oneAtATime'] : [],
	};
}

function list({
	count,
	rounds,
	pageSize = PAGE_SIZE,
}: {
	count: number;
	rounds: number;
	pageSize?: number;
}): Case {
	return {
		kind: 'list',
		latency: 0,
		count,
		concurrency: 1,
		pageSize,
		rounds,
		contenders: listing,
		leftOut: [],
	};
}

/** This node at several concurrencies, with and without latency. */
function curve(concurrencies: number[], rounds: number): Case[] {
	return [0, 50].flatMap((latency) =>
		concurrencies.map(
			(concurrency): Case => ({
				...create({ latency, count: latency === 0 ? 2_000 : 60 * concurrency, rounds }),
				kind: 'concurrency',
				concurrency,
				contenders: ['thisNode'],
				leftOut: [],
			}),
		),
	);
}
