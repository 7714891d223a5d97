import { runMain } from './main';
import { cases } from './pace/cases';
import { cellOf, type ColumnTitle } from './report/columns';
import { table } from './report/table';
import { runBench } from './runner/commandLine';
import type { Measured } from './runner/runner';

const COLUMNS: ColumnTitle[] = ['seconds', '× at best', 'failed', 'may exist'];

function summaryOf(measured: Measured[]): string {
	return table(
		['The service', ...COLUMNS],
		measured.map((one) => [
			one.of.title,
			...COLUMNS.map((column) => cellOf(one, 'thisNode', column)),
		]),
	);
}

runMain(async () => {
	await runBench({
		command: 'npm run bench:pace',
		about: 'Measures how this node finds the pace of a service: about ten minutes.',
		cases,
		columns: [
			...COLUMNS,
			'turned away',
			'at once at most',
			'others created',
			'loop delay p99 ms',
			'processor ms each',
		],
		summaryOf,
	});
});
