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
	cases: [create(0, 1_000, 5), create(0, 10_000, 3), create(50, 1_000, 3)],
	summaryOf,
});
