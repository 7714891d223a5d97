import type { SandboxOptions } from '../sandbox';
import type { ContenderName } from './contenders/names';

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
	/** The namespace of each item's job; `default` if left out. */
	namespaces?: string[];
}

/** Lists all clusters. */
export interface ListTask {
	kind: 'list';
	count: number;
	pageSize: number;
}

export interface Service {
	options: SandboxOptions;
	/** When it can't be reached for a while: after a number of jobs. */
	away?: { afterJobs: number; forMs: number };
	/** Whether the namespace `full` takes no more jobs, for longer than a client waits. */
	hasFullNamespace?: true;
}
