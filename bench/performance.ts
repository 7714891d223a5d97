import type { Case } from './case';
import { titles, type ContenderName } from './contenders/names';
import { runMain } from './main';
import { cellOf, type ColumnTitle } from './report/columns';
import { table } from './report/table';
import { runBench } from './runner/commandLine';
import type { Measured } from './runner/runner';

const CREATING: ContenderName[] = [
	'thisNode',
	'oneAtATime',
	'httpRequest',
	'httpRequestPlain',
	'bareHelper',
	'bareHelperWithExpression',
	'bareHelperWithCredential',
];

/** The contenders in the table of docs/performance.md. */
const DOCUMENTED: ContenderName[] = ['thisNode', 'oneAtATime', 'httpRequest', 'bareHelper'];

/** The columns of that table: the title, and the case and the column that the values are taken from. */
const SUMMARY: Array<[title: string, name: string, column: ColumnTitle]> = [
	['1,000 at 0 ms', '0ms-1000', 'a second'],
	['10,000 at 0 ms', '0ms-10000', 'a second'],
	['1,000 at 50 ms', '50ms-1000', 'a second'],
	['requests at once, 1,000', '0ms-1000', 'at once at most'],
	['longest pause of n8n in ms, 1,000 at 0 ms', '0ms-1000', 'longest ms'],
];

const cases: Case[] = [
	create(0, 1_000, 5),
	create(0, 10_000, 3),
	create(50, 1_000, 3),
	// The contender oneAtATime would take nine minutes.
	{ ...create(50, 10_000, 1), contenders: CREATING.filter((name) => name !== 'oneAtATime') },
	list(10_000),
	list(100_000),
];

function create(latencyMs: number, count: number, rounds: number): Case {
	return {
		name: `${latencyMs}ms-${count}`,
		title: `creates ${count} jobs, ${latencyMs} ms each`,
		task: { kind: 'create', count },
		service: { options: { latency: latencyMs } },
		contenders: CREATING,
		rounds,
	};
}

function list(count: number): Case {
	return {
		name: `list-${count}`,
		title: `lists ${count} clusters, 100 on a page`,
		task: { kind: 'list', count, pageSize: 100 },
		service: { options: { clusters: count } },
		contenders: ['thisNode', 'httpRequest', 'bareHelper'],
		rounds: 3,
	};
}

async function summaryOf(measured: Measured[]): Promise<string> {
	const named = (name: string) => measured.find(({ of }) => of.name === name);
	const rows = DOCUMENTED.map((contender) => [
		titles[contender],
		...SUMMARY.map(([, name, column]) => cellOf(named(name), contender, column)),
	]);
	return await table(['Jobs a second', ...SUMMARY.map(([title]) => title)], rows);
}

runMain(
	runBench({
		command: 'npm run bench',
		about:
			"Measures this node against other ways to do the same, in n8n's engine: about half an hour.",
		cases,
		columns: [
			'seconds',
			'a second',
			'this node is',
			'failed',
			'processor ms each',
			'logins',
			'at once at most',
			'peak memory MB',
			'the result MB',
			'loop delay p99 ms',
			'longest ms',
		],
		summaryOf,
	}),
);
