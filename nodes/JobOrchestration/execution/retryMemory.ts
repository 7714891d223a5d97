import type { IExecuteData, IExecuteFunctions, ITaskMetadata } from 'n8n-workflow';

import { isJsonObject } from '../json';
import { newApiError } from './errors';
import type { CreatedJob, ItemOutcome, ItemOutcomes, ItemResult } from './itemOutcome';
import { createdJobsIn } from './itemOutcome';

/*
 * What a failed run of the node leaves to the next run with the same items: which of them need not, or must not,
 * be run again. n8n runs a node again in three ways, and passes something on in each:
 *
 * - Retry On Fail in a workflow: the same entry of its stack for all tries (n8n-core, WorkflowExecute,
 *   processRunExecutionData).
 * - Its Retry button: that entry, its metadata included, from the stored execution (n8n, ExecutionService.retry).
 *   The items come from there as well, whatever has been changed before this node.
 * - Retry On Fail as a tool of an agent or of an MCP client: items with the same JSON for all tries of a call,
 *   and for no other call (n8n-core, get-input-connection-data.js). The entry is the agent's there.
 *
 * An agent from version 3 on runs its tools as nodes of the workflow.
 */

/** Plain data, since n8n stores it with the execution. */
interface RetryState {
	/** Version of this shape, resource and operation. A run by another version, or of another operation, ignores it. */
	madeBy: string;
	/** By the item's position; null for those to be run again. */
	items: Array<SettledItem | null>;
	/** The jobs that were made and ended: an error still names them. */
	endedJobs: CreatedJob[];
}

/** An item that has its result, or whose job may exist. */
type SettledItem =
	| ItemResult
	| { error: { message: string; description: string; httpStatus: number | null } };

/** What a run begins with, and ends with. */
export interface RunState {
	/** Undefined for each item to be run. */
	outcomes: ItemOutcomes;
	/** The jobs that earlier runs have made and ended. */
	endedJobs: CreatedJob[];
	/** What is known of items that this run isn't given: with Execute Once, n8n gives it the first only. */
	itemsNotGiven: RetryState['items'];
}

/** n8n's entry for one run of a node, with what this node adds to its metadata. */
interface StackEntry extends IExecuteData {
	metadata?: ITaskMetadata & { jobOrchestration?: unknown };
}

/** Added to the error of an item that is not run again. */
const NOT_SENT_AGAIN = 'It was sent in an earlier try, and was not sent again.';

/** State for another try in this process, where n8n would store it with a result. */
const inMemory = new WeakMap<object, RetryState>();

const madeBy = (operation: string) => `version 1, ${operation}`;

/** What the run before this one has left; nothing if this is the first run with these items. */
export function recall(context: IExecuteFunctions, operation: string): RunState {
	const isState = (value: unknown): value is RetryState =>
		isJsonObject(value) && value.madeBy === madeBy(operation);
	const left = [ownEntry(context)?.metadata?.jobOrchestration, inMemory.get(keyOf(context))];
	const { items, endedJobs } = left.find(isState) ?? { items: [], endedJobs: [] };
	const node = context.getNode();
	const outcomes = context.getInputData().map((_, itemIndex): ItemOutcome | undefined => {
		const item = items[itemIndex] ?? undefined;
		if (item === undefined || 'output' in item) return item;
		return { error: newApiError(node, { ...item.error, jobMayExist: true }) };
	});
	return { outcomes, endedJobs, itemsNotGiven: items.slice(outcomes.length) };
}

/**
 * Replaces what is left to the next run with these items. It goes into n8n's metadata if the node is about to
 * fail or to wait, since n8n stores that for its Retry button; else into memory, if another try may follow. That may be so after
 * a success, too: n8n takes a first output item with a field `error` for a failure (n8n-core, WorkflowExecute,
 * checkFailure), and a service may send one. Else nothing is left, so that n8n stores nothing with the result.
 */
export function remember(
	context: IExecuteFunctions,
	operation: string,
	run: RunState,
	{ mayBeRetried }: { mayBeRetried: boolean },
): void {
	const entry = ownEntry(context);
	delete entry?.metadata?.jobOrchestration;
	inMemory.delete(keyOf(context));

	const items = [...run.outcomes.map(settledItemOf), ...run.itemsNotGiven];
	const endedJobs = [...run.endedJobs, ...createdJobsIn(run.outcomes).filter(isEnded)];
	if (endedJobs.length === 0 && items.every((item) => item === null)) return;
	const state: RetryState = { madeBy: madeBy(operation), items, endedJobs };
	if (entry !== undefined && mayBeRetried && !context.continueOnFail()) {
		entry.metadata = { ...entry.metadata, jobOrchestration: state };
	} else if (context.getNode().retryOnFail === true) {
		inMemory.set(keyOf(context), state);
	}
}

/** An object that all tries with these items share in this process, and nothing else does. */
export function keyOf(context: IExecuteFunctions): object {
	return ownEntry(context) ?? context.getInputData()[0]?.json ?? context;
}

/** The stack entry of this node's run; undefined for a tool. */
function ownEntry(context: IExecuteFunctions): StackEntry | undefined {
	const entry: StackEntry = context.getExecuteData();
	return entry.node.name === context.getNode().name ? entry : undefined;
}

/** Null for an item that certainly made no job, or whose job has been ended since. */
function settledItemOf(outcome: ItemOutcome | undefined): SettledItem | null {
	if (outcome === undefined) return null;
	if ('output' in outcome)
		return outcome.createdJob && isEnded(outcome.createdJob) ? null : outcome;
	const { message, context, description } = outcome.error;
	if (context.jobMayExist !== true) return null;
	const before = (description ?? '').replace(NOT_SENT_AGAIN, '').trimEnd();
	return {
		error: {
			message,
			description: `${before} ${NOT_SENT_AGAIN}`,
			httpStatus: typeof context.httpStatus === 'number' ? context.httpStatus : null,
		},
	};
}

function isEnded({ cleanup }: CreatedJob): boolean {
	return cleanup?.success === true;
}
