import type { Sandbox, SandboxOptions } from '../sandbox';
import type { ContenderName } from './contenders/names';

/** A task, the service that it uses, and the contenders that do the task. A table has a group of rows for each case. */
export interface Case {
	/** The name of the case on the command line. */
	name: string;
	title: string;
	task: Task;
	service: Service;
	contenders: ContenderName[];
	rounds: number;
	/** Milliseconds that the task takes if the service is always busy and refuses no request; undefined if unknown. */
	bestMs?: number;
}

export type Task = CreateTask | ListTask;

/** Creates one job for each item. */
export interface CreateTask {
	kind: 'create';
	count: number;
	/** The namespace of each item's job. By default, `default`. */
	namespaces?: string[];
	/** Whether each item has its own execution. All executions then start at the same time. */
	isOneEach?: true;
	/** The option Timeout of this node, in milliseconds. */
	timeout?: number;
}

/** Lists all clusters. */
export interface ListTask {
	kind: 'list';
	count: number;
	pageSize: number;
}

/** The address of a service, and the user that can log in. */
export type Target = Pick<Sandbox, 'url' | 'userName' | 'password'>;

/**
 * Which requests the service refuses:
 *
 * - `full`: creates in the namespace `full` get a 429 with a Retry-After of an hour
 * - `503`: all creates get a 503 without a Retry-After
 * - `silent`: once there are twenty jobs, no request gets a response
 * - `tenAtOnce`: while ten creates are processed, other creates get a 503 without a Retry-After
 */
export type CreateAnswer = 'full' | '503' | 'silent' | 'tenAtOnce';

export interface Service {
	options: SandboxOptions;
	/** Makes the service unreachable for `forMs` milliseconds, once it has `afterJobs` jobs. */
	away?: { afterJobs: number; forMs: number };
	creates?: CreateAnswer;
}
