import type { IExecuteFunctions } from 'n8n-workflow';

import { jobList, nameOfExecution } from '../texts';
import type { Summary } from './outcomes';
import { objectSharedByTries } from './run';

/** The maximum number of jobs in a line of the log. A longer line would be cut off where logs are collected. */
const MAX_LOGGED = 50;

/**
 * The objects shared by tries (`objectSharedByTries`) for which the jobs have already been logged. After a cancel, n8n
 * still begins each try of Retry On Fail, although nothing is sent.
 */
const logged = new WeakSet<object>();

/**
 * Writes the jobs of a cancelled execution to n8n's log: those that it has created, and those that may exist. This is
 * needed because n8n 2.x drops the error of a cancelled execution.
 */
export function logCreatedJobs(context: IExecuteFunctions, { created, uncertain }: Summary): void {
	if (logged.has(objectSharedByTries(context))) return;
	logged.add(objectSharedByTries(context));
	const most = Math.max(created.length, uncertain.length, 1);
	for (let start = 0; start < most; start += MAX_LOGGED) {
		const [made, unclear] = [created, uncertain].map(
			(jobs) => jobList(jobs.slice(start, start + MAX_LOGGED)).join('; ') || 'none',
		);
		context.logger.warn(
			`${nameOfExecution(context)} was cancelled. Jobs already created: ${made}. Jobs that may exist: ${unclear}`,
		);
	}
}
