import type { Figures } from '../figures';
import { contendersList, tablesOf } from './page';

/** What docs/performance.md says of a run. */
export function reportOf(figures: Figures): string {
	const { date, machine, node, n8n } = figures;
	return [
		`Measured on ${date} with n8n ${n8n} on Node ${node}, ${machine}.`,
		'![Time an item, peak memory and delay of the event loop, by number of items](images/performance.svg)',
		tablesOf(figures),
		'## Who takes part',
		contendersList(),
	].join('\n\n');
}
