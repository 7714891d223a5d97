import type { IExecuteData, IExecuteFunctions } from 'n8n-workflow';

import { isJsonObject } from '../json';
import type { Operation } from '../resources/operation';
import { isEnded, type ItemOutcome, type RunState, summaryOf } from './outcomes';
import type { Run } from './run';

/*
 * What a run of the node leaves to the next run with the same items: those that are done, and those that must not be
 * sent again. n8n runs a node again in three ways, and passes something on in each:
 *
 * - Retry On Fail in a workflow: the same entry of its stack for all tries (n8n-core, WorkflowExecute,
 *   processRunExecutionData).
 * - Its Retry button: that entry from the stored execution, as it is if the node fails or waits (n8n,
 *   ExecutionService.retry). The items come from there as well, so changes before this node have no effect.
 * - Retry On Fail as a tool of an agent or of an MCP client: items with the same JSON for all tries of a call,
 *   and for no other call (n8n-core, get-input-connection-data.js). The entry is the agent's there.
 *
 * An agent from version 3 on runs its tools as nodes of the workflow.
 *
 * In the entry, it lies among the items that the node was given, as those of an input that the node doesn't have: n8n's
 * redaction of execution data covers them (n8n, FullItemRedactionStrategy), and neither `metadata` nor any other field.
 */

/** The input of the entry's `data` that this node adds: no item if a run has done nothing, else one. */
const INPUT = 'jobOrchestration';

/** Added to the error of an item that is not run again. */
const NOT_SENT_AGAIN = 'It was sent in an earlier try, and was not sent again.';

/** What the expression `$('<node>')` gives. */
interface EarlierRuns {
	isExecuted: boolean;
	all: (branch: number, run: number) => Array<{ json: unknown }>;
}

/** What n8n's recovery puts into the JSON of an output that it doesn't know. */
const ARTIFICIAL = 'isArtificialRecoveredEventItem';

/** What a run leaves to the next one. A run of another operation ignores it. */
interface StoredState extends RunState {
	/** The name of the operation. */
	operation: string;
}

const ofTools = new WeakMap<object, StoredState>();

/** What runs of this execution have left: after n8n's Retry, it comes from n8n's database. */
const ofThisExecution = new WeakSet<object>();

/** What the run before this one has left; nothing if this is the first run with these items. */
export function recall(
	context: IExecuteFunctions,
	operation: Operation,
): RunState & Pick<Run, 'wasCutOff'> {
	const entry = ownEntry(context);
	const input = entry?.data[INPUT];
	const left: unknown = entry ? input?.[0]?.[0]?.json : ofTools.get(objectSharedByTries(context));
	const isState = (value: unknown): value is StoredState =>
		isJsonObject(value) && value.operation === operation.action;
	const { outcomes: before, endedJobs } = isState(left) ? left : { outcomes: [], endedJobs: [] };
	const isOfEarlierExecution = isState(left) && !ofThisExecution.has(left);
	const length = Math.max(context.getInputData().length, before.length);
	const outcomes = Array.from({ length }, (_, itemIndex): ItemOutcome | undefined => {
		const outcome = before[itemIndex] ?? undefined;
		if (outcome?.problem === undefined) return outcome;
		const problem = { ...outcome.problem, note: NOT_SENT_AGAIN };
		const isOld = isOfEarlierExecution || outcome.isOfEarlierExecution === true;
		return { ...outcome, problem, isOfEarlierExecution: isOld };
	});
	const wasCutOff = entry !== undefined && input === undefined && hasCrashed(context);
	return { outcomes, endedJobs, wasCutOff };
}

/**
 * Whether n8n died in this node, or in a later one before it had stored this one's output. n8n's recovery notes from its log of
 * events that a node was started, without its output, or with an artificial one (n8n, ExecutionRecoveryService.amend).
 */
function hasCrashed(context: IExecuteFunctions): boolean {
	if (context.getMode() !== 'retry') return false;
	// Reading anything else of a node that wasn't started throws.
	const earlier = context.getWorkflowDataProxy(0).$(context.getNode().name) as EarlierRuns;
	if (!earlier.isExecuted) return false;
	try {
		return earlier.all(0, 0).some(({ json }) => isJsonObject(json) && ARTIFICIAL in json);
	} catch {
		return true;
	}
}

/** Leaves to the next run that this one has done nothing: without that, a Retry would take it for one that n8n's death cut off. */
export function rememberNothing(context: IExecuteFunctions): void {
	const entry = ownEntry(context);
	if (entry !== undefined) entry.data[INPUT] ??= [];
}

/** Replaces what is left to the next run with these items. */
export function remember(run: Run): void {
	const { context, operation } = run;
	const outcomes = run.outcomes.map((outcome) => (isSettled(outcome) ? outcome : undefined));
	const endedJobs = summaryOf(run).created.filter(isEnded);
	const state = { operation: operation.action, outcomes, endedJobs } satisfies StoredState;
	ofThisExecution.add(state);
	const entry = ownEntry(context);
	if (entry === undefined) ofTools.set(objectSharedByTries(context), state);
	else entry.data[INPUT] = [[{ json: state }]];
}

/** An object that all tries with these items share in this process, and nothing else does. */
export function objectSharedByTries(context: IExecuteFunctions): object {
	return ownEntry(context) ?? context.getInputData()[0]?.json ?? context;
}

const firstTries = new WeakMap<object, number>();

/** How many milliseconds ago the first of the tries with these items began. */
export function msSinceFirstTry(context: IExecuteFunctions): number {
	const shared = objectSharedByTries(context);
	const now = performance.now();
	const began = firstTries.get(shared) ?? now;
	firstTries.set(shared, began);
	return now - began;
}

/** The stack entry of this node's run; undefined for a tool. */
function ownEntry(context: IExecuteFunctions): IExecuteData | undefined {
	const entry = context.getExecuteData();
	return entry.node.name === context.getNode().name ? entry : undefined;
}

/** False for an item that certainly had no effect, or whose job has been ended since. */
function isSettled({ problem, output, createdJob }: ItemOutcome = {}): boolean {
	if (problem) return problem.mayHaveActed === true;
	return output !== undefined && !(createdJob && isEnded(createdJob));
}
