/** The programs that an execution in queue mode costs processor time. */
export const parts = ['worker', 'main', 'postgres', 'redis', 'rest'] as const;
export type Part = (typeof parts)[number];

/** One measurement: so many executions, begun by a webhook, that make so many jobs each. */
export interface Run {
	workers: number;
	jobsEach: number;
	executions: number;
	/** From the first call of the webhook until the last execution has ended. */
	seconds: number;
	/**
	 * Seconds of processor time by the kernel's account. `worker` is all workers together; `rest` is the process
	 * that calls the webhook and is the service.
	 */
	processorTime: Record<Part, number>;
	/**
	 * Seconds of processor time of the one thread that runs JavaScript, in the main process and in all workers
	 * together.
	 */
	threadTime: Record<'worker' | 'main', number>;
	/** Cores that other programs left to this measurement, on average. */
	coresLeft: number;
	/** What the service saw. */
	seen: { jobs: number; requests: number; connections: number };
}

/** How long one execution takes that has everything to itself, with so many jobs, in seconds. */
export interface Alone {
	jobsEach: number;
	seconds: number;
}

/** All that `npm run scaling` has measured, as bench/figures/scaling.json keeps it. */
export interface Figures {
	date: string;
	machine: string;
	cores: number;
	n8n: string;
	/** Executions that a worker has under way at once at most: n8n's setting. */
	concurrency: number;
	/** Milliseconds that the service took for each answer. */
	latency: number;
	/** In all of the measurement. */
	logins: number;
	alone: Alone[];
	runs: Run[];
	/** One worker with other settings of n8n, by what is set. */
	settings: Array<{ env: Record<string, string>; runs: Run[] }>;
}
