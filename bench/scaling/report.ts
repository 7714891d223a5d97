import { table } from '../report/table';
import { LATENCY_MS, type Figures } from './figures';
import { BUSY, CORES_OF_A_WORKER, CORES_OF_POSTGRES, Model } from './model';

const SECONDS_A_DAY = 86_400;

/** What was measured, beside what the model says of it. */
export function measuredTables(figures: Figures): string {
	const model = new Model(figures);
	const throughput = table(
		['Workers', 'Jobs in each', 'Jobs a second', 'By the model', 'Limited by', 'Connections'],
		figures.runs.map(({ workers, jobsEach, executions, seconds, coresLeft, connections }) => {
			const { jobs, limitedBy } = model.throughput(workers, jobsEach, { cores: coresLeft });
			const perSecond = threeDigits((executions * jobsEach) / seconds);
			const row = [workers, jobsEach, perSecond, threeDigits(jobs), limitedBy, connections];
			return row.map(String);
		}),
	);
	return `${LATENCY_MS} ms for an answer, ${figures.logins} login(s):\n\n${throughput}`;
}

/** How many workers a number of jobs takes by the model, for docs/performance.md. */
export function neededTable(figures: Figures): string {
	const model = new Model(figures);
	const sizes = [1, 10, 100];
	return [
		`Workers needed (${CORES_OF_A_WORKER} cores each, at most ${100 * BUSY} % busy; PostgreSQL with ${CORES_OF_POSTGRES} cores). ` +
			'In brackets: main and webhook processes. "n ×": n separate n8n, each with these workers, a PostgreSQL and a Redis:',
		table(
			['Jobs a day', ...sizes.map((size) => `${size} in each execution`)],
			[1e6, 1e7, 1e8].map((perDay) => [
				perDay.toLocaleString('en'),
				...sizes.map((size) => {
					const { n8ns, workers, mains } = model.fleetFor(perDay / SECONDS_A_DAY, size);
					return `${n8ns > 1 ? `${n8ns} × ` : ''}${workers} (${mains})`;
				}),
			]),
		),
	].join('\n\n');
}

function threeDigits(value: number): string {
	return Number(value.toPrecision(3)).toLocaleString('en');
}
