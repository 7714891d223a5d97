import type { IExecuteData, IExecuteFunctions, ITaskMetadata } from 'n8n-workflow';

import type { RetryState } from './retryState';
import { isRetryState } from './retryState';

/*
 * n8n runs a node again with the same items in three ways, and passes something on in each:
 *
 * - Retry On Fail in a workflow: the same entry of its stack for all tries (n8n-core, WorkflowExecute,
 *   processRunExecutionData).
 * - Its Retry button: that entry, its metadata included, from the stored execution (n8n,
 *   ExecutionService.retry). The items come from there as well, whatever has been changed before this node.
 * - Retry On Fail as a tool of an agent or of an MCP client: items with the same JSON for all tries of a call,
 *   and for no other call (n8n-core, get-input-connection-data.js). The entry is the agent's there.
 *
 * An agent from version 3 on runs its tools as nodes of the workflow.
 */

/** n8n's entry for one run of a node, with what this node adds to its metadata. */
interface StackEntry extends IExecuteData {
	metadata?: ITaskMetadata & { jobOrchestration?: unknown };
}

/** State for another try in this process, where n8n would store it with a result. */
const inMemory = new WeakMap<object, RetryState>();

/** What the run before this one has left; undefined if this is the first run with these items. */
export function loadRetryState(context: IExecuteFunctions): RetryState | undefined {
	const stored = ownEntry(context)?.metadata?.jobOrchestration;
	return isRetryState(stored) ? stored : inMemory.get(keyOf(context));
}

/**
 * Replaces what is left to the next run with these items. It goes into n8n's metadata if the node is about to
 * fail, since n8n stores that for its Retry button; else into memory, if another try may follow. That may be so after
 * a success, too: n8n takes a first output item with a field `error` for a failure (n8n-core, WorkflowExecute,
 * checkFailure), and a service may send one.
 *
 * @param state undefined to leave nothing, so that n8n stores nothing with the result
 */
export function saveRetryState(
	context: IExecuteFunctions,
	state: RetryState | undefined,
	{ fails = false } = {},
): void {
	const entry = ownEntry(context);
	if (entry?.metadata !== undefined) {
		const { jobOrchestration, ...others } = entry.metadata;
		if (jobOrchestration !== undefined) entry.metadata = others;
	}
	inMemory.delete(keyOf(context));
	if (state === undefined) return;

	if (entry !== undefined && fails && !context.continueOnFail()) {
		entry.metadata = { ...entry.metadata, jobOrchestration: state };
	} else if (mayBeTriedAgain(context)) {
		inMemory.set(keyOf(context), state);
	}
}

/** Whether n8n may run the node again at once: Retry On Fail. */
export function mayBeTriedAgain(context: IExecuteFunctions): boolean {
	return context.getNode().retryOnFail === true;
}

/** The stack entry of this node's run; a tool has none of its own. */
function ownEntry(context: IExecuteFunctions): StackEntry | undefined {
	const entry: StackEntry = context.getExecuteData();
	return entry.node.name === context.getNode().name ? entry : undefined;
}

/** An object that all tries with these items share in this process, and nothing else does. */
export function keyOf(context: IExecuteFunctions): object {
	return ownEntry(context) ?? context.getInputData()[0]?.json ?? context;
}
