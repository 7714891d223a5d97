import type { TopLevelSpec } from 'vega-lite' with { 'resolution-mode': 'import' };

import { draw } from '../../report/plot';
import type { ContenderName } from '../contenders';
import { contenders } from '../contenders';
import type { Figures, Sample } from '../figures';
import { spreadOf } from '../figures';
import { megabytes } from './format';

/** The contenders that are drawn, in the order of the legend. */
const DRAWN: ContenderName[] = [
	'thisNode',
	'bareHelper',
	'oneAtATime',
	'httpRequestWithOurs',
	'httpRequestWithPlain',
	'generatedNode',
];

/** One of several that stand side by side. */
type Panel = Extract<TopLevelSpec, { hconcat: unknown }>['hconcat'][number];

/** What grows with the number of items, and what doesn't: an SVG of three panels. */
export async function plot(figures: Figures): Promise<string> {
	return await draw(specOf(figures));
}

function specOf(figures: Figures): TopLevelSpec {
	const points = pointsOf(figures);
	const panel = (title: string, field: string, axis: string): Panel => ({
		width: 230,
		height: 230,
		title,
		mark: { type: 'line', point: true },
		encoding: {
			x: {
				field: 'count',
				type: 'quantitative',
				title: 'creates',
				scale: { type: 'log' },
				axis: { values: [100, 1_000, 10_000], format: ',' },
			},
			y: {
				field,
				type: 'quantitative',
				title: axis,
				scale: { type: 'log' },
				axis: { format: '~g' },
			},
			color: {
				field: 'contender',
				type: 'nominal',
				title: null,
				sort: DRAWN.map(titleOf),
				legend: { orient: 'bottom', columns: 3, labelLimit: 300 },
			},
		},
	});
	return {
		background: 'white',
		data: { values: points },
		hconcat: [
			panel('Time an item, no latency', 'time', 'milliseconds'),
			panel('Peak memory', 'memory', 'megabytes'),
			panel("Event loop's delay, p99", 'delay', 'milliseconds'),
		],
	};
}

function pointsOf(figures: Figures) {
	return figures.measured
		.filter(({ of }) => of.kind === 'create' && of.latency === 0 && of.count >= 100)
		.flatMap(({ of, samples }) =>
			DRAWN.flatMap((name) => {
				const measured = samples[name];
				if (measured === undefined) return [];
				const median = (figure: (sample: Sample) => number) =>
					spreadOf(measured.map(figure)).median;
				return [
					{
						contender: titleOf(name),
						count: of.count,
						time: median(({ elapsed, results }) => elapsed / results),
						memory: Math.max(
							median(({ peakMemory }) => megabytes(peakMemory)),
							1,
						),
						delay: Math.max(
							median(({ delayP99 }) => delayP99),
							1,
						),
					},
				];
			}),
		);
}

function titleOf(name: ContenderName): string {
	return contenders[name].title.replaceAll('*', '');
}
