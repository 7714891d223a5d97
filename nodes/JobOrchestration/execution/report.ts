import type { IExecuteFunctions } from 'n8n-workflow';

import { asPlainText, FROM_ZERO, itemList } from '../texts';
import { objectSharedByTries } from './retryMemory';
import { type ListedJob, type Run, type Summary, summaryOf } from './run';

/** The most jobs that a text lists; an error's `context.createdJobs` has all of them. */
export const MAX_LISTED = 100;

/** More would push the output off the screen. */
const MAX_HINTS = 5;

/** Says above the output which items have failed, which fields were left out, which jobs aren't in it, and why a list is empty. */
export function addHints(run: Run): void {
	const { context, outcomes, leftOut } = run;
	const summary = summaryOf(run);
	const given = context.getInputData().length;
	const notGiven = summary.running.filter(({ itemIndex }) => itemIndex >= given);
	const ofCalls = outcomes.map((outcome) => outcome?.hint);
	const ofRun = [hintOfFailures(summary), hintOfLeftOut(leftOut), hintOfJobs(notGiven)];
	const hints = new Set([...ofRun, ...ofCalls]);
	for (const hint of [...hints].filter((text) => text !== undefined).slice(0, MAX_HINTS)) {
		const message = asPlainText(hint);
		context.addExecutionHints({ message, type: 'warning', location: 'outputPane' });
	}
	const isWaiting = outcomes.some((outcome) => outcome?.callback);
	if (context.getMode() === 'manual' && summary.running.length > 0 && !isWaiting) {
		const message = 'Executing this step again creates another job for each item.';
		context.addExecutionHints({ message, type: 'info', location: 'outputPane' });
	}
}

function hintOfFailures({ count, failed, uncertain }: Summary): string | undefined {
	if (failed.length === 0) return undefined;
	const what =
		count === 1
			? 'The item failed.'
			: `${failed.length} of ${count} items failed: ${itemList(failed)} ${FROM_ZERO}.`;
	if (uncertain.length === 0) return what;
	const items = itemList(uncertain.map(({ itemIndex }) => itemIndex));
	return `${what} The job may exist for ${items}: look for it on the service before you run the item again.`;
}

function hintOfLeftOut(leftOut: Run['leftOut']): string | undefined {
	if (leftOut.size === 0) return undefined;
	const fields = [...leftOut].map(([field, items]) => `'${field}' of ${itemList(items)}`);
	return `Left out, since the field's expression gives nothing (undefined): ${fields.join(', ')} ${FROM_ZERO}.`;
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

/** Says in n8n's log and the browser's console which jobs a cancelled execution has created: n8n 2.x drops its error. */
export function logCreatedJobs(context: IExecuteFunctions, { created, uncertain }: Summary): void {
	if (logged.has(objectSharedByTries(context))) return;
	logged.add(objectSharedByTries(context));
	const items = uncertain.map(({ itemIndex }) => itemIndex);
	const text = (start: number, end: number, more = '') =>
		`${nameOf(context)} was cancelled. Jobs already created: ${JSON.stringify(created.slice(start, end))}. Items whose job may exist: ${JSON.stringify(items.slice(start, end))}${more}`;
	const count = Math.max(created.length, items.length);
	for (let start = 0; start === 0 || start < count; start += MAX_LOGGED) {
		context.logger.warn(text(start, start + MAX_LOGGED));
	}
	const more = `. In n8n's log: all ${created.length} jobs and ${items.length} items`;
	context.sendMessageToUI(text(0, MAX_LISTED, count > MAX_LISTED ? more : ''));
}

/** Writes what happened to this node into n8n's log and the browser's console, where n8n drops the node's output. */
export function logForUser(context: IExecuteFunctions, what: string): void {
	const text = `${nameOf(context)} ${what}`;
	context.logger.info(text);
	context.sendMessageToUI(text);
}

function nameOf(context: IExecuteFunctions): string {
	return `Execution ${context.getExecutionId()}, node "${context.getNode().name}"`;
}
