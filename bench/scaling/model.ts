import { CONCURRENCY, parts, type Figures, type Part, type Run } from './figures';

/** Cores that a worker has, unless all share a machine: n8n isolates expressions on threads of their own. */
export const CORES_OF_A_WORKER = 2;
/** Cores of a medium-sized PostgreSQL server, which has a process for each connection. */
export const CORES_OF_POSTGRES = 8;
/** How busy a process may be on average, to have room for a busy minute. */
export const BUSY = 0.6;

const MOST_WORKERS = 1_000;
/** Processes of n8n that PostgreSQL has connections for by default: two of a hundred for each. */
const MOST_PROCESSES = 48;

/** Where the parts run. */
interface Setting {
	/** Of the machine that all parts share; left out if each part has its own. */
	cores?: number;
	/** Processes that begin executions: the main one and webhook processors. */
	mains?: number;
}

/**
 * What an n8n in queue mode can hold, calculated from what was measured with one worker:
 *
 * - An execution with n jobs costs each part a fixed amount of processor time and an amount for each job. Two
 *   measurements, with different n, give both.
 * - One thread of a process of n8n runs all its JavaScript. A worker runs at most as many executions at once as its
 *   concurrency says.
 * - The part that first has no time left limits the whole.
 */
export class Model {
	constructor(private readonly figures: Figures) {}

	/** Seconds of processor time that an execution costs a part. */
	cost(part: Part, jobsEach: number): number {
		return this.line(jobsEach, (run) => run.processorTime[part] / run.executions);
	}

	/** Seconds of the JavaScript thread that an execution costs. */
	threadCost(part: 'worker' | 'main', jobsEach: number): number {
		return this.line(jobsEach, (run) => run.threadTime[part] / run.executions);
	}

	/** Jobs a second that the whole can hold, and the part that limits it. */
	throughput(workers: number, jobsEach: number, { cores, mains = 1 }: Setting = {}) {
		const cost = (part: Part) => this.cost(part, jobsEach);
		const all = parts.reduce((sum, part) => sum + cost(part), 0);
		const ofAWorker = Math.max(
			this.threadCost('worker', jobsEach),
			cores === undefined ? cost('worker') / CORES_OF_A_WORKER : 0,
		);
		const executionsASecond = {
			"the workers' JavaScript": workers / ofAWorker,
			"the workers' concurrency": (workers * CONCURRENCY) / this.secondsAlone(jobsEach),
			'the main process': mains / this.threadCost('main', jobsEach),
			PostgreSQL: (cores ?? CORES_OF_POSTGRES) / cost('postgres'),
			Redis: 1 / cost('redis'),
			"the machine's cores": (cores ?? Infinity) / all,
		};
		const least = Math.min(...Object.values(executionsASecond));
		const limits = Object.entries(executionsASecond).find(([, limit]) => limit === least);
		return { jobs: least * jobsEach, limitedBy: limits?.[0] };
	}

	/**
	 * The fewest n8n in queue mode, each with its own PostgreSQL and Redis, that create a number of jobs a second
	 * together; and the processes of each.
	 */
	fleetFor(jobsPerSecond: number, jobsEach: number) {
		for (let n8ns = 1; ; n8ns += 1) {
			const jobsOfEach = jobsPerSecond / n8ns;
			const busyMain = (jobsOfEach / jobsEach) * this.threadCost('main', jobsEach);
			const mains = Math.ceil(busyMain / BUSY);
			let workers = 1;
			const isEnough = () =>
				this.throughput(workers, jobsEach, { mains }).jobs >= jobsOfEach / BUSY;
			while (workers <= MOST_WORKERS && !isEnough()) workers += 1;
			if (workers + mains <= MOST_PROCESSES) return { n8ns, workers, mains };
		}
	}

	private secondsAlone(jobsEach: number): number {
		const { alone } = this.figures;
		return through(alone, ({ seconds }) => seconds, jobsEach);
	}

	/** A figure of the runs with one worker, as a line over the number of jobs in an execution. */
	private line(jobsEach: number, figure: (run: Run) => number): number {
		const runs = this.figures.runs.filter(({ workers }) => workers === 1);
		return through(runs, figure, jobsEach);
	}
}

/** A figure at a number of jobs, on the line through two measurements, never below the lower one. */
function through<Measured extends { jobsEach: number }>(
	[first, second]: Measured[],
	figure: (measured: Measured) => number,
	jobsEach: number,
): number {
	if (first === undefined || second === undefined) throw new Error('Too little was measured');
	const [low, high] = [figure(first), figure(second)];
	const slope = Math.max(0, (high - low) / (second.jobsEach - first.jobsEach));
	return Math.max(low + slope * (jobsEach - first.jobsEach), Math.min(low, high));
}
