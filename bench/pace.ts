import { runMain } from './main';
import { cases } from './pace/cases';
import { cellOf, type ColumnTitle } from './report/columns';
import { table } from './report/table';
import { runBench } from './runner/commandLine';
import type { Measured } from './runner/runner';

const COLUMNS: ColumnTitle[] = ['seconds', '× at best', 'may exist'];

/** The case that the chart shows. */
const DRAWN = '100';

/**
 * Returns the lines of a chart in Mermaid's format `xychart-beta`, which GitHub renders. Bars show the jobs created in
 * each second, and a line shows how many the service accepts. Returns no lines if the case wasn't measured.
 */
function chartOf(measured: Measured[]): string[] {
	const drawn = measured.find(({ of }) => of.name === DRAWN);
	const perSecond = drawn?.of.service.options.limits?.perSecond;
	const [sample] = drawn?.samples.thisNode ?? [];
	if (sample === undefined || perSecond === undefined) return [];
	const seconds = sample.createdBySecond.map((_, second) => second + 1);
	return [
		'```mermaid',
		'xychart-beta',
		`    title "A service that takes ${perSecond} a second (line), and jobs created (bars)"`,
		`    x-axis "second" [${seconds.join(', ')}]`,
		'    y-axis "jobs created"',
		`    bar [${sample.createdBySecond.join(', ')}]`,
		`    line [${seconds.map(() => perSecond).join(', ')}]`,
		'```',
		'',
	];
}

async function summaryOf(measured: Measured[]): Promise<string> {
	const rows = measured
		.map((one) => [one.of.title, ...COLUMNS.map((column) => cellOf(one, 'thisNode', column))])
		// A measurement that was ended early has no useful value in these columns.
		.filter(([, seconds = '']) => !seconds.startsWith('>'));
	const seconds = await table(['The service', ...COLUMNS], rows);
	return [...chartOf(measured), seconds].join('\n');
}

runMain(
	runBench({
		command: 'npm run bench:pace',
		about: 'Measures how this node finds the pace of a service: about ten minutes.',
		cases,
		columns: [
			...COLUMNS,
			'failed',
			'turned away',
			'at once at most',
			'others created',
			'loop delay p99 ms',
			'processor ms each',
		],
		summaryOf,
	}),
);
