import type { TopLevelSpec } from 'vega-lite' with { 'resolution-mode': 'import' };

import { draw } from '../report/plot';

/** What became of a batch at one service. */
export interface Batch {
	service: string;
	contender: string;
	/** Jobs that were made, that may exist, and that were not made. */
	made: number;
	mayExist: number;
	failed: number;
	seconds: number;
}

/** What became of the jobs and how long that took: by service, then by who made them. An SVG. */
export async function plotPace(batches: Batch[]): Promise<string> {
	const values = batches.flatMap(({ service, contender, seconds, ...jobs }) => {
		const { made, mayExist, failed } = jobs;
		const share = 100 / (made + mayExist + failed);
		const time = `${Number(seconds.toPrecision(2))} s`;
		return [
			{ service, contender, time, outcome: 'made', order: 1, percent: made * share },
			{ service, contender, time, outcome: 'may exist', order: 2, percent: mayExist * share },
			{ service, contender, time, outcome: 'failed', order: 3, percent: failed * share },
		];
	});
	const services = [...new Set(batches.map(({ service }) => service))];
	const y = {
		field: 'contender',
		type: 'nominal',
		sort: [...new Set(batches.map(({ contender }) => contender))],
		title: null,
		axis: { labelLimit: 300 },
	} as const;
	const specification: TopLevelSpec = {
		data: { values },
		facet: {
			field: 'service',
			type: 'nominal',
			sort: services,
			title: null,
			header: { labelOrient: 'top', labelAnchor: 'start', labelFontWeight: 'bold' },
		},
		columns: 1,
		spacing: 12,
		spec: {
			width: 420,
			height: { step: 16 },
			layer: [
				{
					mark: 'bar',
					encoding: {
						y,
						x: {
							field: 'percent',
							type: 'quantitative',
							title: '% of the jobs',
							scale: { domain: [0, 100], clamp: true, nice: false },
						},
						order: { field: 'order' },
						color: {
							field: 'outcome',
							type: 'nominal',
							title: null,
							legend: { orient: 'top' },
							scale: {
								domain: ['made', 'may exist', 'failed'],
								range: ['#4c9f70', '#e0a030', '#c94f4f'],
							},
						},
					},
				},
				{
					transform: [{ filter: 'datum.order === 1' }],
					mark: { type: 'text', align: 'left', dx: 6 },
					encoding: { y, x: { datum: 100 }, text: { field: 'time' } },
				},
			],
		},
		resolve: { scale: { y: 'independent' } },
		config: { background: 'white', view: { stroke: null } },
	};
	return await draw(specification);
}
