import { readFile, writeFile } from 'node:fs/promises';

import type { Figures } from '../figures';
import { contendersList, tablesOf } from './page';

/** What lies between these in a page is written by the benchmark; the rest is written by hand. */
const BEGIN = '<!-- what follows is written by npm run bench -->';
const END = '<!-- what precedes is written by npm run bench -->';

/** Puts the figures of a run in the place that a page has for them. */
export async function writeBetweenMarks(page: string, figures: Figures): Promise<void> {
	const text = await readFile(page, 'utf8');
	const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
	if (begin < 0 || end < begin) throw new Error(`${page} has no place for the figures: ${BEGIN}`);
	const { date, machine, node, n8n } = figures;
	const written = [
		`Measured on ${date} with n8n ${n8n} on Node ${node}, ${machine}.`,
		'![Time an item, peak memory and delay of the event loop, by number of items](images/performance.svg)',
		tablesOf(figures),
		'## Who takes part',
		contendersList(),
	].join('\n\n');
	await writeFile(page, `${text.slice(0, begin)}${BEGIN}\n\n${written}\n\n${text.slice(end)}`);
}
