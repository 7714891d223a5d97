import type { IExecuteFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import type { FailedItem, ItemOutcomes, NodeError } from './itemOutcome';
import { keyOf } from './retryMemory';

export function isCancelled(context: IExecuteFunctions): boolean {
	return context.getExecutionCancelSignal()?.aborted === true;
}

/** The error of a cancelled execution in which no item has failed: it names the first item not begun. */
export function cancelError(context: IExecuteFunctions, outcomes: ItemOutcomes): FailedItem {
	return {
		itemIndex: Math.max(outcomes.indexOf(undefined), 0),
		error: new NodeOperationError(context.getNode(), 'The execution was cancelled'),
	};
}

/** What was logged of cancelled executions: n8n begins each try of Retry On Fail, although nothing is sent. */
const logged = new WeakMap<object, string>();

/**
 * Says in n8n's log and in the browser's console which jobs a cancelled execution has created: n8n drops what a
 * cancelled node throws (2.x, WorkflowExecute.setupCancellation has already saved the execution).
 */
export function logCreatedJobs(context: IExecuteFunctions, error: NodeError): void {
	const { createdJobs, itemIndex, jobMayExist, uncertainItems } = error.context;
	const uncertain = [jobMayExist === true ? itemIndex : [], uncertainItems].flat();
	const text = `was cancelled. Jobs already created: ${JSON.stringify(createdJobs)}. Items whose job may exist: ${JSON.stringify(uncertain)}`;
	const key = keyOf(context);
	if (logged.get(key) === text) return;
	logged.set(key, text);
	logForUser(context, 'warn', text);
}

/** Writes what happened to this node into n8n's log and the browser's console, where n8n drops the node's output. */
export function logForUser(context: IExecuteFunctions, level: 'info' | 'warn', what: string): void {
	const text = `Execution ${context.getExecutionId()}, node "${context.getNode().name}" ${what}`;
	context.logger[level](text);
	context.sendMessageToUI(text);
}
