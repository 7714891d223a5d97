import type { Sandbox, SandboxOptions } from '../sandbox';

/** The contenders, with their titles in the tables. */
export const titles = {
	thisNode: '**this node**',
	oneAtATime: 'one at a time',
	plainCredential: 'three lines, a plain credential',
	httpRequest: 'HTTP Request node, this credential',
	bareHelper: "the engine's bare helper",
} as const;

export type ContenderName = keyof typeof titles;

/** Jobs to create, the service that creates them, and the contenders. A table has a row for each contender. */
export interface Case {
	/** The name of the case on the command line. */
	name: string;
	title: string;
	task: Task;
	service: Service;
	contenders: ContenderName[];
	/** How often each contender is measured. */
	rounds: number;
	/** Milliseconds that the task takes if the service is always busy and refuses no request; undefined if unknown. */
	bestMs?: number;
}

/** Creates one job for each item. */
export interface Task {
	count: number;
	/** The namespace of each item's job. By default, `default`. */
	namespaces?: string[];
	/** Whether each item has its own execution. All executions then start at the same time. */
	isOneEach?: boolean;
	/** The option Timeout of this node, in milliseconds. */
	timeout?: number;
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
