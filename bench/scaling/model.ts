import { parts, type Figures, type Part, type Run } from './figures';

/**
 * What an n8n in queue mode can hold, by simple arithmetic on what was measured with one worker:
 *
 * - An execution with n jobs costs each part a fixed amount of processor time and an amount for each job. Two
 *   measurements, with different n, give both.
 * - One thread of a process of n8n runs all its JavaScript, and can't do more than a second's worth of work in a
 *   second. Nor can a worker have more executions under way than its concurrency.
 * - What holds up the whole is whichever part has no time left first.
 */
export class Model {
	constructor(private readonly figures: Figures) {}

	/** Seconds of processor time that an execution with so many jobs costs a part. */
	cost(part: Part, jobsEach: number): number {
		return this.line(jobsEach, (run) => run.processorTime[part] / run.executions);
	}

	/** Seconds of it that are the JavaScript thread's. */
	threadCost(part: 'worker' | 'main', jobsEach: number): number {
		return this.line(jobsEach, (run) => run.threadTime[part] / run.executions);
	}

	/** Seconds that an execution with so many jobs takes when it has everything to itself. */
	alone(jobsEach: number): number {
		const [one, other] = this.figures.alone;
		if (one === undefined || other === undefined) throw new Error('Nothing was measured alone');
		return through([one.jobsEach, one.seconds], [other.jobsEach, other.seconds], jobsEach);
	}

	/** What the service is sent for each job: the create, and whatever else its workflow asks. */
	requestsPerJob(jobsEach: number): number {
		return this.line(jobsEach, ({ seen, executions }) => seen.requests / executions) / jobsEach;
	}

	/**
	 * Executions a second that each part could hold if the others held any number.
	 */
	limits(workers: number, jobsEach: number, { cores, mains = 1 }: Setting = {}): Limits {
		const cost = (part: Part) => this.cost(part, jobsEach);
		const inAll = parts.reduce((sum, part) => sum + cost(part), 0);
		const aWorkers = Math.max(
			this.threadCost('worker', jobsEach),
			cores === undefined ? cost('worker') / CORES_OF_A_WORKER : 0,
		);
		return {
			"the workers' JavaScript": workers / aWorkers,
			"the workers' concurrency": (workers * this.figures.concurrency) / this.alone(jobsEach),
			'the main process': mains / this.threadCost('main', jobsEach),
			PostgreSQL: (cores ?? CORES_OF_POSTGRES) / cost('postgres'),
			Redis: 1 / cost('redis'),
			...(cores !== undefined && { "the machine's cores": cores / inAll }),
		};
	}

	/** Executions a second that the whole can hold, and what holds it up. */
	throughput(workers: number, jobsEach: number, setting?: Setting): Throughput {
		const limits = Object.entries(this.limits(workers, jobsEach, setting));
		const [first = ['nothing', Infinity] as const, ...rest] = limits;
		const [heldUpBy, executions] = rest.reduce<readonly [string, number]>(
			(least, limit) => (limit[1] < least[1] ? limit : least),
			first,
		);
		return { executions, jobs: executions * jobsEach, heldUpBy };
	}

	/**
	 * The fewest workers, each busy for no more than a share of its time, that make so many jobs a second.
	 * @returns undefined where something else holds them up, however many they are
	 */
	workersFor(jobsPerSecond: number, jobsEach: number, setting?: Setting): number | undefined {
		const wanted = jobsPerSecond / BUSY;
		for (let workers = 1; workers <= MOST_WORKERS; workers += 1) {
			if (this.throughput(workers, jobsEach, setting).jobs >= wanted) return workers;
		}
		return undefined;
	}

	/**
	 * The fewest n8n in queue mode, each with a PostgreSQL and a Redis of its own, that make so many jobs a second
	 * between them; and the processes that each of them takes.
	 */
	fleetFor(jobsPerSecond: number, jobsEach: number): Fleet {
		for (let n8ns = 1; ; n8ns += 1) {
			const executions = jobsPerSecond / n8ns / jobsEach;
			const mains = Math.ceil((executions * this.threadCost('main', jobsEach)) / BUSY);
			const workers = this.workersFor(jobsPerSecond / n8ns, jobsEach, { mains });
			if (workers !== undefined && workers + mains <= MOST_PROCESSES)
				return { n8ns, workers, mains };
		}
	}

	/** A figure of the runs with one worker, as a line over the number of jobs in an execution. */
	private line(jobsEach: number, figure: (run: Run) => number): number {
		const [one, other] = this.figures.runs.filter(({ workers }) => workers === 1);
		if (one === undefined || other === undefined) throw new Error('Too little was measured');
		return through([one.jobsEach, figure(one)], [other.jobsEach, figure(other)], jobsEach);
	}
}

/** Where the parts run. */
export interface Setting {
	/** Of the one machine that all parts share; where it is left out, each part has a machine of its own. */
	cores?: number;
	/** How many processes take what begins an execution: the main one, and n8n's webhook processors. */
	mains?: number;
}

/** Several n8n that know nothing of each other, and the processes of each. */
export interface Fleet {
	n8ns: number;
	workers: number;
	/** The main process and webhook processors. */
	mains: number;
}

/** Executions a second, by what can't do more. */
export type Limits = Record<string, number>;

/** What the whole can hold, a second. */
export interface Throughput {
	executions: number;
	jobs: number;
	heldUpBy: string;
}

/**
 * Cores that a worker has to itself, where it is not on one machine with all others: beside its JavaScript it
 * makes an isolated environment for the expressions of each execution, on threads of their own.
 */
export const CORES_OF_A_WORKER = 2;

/** PostgreSQL has a process for each connection; a middling server has so many cores for them. */
export const CORES_OF_POSTGRES = 8;

/** How busy a process may be on average, so that it can take what comes in a busy minute. */
export const BUSY = 0.6;

const MOST_WORKERS = 1000;

/** Processes of n8n that a PostgreSQL with its own settings has connections for: two of a hundred each. */
const MOST_PROCESSES = 48;

/** The value at x of the line through two points, never below that of the lower one. */
function through(
	[x1, y1]: readonly [number, number],
	[x2, y2]: readonly [number, number],
	x: number,
): number {
	const slope = Math.max(0, (y2 - y1) / (x2 - x1));
	return Math.max(y1 + slope * (x - x1), Math.min(y1, y2));
}
