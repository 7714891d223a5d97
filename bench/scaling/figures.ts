/** The programs whose processor time an execution in queue mode costs; `rest` is the caller and the service. */
export const parts = ['worker', 'main', 'postgres', 'redis', 'rest'] as const;
export type Part = (typeof parts)[number];

/** The measurement of a number of executions, begun by a webhook, with a number of jobs each. */
export interface Run {
	workers: number;
	jobsEach: number;
	executions: number;
	/** From the first call of the webhook until the last execution has ended. */
	seconds: number;
	/** Seconds of processor time; `worker` is all workers together. */
	processorTime: Record<Part, number>;
	/** The share of it that belongs to the one thread that runs JavaScript. */
	threadTime: Record<'worker' | 'main', number>;
	/** Cores that other programs left to this measurement, on average. */
	coresLeft: number;
	/** The most connections to the service at once. */
	connections: number;
}

/** Everything that `npm run scaling` measures. */
export interface Figures {
	logins: number;
	/** How long an execution takes that runs alone. */
	alone: Array<{ jobsEach: number; seconds: number }>;
	runs: Run[];
}

/** n8n's default for the number of executions that a worker runs at once. */
export const CONCURRENCY = 10;
/** How long the service takes to answer. */
export const LATENCY_MS = 50;
