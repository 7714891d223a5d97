import type { Cost } from './client/messages';
import type { ContenderName } from './contenders';
import type { Case } from './plan';
import type { Seen } from './sandbox/messages';

/** One measurement: what it cost the contender, and what the service saw of it. */
export type Sample = Cost & Seen;

/** What came of a case: the samples of each contender, and why there are none where there are none. */
export interface Measured {
	of: Case;
	samples: Partial<Record<ContenderName, Sample[]>>;
	problems: Partial<Record<ContenderName, string>>;
}

/** What the package costs before it does anything. */
export interface PackageFigures {
	/** Milliseconds, one for each time it was loaded. */
	loadTimes: number[];
	/** Bytes of heap, likewise. */
	loadMemory: number[];
	unpackedSize: number;
	files: number;
}

/** Where the time of a task goes, in shares of the whole. */
export type Shares = Record<string, number>;

/** All that a run of the benchmark found, as bench/figures/performance.json keeps it for another look. */
export interface Figures {
	date: string;
	machine: string;
	node: string;
	n8n: string;
	measured: Measured[];
	/** Where the time of 10,000 creates goes; left out of a quick run. */
	shares?: Partial<Record<ContenderName, Shares>>;
	package: PackageFigures;
}

/** A figure of several rounds. */
export interface Spread {
	median: number;
	lowest: number;
	highest: number;
}

export function spreadOf(values: number[]): Spread {
	const sorted = [...values].sort((a, b) => a - b);
	const at = (index: number) => sorted[index] ?? NaN;
	const half = sorted.length / 2;
	return {
		median: Number.isInteger(half) ? (at(half - 1) + at(half)) / 2 : at(Math.floor(half)),
		lowest: at(0),
		highest: at(sorted.length - 1),
	};
}

/** The median of one figure of a contender; undefined where it was not measured. */
export function medianOf(
	measured: Measured | undefined,
	contender: ContenderName,
	figure: (sample: Sample) => number,
): number | undefined {
	const samples = measured?.samples[contender];
	return samples === undefined ? undefined : spreadOf(samples.map(figure)).median;
}

/** How often one median goes into another. */
export function ratio(a: number | undefined, b: number | undefined): number | undefined {
	return a === undefined || b === undefined || b === 0 ? undefined : a / b;
}

/** Creates, or pages, a second; the log-in and the engine's start are within. */
export const perSecond = ({ results, elapsed }: Sample) => (1000 * results) / elapsed;

/** Milliseconds of processor time for each result. */
export const cpuEach = ({ cpu, results }: Sample) => cpu / results;
