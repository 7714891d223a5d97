import type { IExecuteFunctions } from 'n8n-workflow';

import { asPlainText } from '../service/errors/serviceError';
import { MAX_LISTED } from './errors';
import type { ItemOutcomes, ListedJob } from './itemOutcome';
import { createdJobsIn, errorsIn, FROM_ZERO, itemList, uncertainIn } from './itemOutcome';
import { objectSharedByTries } from './retryMemory';

/** More would push the output off the screen. */
const MAX_HINTS = 5;

/** Says above the output which items have failed, which jobs aren't in it, and why a list is empty. */
export function addHints(context: IExecuteFunctions, outcomes: ItemOutcomes): void {
	const ofCalls = outcomes.map((outcome) => outcome && 'hint' in outcome && outcome.hint);
	const given = context.getInputData().length;
	const notGiven = createdJobsIn(outcomes).filter(({ itemIndex }) => itemIndex >= given);
	const hints = new Set([hintOfFailures(outcomes), hintOfJobs(notGiven), ...ofCalls]);
	for (const hint of [...hints].filter((text) => typeof text === 'string').slice(0, MAX_HINTS)) {
		const message = asPlainText(hint);
		context.addExecutionHints({ message, type: 'warning', location: 'outputPane' });
	}
	if (context.getMode() === 'manual' && createdJobsIn(outcomes).length > 0) {
		const message = 'Executing this step again creates another job for each item.';
		context.addExecutionHints({ message, type: 'info', location: 'outputPane' });
	}
}

function hintOfFailures(outcomes: ItemOutcomes): string | undefined {
	const errors = errorsIn(outcomes);
	if (errors.length === 0) return undefined;
	const uncertain = uncertainIn(outcomes);
	const failed =
		outcomes.length === 1
			? 'The item failed.'
			: `${errors.length} of ${outcomes.length} items failed: ${itemList(errors)} ${FROM_ZERO}.`;
	if (uncertain.length === 0) return failed;
	return `${failed} The job may exist for ${itemList(uncertain)}: look for it on the service before you run the item again.`;
}

function hintOfJobs(jobs: ListedJob[]): string | undefined {
	if (jobs.length === 0) return undefined;
	const names = jobs.slice(0, MAX_LISTED).map(({ itemIndex, uid }) => `item ${itemIndex}: ${uid}`);
	if (jobs.length > MAX_LISTED) names.push(`and ${jobs.length - MAX_LISTED} more`);
	return `Jobs of items that this run wasn't given (Execute Once): ${names.join(', ')}.`;
}

/** Jobs in a line of the log: a longer line would be cut where logs are collected. */
const MAX_LOGGED = 50;

/** What was logged already: n8n begins each try of Retry On Fail after a cancel, although nothing is sent. */
const logged = new WeakSet<object>();

/**
 * Says in n8n's log and in the browser's console which jobs a cancelled execution has created: n8n drops what a
 * cancelled node throws (2.x, WorkflowExecute.setupCancellation has already saved the execution).
 */
export function logCreatedJobs(
	context: IExecuteFunctions,
	jobs: object[],
	uncertain: Array<{ itemIndex: number }>,
): void {
	if (logged.has(objectSharedByTries(context))) return;
	logged.add(objectSharedByTries(context));
	const items = uncertain.map(({ itemIndex }) => itemIndex);
	const text = (start: number, end: number, more = '') =>
		`${nameOf(context)} was cancelled. Jobs already created: ${JSON.stringify(jobs.slice(start, end))}. Items whose job may exist: ${JSON.stringify(items.slice(start, end))}${more}`;
	const count = Math.max(jobs.length, items.length);
	for (let start = 0; start === 0 || start < count; start += MAX_LOGGED) {
		context.logger.warn(text(start, start + MAX_LOGGED));
	}
	const more = `. In n8n's log: all ${jobs.length} jobs and ${items.length} items`;
	context.sendMessageToUI(text(0, MAX_LISTED, count > MAX_LISTED ? more : ''));
}

/** Writes what happened to this node into n8n's log and the browser's console, where n8n drops the node's output. */
export function logForUser(context: IExecuteFunctions, level: 'info' | 'warn', what: string): void {
	const text = `${nameOf(context)} ${what}`;
	context.logger[level](text);
	context.sendMessageToUI(text);
}

function nameOf(context: IExecuteFunctions): string {
	return `Execution ${context.getExecutionId()}, node "${context.getNode().name}"`;
}
