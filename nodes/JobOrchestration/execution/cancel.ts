import type { IExecuteFunctions } from 'n8n-workflow';

import type { NodeError } from './itemOutcome';
import { keyOf } from './retryMemory';

export function isCancelled(context: IExecuteFunctions): boolean {
	return context.getExecutionCancelSignal()?.aborted === true;
}

/** What was logged already: n8n begins each try of Retry On Fail after a cancel, although nothing is sent. */
const logged = new WeakSet<object>();

/**
 * Says in n8n's log and in the browser's console which jobs a cancelled execution has created: n8n drops what a
 * cancelled node throws (2.x, WorkflowExecute.setupCancellation has already saved the execution).
 */
export function logCreatedJobs(context: IExecuteFunctions, error: NodeError): void {
	if (logged.has(keyOf(context))) return;
	logged.add(keyOf(context));
	const { createdJobs, itemIndex, jobMayExist, uncertainItems } = error.context;
	const uncertain = [jobMayExist === true ? itemIndex : [], uncertainItems].flat();
	const text = `was cancelled. Jobs already created: ${JSON.stringify(createdJobs)}. Items whose job may exist: ${JSON.stringify(uncertain)}`;
	logForUser(context, 'warn', text);
}

/** Writes what happened to this node into n8n's log and the browser's console, where n8n drops the node's output. */
export function logForUser(context: IExecuteFunctions, level: 'info' | 'warn', what: string): void {
	const text = `Execution ${context.getExecutionId()}, node "${context.getNode().name}" ${what}`;
	context.logger[level](text);
	context.sendMessageToUI(text);
}
