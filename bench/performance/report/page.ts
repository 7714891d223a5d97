import { contenders } from '../contenders';
import type { Figures, Measured } from '../figures';
import type { Case } from '../plan';
import {
	concurrencyTable,
	createTable,
	listTable,
	memoryTable,
	packageTable,
	sharesTable,
} from './tables';
import { targetsTable } from './targets';

/** The tables of a run, as the terminal shows them and the page holds them. */
export function tablesOf(figures: Figures): string {
	return [
		section('What it must show', [targetsTable(figures)]),
		section('Creating jobs', of(figures, 'create').map(createTable)),
		section('Listing clusters', of(figures, 'list').map(listTable)),
		section('Memory in use', [
			...of(figures, 'memory').map(memoryTable),
			...of(figures, 'memoryOfList').map(memoryTable),
		]),
		section('How many at once', curve(of(figures, 'concurrency'))),
		section(
			'Where the time goes',
			figures.shares === undefined ? [] : [sharesTable(figures.shares)],
		),
		section('The package', [packageTable(figures)]),
	]
		.filter((text) => text !== '')
		.join('\n\n');
}

/** What the contenders are. */
export function contendersList(): string {
	return Object.values(contenders)
		.map(({ title, about }) => `- ${title}: ${about}`)
		.join('\n');
}

function of({ measured }: Figures, kind: Case['kind']): Measured[] {
	return measured.filter((one) => one.of.kind === kind);
}

function curve(measured: Measured[]): string[] {
	return measured.length === 0 ? [] : [concurrencyTable(measured)];
}

function section(title: string, parts: string[]): string {
	return parts.length === 0 ? '' : [`## ${title}`, ...parts].join('\n\n');
}
