import type { TopLevelSpec } from 'vega-lite' with { 'resolution-mode': 'import' };

import { table } from '../report/table';
import type { Figures, Part, Run } from './figures';
import { parts } from './figures';
import { BUSY, CORES_OF_A_WORKER, CORES_OF_POSTGRES, Model } from './model';

const DAY = 86_400;

/** A number with three digits that count. */
function rounded(value: number): string {
	return Number(value.toPrecision(3)).toLocaleString('en');
}

const perSecond = ({ seen, seconds }: Run) => seen.jobs / seconds;

const inWords = (jobs: number) => (jobs === 1 ? '1 job' : `${jobs} jobs`);

/** What bench/results.md says of a measurement. */
export function measuredOf(figures: Figures): string {
	const { date, machine, n8n, latency } = figures;
	return [
		`Measured on ${date} with n8n ${n8n}, all on one machine (${machine}); the service answered in ${latency} ms ` +
			`and saw ${figures.logins === 1 ? 'one log-in' : `${figures.logins} log-ins`} in all. Jobs a second, from the ` +
			'first call of a webhook to the end of the last execution:',
		throughputTable(figures),
		costsInWords(figures),
		'One worker with other settings, jobs a second:',
		settingsTable(figures),
	].join('\n\n');
}

/** What docs/scaling.md says of it: how many workers it takes. */
export function neededOf(figures: Figures): string {
	return [
		'![Jobs a day by number of workers, as measured and by the model](images/scaling.svg)',
		`Workers with ${CORES_OF_A_WORKER} cores each that it takes, busy for at most ${100 * BUSY} % of the time, ` +
			`beside a PostgreSQL with ${CORES_OF_POSTGRES} cores; in brackets the main process and webhook processors together. ` +
			'"3 ×" is three n8n, each with so many, a PostgreSQL and a Redis:',
		workersTable(figures),
	].join('\n\n');
}

function throughputTable(figures: Figures): string {
	const model = new Model(figures);
	return table(
		[
			'Workers',
			'Jobs in an execution',
			'Measured',
			'By the model',
			'Held up by',
			'Connections at once',
		],
		figures.runs.map((run) => {
			const { jobs, heldUpBy } = model.throughput(run.workers, run.jobsEach, {
				cores: run.coresLeft,
			});
			return [
				String(run.workers),
				String(run.jobsEach),
				rounded(perSecond(run)),
				rounded(jobs),
				heldUpBy,
				String(run.seen.connections),
			];
		}),
	);
}

function costsInWords(figures: Figures): string {
	const model = new Model(figures);
	const titles = {
		worker: 'the worker',
		main: 'the main process',
		postgres: 'PostgreSQL',
		redis: 'Redis',
		rest: 'the caller and the service',
	};
	const cost = (part: Part, size: number) => rounded(1000 * model.cost(part, size));
	const costs = parts.map((part) => `${titles[part]} ${cost(part, 1)} (${cost(part, 100)})`);
	return (
		`An execution of 1 job (of 100) costs, in milliseconds of processor time: ${costs.join(', ')}. At best, one main ` +
		`process holds ${rounded(1 / model.threadCost('main', 1))} executions a second.`
	);
}

function settingsTable({ runs, settings }: Figures): string {
	const row = (title: string, ofOne: Run[]) => {
		const at = [1, 100].map((size) => ofOne.find(({ jobsEach }) => jobsEach === size));
		return [title, ...at.map((run) => run && rounded(perSecond(run)))];
	};
	const titleOf = (env: Record<string, string>) =>
		Object.entries(env)
			.map(([name, value]) => `\`${name}=${value}\``)
			.join(' ');
	return table(
		['Setting', '1 job in an execution', '100 jobs'],
		[
			row(
				"n8n's own",
				runs.filter(({ workers }) => workers === 1),
			),
			...settings.map(({ env, runs: ofOne }) => row(titleOf(env), ofOne)),
		],
	);
}

