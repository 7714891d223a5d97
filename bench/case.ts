import type { SandboxOptions } from '../sandbox';
import type { ContenderName } from './contenders/names';
import type { NginxLimit } from './service/nginx';
import type { PlanName } from './service/plans';

/** A task at a service, and the contenders that do it: a group of rows in a table. */
export interface Case {
	/** As the command line names it. */
	name: string;
	title: string;
	task: Task;
	service: Service;
	contenders: ContenderName[];
	rounds: number;
	/** How long it takes if nothing is turned away and no time is wasted; left out if unknown. */
	bestMs?: number;
}

export type Task = CreateTask | ListTask;

/** Creates one job for each item. */
export interface CreateTask {
	kind: 'create';
	count: number;
	/** How many executions create `count` jobs each, at the same time. */
	executions?: number;
	/** The namespace of each item's job, by execution; `default` if left out. */
	namespaces?: string[][];
	/** Options › Concurrency of this node, which has none by default. */
	concurrency?: number;
	/** The HTTP Request node's own batching, set as well as possible. */
	batching?: { batchSize: number; batchInterval: number };
	/** A loop with a Wait, set as well as possible. */
	loop?: { batchSize: number; seconds: number };
}

/** Lists all clusters. */
export interface ListTask {
	kind: 'list';
	count: number;
	pageSize: number;
}

export interface Service {
	options: SandboxOptions;
	away?: Away;
	plan?: PlanName;
	/** The limit of an nginx in front of it. */
	nginx?: NginxLimit;
}

/** When the service can't be reached: always, or for a while after a number of jobs. */
export type Away = 'always' | { afterJobs: number; forMs: number };
