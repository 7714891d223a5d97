import type { ContenderName } from '../contenders';
import type { Figures, Measured, Sample } from '../figures';
import { cpuEach, medianOf, perSecond, ratio, spreadOf } from '../figures';
import type { Case } from '../plan';
import { number } from './format';
import { table } from '../../report/table';

/** Something that the benchmark must show. */
interface Target {
	what: string;
	wanted: string;
	/** What was measured; undefined where this run did not measure it. */
	value: number | undefined;
	reached: (value: number) => boolean;
	/** The same by the processor time of each, which other work on the machine touches less. */
	byProcessor?: number | undefined;
}

const atLeast = (least: number) => (value: number) => value >= least;
const atMost = (most: number) => (value: number) => value <= most;

/** The targets, what was measured of each, and whether it is reached. */
export function targetsTable(figures: Figures): string {
	return table(
		['Target', 'wanted', 'measured', '', 'by processor time'],
		targets(figures)
			.filter(({ value }) => value !== undefined)
			.map(({ what, wanted, value = NaN, reached, byProcessor }) => [
				what,
				wanted,
				number(value),
				reached(value) ? 'reached' : '**not reached**',
				byProcessor === undefined ? '' : number(byProcessor),
			]),
	);
}

function targets(figures: Figures): Target[] {
	const find = (of: Partial<Case>) =>
		figures.measured.find((measured) =>
			Object.entries(of).every(([key, value]) => measured.of[key as keyof Case] === value),
		);
	const creates = (count: number, latency: number) => find({ kind: 'create', count, latency });
	const loopDelay = ({ delayP99 }: Sample) => delayP99;
	const list = find({ kind: 'list', count: 100_000, pageSize: 100 });
	const listInUse = find({ kind: 'memoryOfList', count: 100_000 });
	return [
		...[1_000, 10_000].flatMap((count): Target[] => [
			{
				what: `${number(count)} creates at 0 ms, against the engine's bare helper, both with one expression an item`,
				wanted: 'at least 0.95 ×',
				...compare(creates(count, 0), 'thisNode', 'bareHelperWithExpression'),
				reached: atLeast(0.95),
			},
			{
				what: '– where neither evaluates an expression',
				wanted: 'at least 0.95 ×',
				...compare(creates(count, 0), 'thisNodeFixed', 'bareHelper'),
				reached: atLeast(0.95),
			},
			{
				what: `${number(count)} creates at 0 ms, against HTTP Request with a plain credential`,
				wanted: 'at least 1 ×',
				...compare(creates(count, 0), 'thisNode', 'httpRequestWithPlain'),
				reached: atLeast(1),
			},
		]),
		{
			what: '1,000 creates at 50 ms, against HTTP Request with a plain credential',
			wanted: 'at least 1 ×',
			...compare(creates(1_000, 50), 'thisNode', 'httpRequestWithPlain'),
			reached: atLeast(1),
		},
		{
			what: '– against HTTP Request with the credential of this package',
			wanted: 'at least 0.9 ×',
			...compare(creates(1_000, 50), 'thisNode', 'httpRequestWithOurs'),
			reached: atLeast(0.9),
		},
		{
			what: '1,000 creates at 50 ms, against one at a time',
			wanted: 'at least 9 ×',
			...compare(creates(1_000, 50), 'thisNode', 'oneAtATime', { byProcessor: false }),
			reached: atLeast(9),
		},
		{
			what: 'log-ins for 10,000 creates',
			wanted: '1',
			value: highest(creates(10_000, 0), ({ logins }) => logins),
			reached: atMost(1),
		},
		{
			what: 'the most requests at once, in any run',
			wanted: 'at most 100',
			value: Math.max(
				...figures.measured
					.filter(({ of }) => of.kind === 'create')
					.map((measured) => highest(measured, ({ requestsAtOnce }) => requestsAtOnce) ?? 0),
			),
			reached: atMost(100),
		},
		{
			what: '100,000 clusters, time against a bare loop over the pages',
			wanted: 'at most 1.15 ×',
			...compare(list, 'bareHelper', 'thisNode'),
			reached: atMost(1.15),
		},
		{
			what: '100,000 clusters, memory in use at the most against that of the result',
			wanted: 'at most 2 ×',
			value: highest(listInUse, ({ peakInUse = NaN, resultMemory }) => peakInUse / resultMemory),
			reached: atMost(2),
		},
		...[1_000, 10_000].map(
			(count): Target => ({
				what: `${number(count)} creates at 0 ms, the event loop's p99 delay in ms`,
				wanted: 'below 15',
				value: medianOf(creates(count, 0), 'thisNode', loopDelay),
				reached: (value) => value < 15,
			}),
		),
		{
			what: 'time an item at 10,000 creates against that at 100',
			wanted: 'at most 1.1 ×',
			value: ratio(
				medianOf(creates(100, 0), 'thisNode', perSecond),
				medianOf(creates(10_000, 0), 'thisNode', perSecond),
			),
			reached: atMost(1.1),
		},
		{
			what: 'milliseconds to load the package',
			wanted: 'under 10',
			value: spreadOf(figures.package.loadTimes).median,
			reached: (value) => value < 10,
		},
		{
			what: 'kB of the package, unpacked',
			wanted: 'under 130',
			value: figures.package.unpackedSize / 1000,
			reached: (value) => value < 130,
		},
	];
}

/** How many times as fast one contender is as another, and how many times as cheap. */
function compare(
	measured: Measured | undefined,
	one: ContenderName,
	other: ContenderName,
	{ byProcessor = true } = {},
): Pick<Target, 'value' | 'byProcessor'> {
	return {
		value: ratio(medianOf(measured, one, perSecond), medianOf(measured, other, perSecond)),
		...(byProcessor && {
			byProcessor: ratio(medianOf(measured, other, cpuEach), medianOf(measured, one, cpuEach)),
		}),
	};
}

function highest(measured: Measured | undefined, figure: (sample: Sample) => number) {
	const samples = measured?.samples.thisNode;
	return samples === undefined ? undefined : spreadOf(samples.map(figure)).highest;
}