function workersTable(figures: Figures): string {
	const model = new Model(figures);
	const sizes = [1, 10, 100];
	return table(
		['Jobs a day', ...sizes.map((size) => `${inWords(size)} in an execution`)],
		[1e6, 1e7, 1e8].map((perDay) => [
			perDay.toLocaleString('en'),
			...sizes.map((size) => {
				const { n8ns, workers, mains } = model.fleetFor(perDay / DAY, size);
				return `${n8ns > 1 ? `${n8ns} × ` : ''}${workers} (${mains})`;
			}),
		]),
	);
}

/** Jobs a day by the number of workers, as far as a hundred: what was measured, and what the model says. */
export function plotOf(figures: Figures): TopLevelSpec {
	const model = new Model(figures);
	const counts = [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100];
	const series = [
		{ jobsEach: 1, mains: 1, title: '1 job in an execution, one main process' },
		{ jobsEach: 1, mains: 8, title: '1 job, with seven webhook processors' },
		{ jobsEach: 100, mains: 1, title: '100 jobs in an execution, one main process' },
	];
	const lines = series.flatMap(({ jobsEach, mains, title }) =>
		counts.map((workers) => ({
			workers,
			title,
			jobs: DAY * model.throughput(workers, jobsEach, { mains }).jobs,
		})),
	);
	const here = figures.runs.flatMap((run) => {
		const cores = run.coresLeft;
		const byModel = model.throughput(run.workers, run.jobsEach, { cores }).jobs;
		const common = { workers: run.workers, size: `${inWords(run.jobsEach)} in an execution` };
		return [
			{ ...common, what: 'measured', jobs: DAY * perSecond(run) },
			{ ...common, what: 'by the model', jobs: DAY * byModel },
		];
	});
	const jobsADay = {
		field: 'jobs',
		type: 'quantitative' as const,
		title: 'jobs a day',
		scale: { type: 'log' as const, domain: [1e5, 1e10], clamp: true },
		axis: { format: '~s', values: [1e5, 1e6, 1e7, 1e8, 1e9, 1e10] },
	};
	return {
		background: 'white',
		resolve: { scale: { color: 'independent', shape: 'independent' } },
		hconcat: [
			{
				width: 200,
				height: 300,
				title: `All on one machine with ${figures.cores} cores`,
				data: { values: here },
				mark: { type: 'point', size: 90 },
				encoding: {
					x: { field: 'workers', type: 'ordinal', title: 'workers', axis: { labelAngle: 0 } },
					y: jobsADay,
					color: {
						field: 'size',
						type: 'nominal',
						title: null,
						legend: { orient: 'bottom', columns: 1, labelLimit: 400 },
					},
					shape: {
						field: 'what',
						type: 'nominal',
						title: null,
						scale: { domain: ['measured', 'by the model'], range: ['circle', 'cross'] },
						legend: { orient: 'bottom', columns: 1 },
					},
				},
			},
			{
				width: 420,
				height: 300,
				title: `By the model: each worker with ${CORES_OF_A_WORKER} cores of its own`,
				layer: [
					{
						data: { values: lines },
						mark: { type: 'line', point: true },
						encoding: {
							x: {
								field: 'workers',
								type: 'quantitative',
								title: 'workers',
								scale: { type: 'log', domain: [1, 100] },
								axis: { values: [1, 2, 5, 10, 20, 50, 100] },
							},
							y: jobsADay,
							color: {
								field: 'title',
								type: 'nominal',
								title: null,
								sort: series.map(({ title }) => title),
								legend: { orient: 'bottom', columns: 1, labelLimit: 400 },
							},
						},
					},
					{
						data: { values: [{ jobs: 1e7 }] },
						mark: { type: 'rule', strokeDash: [4, 4], color: 'gray' },
						encoding: { y: { field: 'jobs', type: 'quantitative' } },
					},
				],
			},
		],
	};
}
