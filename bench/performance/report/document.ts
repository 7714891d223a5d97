import type { Figures } from '../figures';
import { contendersList, tablesOf } from './page';
import { summaryTable } from './tables';

/** What docs/performance.md says of a run. */
export function summaryOf(figures: Figures): string {
	return [
		measuredOn(figures),
		'![Time for each item, peak memory and delay of the event loop, by number of items](images/performance.svg)',
		summaryTable(figures),
	].join('\n\n');
}

/** What bench/results.md says of a run. */
export function allTablesOf(figures: Figures): string {
	return [measuredOn(figures), tablesOf(figures), '## Who takes part', contendersList()].join(
		'\n\n',
	);
}

function measuredOn({ date, machine, node, n8n }: Figures): string {
	return `Measured on ${date} with n8n ${n8n} on Node ${node}, ${machine}.`;
}
