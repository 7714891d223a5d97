import type { Sandbox, SandboxOptions } from '../sandbox';
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
	/** Whether each item has an execution of its own, all at once. */
	isOneEach?: true;
	/** Of this node, in milliseconds. */
	timeout?: number;
}

/** Lists all clusters. */
export interface ListTask {
	kind: 'list';
	count: number;
	pageSize: number;
}

/** Where a service is, and who may log in. */
export type Target = Pick<Sandbox, 'url' | 'userName' | 'password'>;

/**
 * How a service answers creates that it doesn't take. `full`: it tells those in the namespace `full` to wait an hour; `503`: it gives
 * all a bare 503; `silent`: it answers nothing after twenty jobs; `tenAtOnce`: it gives the eleventh at once a bare 503.
 */
export type CreateAnswer = 'full' | '503' | 'silent' | 'tenAtOnce';

export interface Service {
	options: SandboxOptions;
	/** When it can't be reached for a while: after a number of jobs. */
	away?: { afterJobs: number; forMs: number };
	creates?: CreateAnswer;
}
