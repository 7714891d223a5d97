import type { Case } from '../case';
import type { Sample } from '../client/process';
import { titles, type ContenderName } from '../contenders/names';
import type { Measured } from '../runner/runner';
import { medianOf, number, withSpread } from './format';
import { table, type Cell } from './table';

/** The data of a row: the samples of a contender in a case. */
interface Row {
	of: Case;
	name: ContenderName;
	samples: Sample[];
	/** The samples of this node in the same case. */
	own: Sample[] | undefined;
}

const hasEnded = ({ results }: Sample) => results !== undefined;
const hasFailures = ({ failed }: Sample) => failed !== 0;
const elapsedMs = (samples: Sample[]) => samples.map((sample) => sample.elapsedMs);

/** Returns a column that shows the median and the range of a value of each sample. */
function figure(figureOf: (sample: Sample) => number | undefined) {
	return ({ samples }: Row): Cell => {
		const values = samples.map(figureOf).filter((value) => value !== undefined);
		return values.length === 0 ? undefined : withSpread(values);
	};
}

const columns = {
	seconds: ({ samples }: Row) =>
		`${samples.every(hasEnded) ? '' : '> '}${withSpread(elapsedMs(samples).map((ms) => ms / 1_000))}`,
	'× at best': ({ of: { bestMs }, name, samples }: Row) =>
		!bestMs || !samples.every(hasEnded) || (samples.some(hasFailures) && name !== 'thisNode')
			? undefined
			: withSpread(elapsedMs(samples).map((ms) => ms / bestMs)),
	'this node is': ({ name, samples, own }: Row) =>
		name === 'thisNode' || own === undefined || samples.some(hasFailures)
			? ''
			: `${number(medianOf(elapsedMs(samples)) / medianOf(elapsedMs(own)))} × as fast`,
	'a second': figure(({ results, elapsedMs: ms }) => results && (1_000 * results) / ms),
	failed: figure(({ failed }) => failed),
	'may exist': (row: Row) =>
		row.name === 'thisNode' ? figure((of) => of.mayExist)(row) : undefined,
	'turned away': figure(({ turnedAway }) => turnedAway),
	logins: figure(({ logins }) => logins),
	'at once at most': figure(({ atOnce }) => atOnce),
	'others created': (row: Row) => {
		const namespaces = row.of.task.kind === 'create' ? row.of.task.namespaces : undefined;
		const others = namespaces?.filter((namespace) => namespace === 'default').length;
		const seconds = figure(({ lastCreatedMs }) => lastCreatedMs / 1_000)(row);
		return namespaces && `${figure(({ created }) => created)(row)} of ${others} in ${seconds} s`;
	},
	'processor ms each': figure(({ cpuMs, results }) => results && cpuMs / results),
	'peak memory MB': figure(({ peakMemoryBytes }) => peakMemoryBytes / 1e6),
	'the result MB': figure(({ resultBytes }) => resultBytes / 1e6),
	'loop delay p99 ms': figure(({ delayP99Ms }) => delayP99Ms),
	'longest ms': figure(({ longestDelayMs }) => longestDelayMs),
} satisfies Record<string, (row: Row) => Cell>;

export type ColumnTitle = keyof typeof columns;

/** Returns the content of a column for a contender in a case; undefined if the contender wasn't measured. */
export function cellOf(one: Measured | undefined, name: ContenderName, title: ColumnTitle): Cell {
	const samples = one?.problems[name] === undefined ? one?.samples[name] : undefined;
	return samples && one && columns[title]({ of: one.of, name, samples, own: one.samples.thisNode });
}

/** Returns a table in Markdown with a row for each contender of each case. */
export async function tableOf(columnTitles: ColumnTitle[], measured: Measured[]): Promise<string> {
	const rows = measured.flatMap((one) => [
		[`_${one.of.title}_`, ...columnTitles.map(() => '')],
		...one.of.contenders.map((name): Cell[] => {
			const problem = one.problems[name];
			if (problem !== undefined) return [`${titles[name]}: ${problem}`];
			return [titles[name], ...columnTitles.map((title) => cellOf(one, name, title))];
		}),
	]);
	return await table(['', ...columnTitles], rows);
}
