import type { IExecuteFunctions } from 'n8n-workflow';

import { nameOfExecution } from '../texts';
import { MAX_LISTED, type Summary } from './outcomes';
import { objectSharedByTries } from './retryMemory';

/** The maximum number of jobs in a line of the log. A longer line would be cut off where logs are collected. */
const MAX_LOGGED = 50;

/**
 * The objects shared by tries (`objectSharedByTries`) for which the jobs have already been logged. After a cancel, n8n
 * still begins each try of Retry On Fail, although nothing is sent.
 */
const logged = new WeakSet<object>();

/**
 * Writes the jobs of a cancelled execution to n8n's log and to the browser's console: those that it has created, and
 * those that may exist. This is needed because n8n 2.x drops the error of a cancelled execution.
 */
export function logCreatedJobs(context: IExecuteFunctions, { created, uncertain }: Summary): void {
	if (logged.has(objectSharedByTries(context))) return;
	logged.add(objectSharedByTries(context));
	const items = uncertain.map(({ itemIndex }) => itemIndex);
	const text = (start: number, end: number, more = '') =>
		`${nameOfExecution(context)} was cancelled. Jobs already created: ${JSON.stringify(created.slice(start, end))}. Items whose job may exist: ${JSON.stringify(items.slice(start, end))}${more}`;
	const count = Math.max(created.length, items.length);
	for (let start = 0; start === 0 || start < count; start += MAX_LOGGED) {
		context.logger.warn(text(start, start + MAX_LOGGED));
	}
	const more = `. In n8n's log: all ${created.length} jobs and ${items.length} items`;
	context.sendMessageToUI(text(0, MAX_LISTED, count > MAX_LISTED ? more : ''));
}
