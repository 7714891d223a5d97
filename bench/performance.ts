import { runBench } from './bench';
import { titles, type Case, type ContenderName } from './case';
import { cellOf, table, type Column } from './report';
import type { Measured } from './runner';

const contenders = Object.keys(titles) as ContenderName[];

/** The columns of the table in docs/performance.md: the title, and the case and the column of the values. */
const SUMMARY: Array<[title: string, name: string, column: Column]> = [
	['1,000 at 0 ms', '0ms-1000', 'a second'],
	['10,000 at 0 ms', '0ms-10000', 'a second'],
	['1,000 at 50 ms', '50ms-1000', 'a second'],
	['requests at once, 1,000', '0ms-1000', 'at once at most'],
	['longest pause of n8n in ms, 1,000 at 0 ms', '0ms-1000', 'longest ms'],
	['processor ms each, 2,000 at 0 ms', '0ms-2000', 'processor ms each'],
	['the same, 1,000 executions', '0ms-1000-executions', 'processor ms each'],
];

function create(latencyMs: number, count: number, rounds: number): Case {
	return {
		name: `${latencyMs}ms-${count}`,
		title: `creates ${count} jobs, ${latencyMs} ms each`,
		task: { count },
		service: { options: { latency: latencyMs } },
		contenders,
		rounds,
	};
}

const oneEach: Case = {
	name: '0ms-1000-executions',
	title: 'creates 1000 jobs, one execution for each, 0 ms each',
	task: { count: 1_000, isOneEach: true },
	service: { options: { latency: 0 } },
	contenders: contenders.filter((name) => name !== 'httpRequest'),
	rounds: 5,
};

async function summaryOf(measured: Measured[]): Promise<string> {
	const named = (name: string) => measured.find(({ of }) => of.name === name);
	const rows = contenders.map((contender) => [
		titles[contender],
		...SUMMARY.map(([, name, column]) => cellOf(named(name), contender, column)),
	]);
	return await table(['Jobs a second', ...SUMMARY.map(([title]) => title)], rows);
}

void runBench({
	command: 'npm run bench',
	about: "Measures this node against other ways to do the same, in n8n's engine: about 15 minutes.",
	cases: [
		create(0, 1_000, 5),
		create(0, 2_000, 5),
		create(0, 10_000, 3),
		create(50, 1_000, 3),
		oneEach,
	],
	summaryOf,
});
