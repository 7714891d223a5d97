import type { Target } from '../sandbox/messages';

/** What a contender is to do. */
export type Task = CreateTask | ListTask;

/** Create so many jobs, each of an item of its own. */
export interface CreateTask {
	kind: 'create';
	count: number;
	/** How many at once, for those who can be told. */
	concurrency: number;
	/** Whether this node finds out by itself how many at once are best. */
	paced: boolean;
}

/** List all clusters that there are. */
export interface ListTask {
	kind: 'list';
	pageSize: number;
}

/** Does a task at a sandbox, and gives the jobs or the clusters that came of it. */
export type Perform = (task: Task, target: Target) => Promise<readonly unknown[]>;

/** One way to do the task. */
export interface Contender {
	/** As the tables call it. */
	title: string;
	/** What it is, in a sentence for the reader of the tables. */
	about: string;
	/** Gets ready whatever can be ready before the task is known. */
	load: () => Promise<Perform>;
}

/** The task was none that the contender does. */
export function cannot(task: Task): never {
	throw new Error(`It has no way to ${task.kind}`);
}
