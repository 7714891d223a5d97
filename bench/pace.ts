import { runBench } from './bench';
import { cases } from './paceCases';
import { cellOf, table, type Column } from './report';
import type { Measured } from './runner';

const COLUMNS: Column[] = ['seconds', '× at best', 'may exist'];

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
	const rows = measured.map((one) => [
		one.of.title,
		...COLUMNS.map((column) => cellOf(one, 'thisNode', column)),
	]);
	return [...chartOf(measured), await table(['The service', ...COLUMNS], rows)].join('\n');
}

void runBench({
	command: 'npm run bench:pace',
	about: 'Measures how this node finds the pace of a service: about ten minutes.',
	cases,
	summaryOf,
});
