import type { IExecuteData, IExecuteFunctions } from 'n8n-workflow';

import { isJsonObject } from '../json';
import type { Operation, Outcome } from '../resources/operation';
import type { Run } from './run';

/*
 * The state that a run of the node leaves to the next run with the same items: the items that are done, and the items
 * that must not be sent again. n8n runs a node again in three ways, and in each it passes on an object that can carry
 * the state:
 *
 * - Retry On Fail in a workflow: all tries get the same entry of n8n's execution stack (n8n-core, WorkflowExecute,
 *   processRunExecutionData).
 * - n8n's Retry button: the run gets the stack entry from the stored execution, unchanged if the node failed or waited
 *   (n8n, ExecutionService.retry). The items come from the entry as well, so changes before this node have no effect.
 * - Retry On Fail as a tool of an agent or of an MCP client: all tries of a call get items with the same JSON object,
 *   which no other call gets (n8n-core, get-input-connection-data.js). The stack entry belongs to the agent in this
 *   case.
 *
 * An agent from version 3 on runs its tools as nodes of the workflow, so these tools have stack entries of their own.
 *
 * In the stack entry, the state is stored with the node's input items, under an input that the node doesn't have. n8n's
 * redaction of execution data covers the items of all inputs (n8n, FullItemRedactionStrategy), but neither `metadata`
 * nor any other field of the entry.
 */

/**
 * The input that this node adds to the entry's `data`. It has one item, which holds the state, or no item if every run
 * so far has failed before it had a state.
 */
const INPUT = 'jobOrchestration';

/** The note that is added to the error of an item that is not run again. */
const NOT_SENT_AGAIN = 'It was sent in an earlier try, and was not sent again.';

/** The field that n8n's recovery puts into the JSON of an output that it doesn't know. */
const ARTIFICIAL = 'isArtificialRecoveredEventItem';

/** The state that a run leaves to the next one. A run of another operation ignores it. */
interface StoredState extends Pick<Run, 'outcomes' | 'account'> {
	/** The operation's `action`. */
	operation: string;
}

const ofTools = new WeakMap<object, StoredState>();

/** The states that runs of this execution have left. After n8n's Retry, the state comes from n8n's database instead. */
const ofThisExecution = new WeakSet<object>();

/** Returns the state that the previous run has left. It is empty if this is the first run with these items. */
export function recall(context: IExecuteFunctions, operation: Operation): Run {
	const entry = ownEntry(context);
	const input = entry?.data[INPUT];
	const left: unknown = entry ? input?.[0]?.[0]?.json : ofTools.get(objectSharedByTries(context));
	const isState = (value: unknown): value is StoredState =>
		isJsonObject(value) && value.operation === operation.action;
	const { outcomes: before, account } = isState(left) ? left : { outcomes: [] };
	const isOfEarlierExecution = isState(left) && !ofThisExecution.has(left);
	const length = Math.max(context.getInputData().length, before.length);
	const outcomes = Array.from({ length }, (_, itemIndex): Outcome | undefined => {
		const outcome = before[itemIndex] ?? undefined;
		if (outcome?.problem === undefined) return outcome;
		const problem = { ...outcome.problem, note: NOT_SENT_AGAIN };
		const isOld = isOfEarlierExecution || outcome.isOfEarlierExecution === true;
		return { ...outcome, problem, isOfEarlierExecution: isOld };
	});
	const wasCutOff = entry !== undefined && input === undefined && hasCrashed(context);
	return { context, operation, outcomes, account, leftOut: new Map(), wasCutOff };
}

/**
 * Returns whether n8n died in this node, or in a later node before it had stored the output of this one. In that case,
 * n8n's recovery finds in n8n's event log that the node was started. It then records the start without an output, or
 * with an artificial output (n8n, ExecutionRecoveryService.amend).
 */
function hasCrashed(context: IExecuteFunctions): boolean {
	if (context.getMode() !== 'retry') return false;
	// For a node that was not started, reading anything but `isExecuted` throws.
	// The value of the expression `$('<node>')`.
	const earlier = context.getWorkflowDataProxy(0).$(context.getNode().name) as {
		isExecuted: boolean;
		all: (branch: number, run: number) => Array<{ json: unknown }>;
	};
	if (!earlier.isExecuted) return false;
	try {
		return earlier.all(0, 0).some(({ json }) => isJsonObject(json) && ARTIFICIAL in json);
	} catch {
		return true;
	}
}

/**
 * Records for the next run that this run has done nothing. Without this record, a Retry would mistake this run for one
 * that was cut off when n8n died.
 */
export function rememberNothing(context: IExecuteFunctions): void {
	const entry = ownEntry(context);
	if (entry !== undefined) entry.data[INPUT] ??= [];
}

/** Replaces the state that is left to the next run with these items. */
export function remember(run: Run): void {
	const { context, operation } = run;
	const outcomes = run.outcomes.map((outcome) => (isSettled(outcome) ? outcome : undefined));
	const account = outcomes.some(Boolean) ? run.account : undefined;
	const state = { operation: operation.action, outcomes, account } satisfies StoredState;
	ofThisExecution.add(state);
	const entry = ownEntry(context);
	if (entry === undefined) ofTools.set(objectSharedByTries(context), state);
	else entry.data[INPUT] = [[{ json: state }]];
}

/** Returns an object that all tries with these items share in this process, and that nothing else shares. */
export function objectSharedByTries(context: IExecuteFunctions): object {
	return ownEntry(context) ?? context.getInputData()[0]?.json ?? context;
}

const firstTries = new WeakMap<object, number>();

/** Returns the number of milliseconds since the first try with these items began. */
export function msSinceFirstTry(context: IExecuteFunctions): number {
	const shared = objectSharedByTries(context);
	const now = performance.now();
	const began = firstTries.get(shared) ?? now;
	firstTries.set(shared, began);
	return now - began;
}

/**
 * Returns the stack entry of this node's run, or undefined if the entry belongs to the agent whose tool this node is.
 */
function ownEntry(context: IExecuteFunctions): IExecuteData | undefined {
	const entry = context.getExecuteData();
	return entry.node.name === context.getNode().name ? entry : undefined;
}

/** Returns whether an item is settled. It is not if it certainly had no effect. */
function isSettled({ problem, output }: Outcome = {}): boolean {
	return problem ? problem.mayHaveActed === true : output !== undefined;
}
