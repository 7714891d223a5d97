import type { ContenderName } from '../contenders';
import { contenderNames, contenders } from '../contenders';
import type { Figures, Measured, Sample } from '../figures';
import { cpuEach, medianOf, perSecond, ratio } from '../figures';
import { megabytes, number, times, withSpread } from './format';
import type { Cell } from '../../report/table';
import { table } from '../../report/table';

/** The contenders whose figures the page shows; the tables have all. */
const SHOWN: ContenderName[] = [
	'thisNode',
	'oneAtATime',
	'httpRequestWithOurs',
	'httpRequestWithPlain',
	'generatedNode',
	'bareHelper',
];

/** The figures of a run that say most, a row a contender. */
export function summaryTable({ measured }: Figures): string {
	const creates = (count: number, latency: number) =>
		measured.find(({ of }) => of.kind === 'create' && of.count === count && of.latency === latency);
	const figure = (
		one: Measured | undefined,
		name: ContenderName,
		of: (sample: Sample) => number,
	) => {
		const median = medianOf(one, name, of);
		return median === undefined ? undefined : number(median);
	};
	return table(
		[
			'Jobs a second',
			'1,000 at 0 ms',
			'10,000 at 0 ms',
			'1,000 at 50 ms',
			'connections at once, 1,000',
			'longest pause of n8n, 1,000 at 0 ms',
		],
		SHOWN.map((name) => [
			contenders[name].title,
			figure(creates(1_000, 0), name, perSecond),
			figure(creates(10_000, 0), name, perSecond),
			figure(creates(1_000, 50), name, perSecond),
			figure(creates(1_000, 0), name, ({ connectionsAtOnce }) => connectionsAtOnce),
			`${figure(creates(1_000, 0), name, ({ delayMax }) => delayMax)} ms`,
		]),
	);
}

/** What creating so many jobs cost each contender. */
export function createTable(measured: Measured): string {
	const { count } = measured.of;
	return table(
		[
			`${number(count)} ${count === 1 ? 'create' : 'creates'}, ${measured.of.latency} ms`,
			'a second',
			'this node is',
			'processor ms each',
			'log-ins',
			'connections at once',
			'peak memory MB',
			'loop delay p99 ms',
			'longest ms',
		],
		rows(measured, (samples, speedup) => [
			withSpread(samples.map(perSecond)),
			speedup,
			withSpread(samples.map(cpuEach)),
			withSpread(samples.map(({ logins }) => logins)),
			withSpread(samples.map(({ connectionsAtOnce }) => connectionsAtOnce)),
			withSpread(samples.map(({ peakMemory }) => megabytes(peakMemory))),
			withSpread(samples.map(({ delayP99 }) => delayP99)),
			withSpread(samples.map(({ delayMax }) => delayMax)),
		]),
	);
}

/** What listing so many clusters cost each contender. */
export function listTable(measured: Measured): string {
	return table(
		[
			`${number(measured.of.count)} clusters, ${number(measured.of.pageSize)} a page`,
			'ms',
			'this node is',
			'requests',
			'peak memory MB',
			'the result MB',
			'loop delay p99 ms',
		],
		rows(measured, (samples, speedup) => [
			withSpread(samples.map(({ elapsed }) => elapsed)),
			speedup,
			withSpread(samples.map(({ requests }) => requests)),
			withSpread(samples.map(({ peakMemory }) => megabytes(peakMemory))),
			withSpread(samples.map(({ resultMemory }) => megabytes(resultMemory))),
			withSpread(samples.map(({ delayP99 }) => delayP99)),
		]),
	);
}

/** How much memory was in use at the most, where garbage is collected all the time. */
export function memoryTable(measured: Measured): string {
	return table(
		[
			`${number(measured.of.count)} ${measured.of.kind === 'memory' ? 'creates' : 'clusters'}`,
			'in use at most, MB',
			'the result, MB',
			'ratio',
		],
		rows(measured, (samples) => {
			const [sample] = samples;
			if (sample?.peakInUse === undefined) return [];
			return [
				number(megabytes(sample.peakInUse)),
				number(megabytes(sample.resultMemory)),
				sample.resultMemory > 1e6 ? times(sample.peakInUse / sample.resultMemory) : undefined,
			];
		}),
	);
}

/** What this node does at several concurrencies. */
export function concurrencyTable(measured: Measured[]): string {
	const of = (concurrency: number, latency: number) =>
		measured.find((one) => one.of.concurrency === concurrency && one.of.latency === latency);
	const concurrencies = [...new Set(measured.map((one) => one.of.concurrency))];
	const figures = (one: Measured | undefined): Cell[] => {
		const samples = one?.samples.thisNode;
		return samples === undefined
			? [undefined, undefined]
			: [withSpread(samples.map(perSecond)), withSpread(samples.map(({ delayP99 }) => delayP99))];
	};
	return table(
		['Concurrency', '0 ms: a second', 'loop delay p99 ms', '50 ms: a second', 'loop delay p99 ms'],
		concurrencies.map((concurrency) => [
			String(concurrency),
			...figures(of(concurrency, 0)),
			...figures(of(concurrency, 50)),
		]),
	);
}

/** Where the time goes, a column a contender. */
export function sharesTable(shares: NonNullable<Figures['shares']>): string {
	const names = contenderNames.filter((name) => shares[name] !== undefined);
	const parts = [...new Set(names.flatMap((name) => Object.keys(shares[name] ?? {})))];
	return table(
		['Share of the time of 10,000 creates', ...names.map((name) => contenders[name].title)],
		parts.map((part) => [
			part,
			...names.map((name) => `${number(100 * (shares[name]?.[part] ?? 0))} %`),
		]),
	);
}

/** What the package costs before it does anything. */
export function packageTable({ package: figures }: Figures): string {
	return table(
		['The package', ''],
		[
			['time to load, ms', withSpread(figures.loadTimes)],
			['memory when loaded, MB', withSpread(figures.loadMemory.map(megabytes))],
			['unpacked, kB', number(figures.unpackedSize / 1000)],
			['files', String(figures.files)],
		],
	);
}

function rows(measured: Measured, cells: (samples: Sample[], speedup: Cell) => Cell[]): Cell[][] {
	const own = medianOf(measured, 'thisNode', perSecond);
	const row = (name: ContenderName): Cell[] => {
		const samples = measured.samples[name];
		const { title } = contenders[name];
		if (samples === undefined) return [`${title}: ${problemOf(measured, name)}`];
		const speedup =
			name === 'thisNode' ? '' : times(ratio(own, medianOf(measured, name, perSecond)));
		return [title, ...cells(samples, speedup && `${speedup} as fast`)];
	};
	return [...measured.of.contenders, ...measured.of.leftOut].map(row);
}

function problemOf({ problems, of }: Measured, name: ContenderName): string {
	return of.leftOut.includes(name)
		? 'left out, takes too long'
		: (problems[name] ?? 'not measured');
}
