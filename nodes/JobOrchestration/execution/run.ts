import type { IExecuteData, IExecuteFunctions } from 'n8n-workflow';

import { findOperation } from '../resources';
import type { Operation, Outcome } from '../resources/operation';
import type { Problem } from '../service/errors/problem';
import { beginRetry, endRetry, hasCrashed } from './n8nRetry';

/*
 * A run of the node has three steps: it reads and checks all items (`prepare.ts`), makes the calls, and reports. The
 * steps record the outcomes of the items in the run, and return everything else that a later step needs.
 *
 * A run leaves a state to the next run with the same items: the items that are done, and the items that must not be sent
 * again. n8n runs a node again in three ways, and in each it passes on an object that can carry the state:
 *
 * - Retry On Fail in a workflow: all tries get the same entry of n8n's execution stack (n8n-core, WorkflowExecute,
 *   processRunExecutionData).
 * - n8n's Retry button: the run gets the stack entry from the stored execution, unchanged if the node failed or waited
 *   (n8n, ExecutionService.retry). The items come from the entry as well, so changes before this node have no effect.
 * - Retry On Fail as a tool of an agent or of an MCP client: all tries of a call get items with the same JSON object,
 *   which no other call gets (n8n-core, get-input-connection-data.js). The stack entry belongs to the agent. But an agent
 *   from version 3 on runs its tools as nodes of the workflow, so these tools have stack entries of their own.
 *
 * In the stack entry, the state is stored with the node's input items, under an input that the node doesn't have. n8n's
 * redaction of execution data covers the items of all inputs (n8n, FullItemRedactionStrategy), but neither `metadata`
 * nor any other field of the entry.
 */

/** A run of the node. It begins with the state that an earlier run has left, and its steps complete the outcomes. */
export interface Run {
	context: IExecuteFunctions;
	operation: Operation;
	/** The name of the operation with its resource, which no release changes: "job create". */
	operationName: string;
	/** The node's entry in n8n's execution stack; undefined if the entry belongs to the agent whose tool this node is. */
	entry: IExecuteData | undefined;
	/** What the tries with the same items share. */
	shared: SharedByTries;
	/**
	 * The outcomes by the item's position. An item that was not run, or that was stopped before anything was sent, has
	 * undefined, which becomes null when n8n stores it. Items that this run is not given come last: with Execute Once,
	 * n8n gives it only the first item.
	 */
	outcomes: Array<Outcome | undefined>;
	/** The name of the account that all items are sent as, once it is known. */
	account: string | undefined;
	/** The states that earlier runs have left, one for each operation, the latest first. */
	states: ReadonlyArray<ReturnType<typeof stateOf>>;
	/** The outcomes that an earlier run has left. */
	recalled: ReadonlyArray<Outcome | undefined>;
	/** The execution that n8n's Retry continues by this one, if this node has run in it. */
	retried: string | undefined;
	/** Why nothing may be sent: another Retry has already continued that execution. */
	refusal: Problem | undefined;
	/** Whether n8n died while one of the earlier executions ran this node, so that the effects of it are unknown. */
	wasCutOff: boolean;
}

/** A problem of an item. */
export interface ItemProblem {
	itemIndex: number;
	problem: Problem;
	/** The value that was thrown, if any. */
	cause?: unknown;
}

/**
 * The input that this node adds to the entry's `data`. It has an item with the state of each operation that was run with
 * these items, the latest first.
 */
const INPUT = 'jobOrchestration';

/** The fact that is added to the error of an item that is not run again. */
const NOT_SENT_AGAIN = 'It was sent in an earlier try, and was not sent again.';

/**
 * What the tries with the same items share in this process: when the first one began, the states that they have left, and
 * whether a cancelled try has logged its jobs. After n8n's Retry, the states come from n8n's database instead.
 */
interface SharedByTries {
	beganAt: number;
	states?: Array<ReturnType<typeof stateOf>>;
	isLogged?: boolean;
}

/** What is shared, by an object that all tries with the same items get from n8n, and that nothing else gets. */
const sharedByTries = new WeakMap<object, SharedByTries>();

/**
 * Begins a run, with the state that the previous run has left. It is empty if this is the first run with these items.
 *
 * @throws Error, with a description, if this version doesn't have the operation
 */
export function recall(context: IExecuteFunctions): Run {
	// n8n drops the operation if the form shows no field for it with this resource, so a fallback value is needed.
	const names = ['resource', 'operation'].map((name) => context.getNodeParameter(name, 0, null));
	const operationName = names.join(' ');
	const operation = findOperation(...names);
	const entry = ownEntry(context);
	const key = entry ?? context.getInputData()[0]?.json ?? context;
	const shared = sharedByTries.get(key) ?? { beganAt: performance.now() };
	sharedByTries.set(key, shared);
	const stored = entry?.data[INPUT]?.[0]?.map(({ json }) => json) as SharedByTries['states'];
	const states = shared.states ?? stored ?? [];
	const [latest] = states;
	// A user may change the operation before a Retry, and change it back before the next one.
	const earlier = states.find((state) => state.operation === operationName);
	const { outcomes: before = [], account } = earlier ?? {};
	const executionId = context.getExecutionId();
	// A call of an MCP client has no execution, and so no Retry.
	const leftBy = latest?.executionId;
	const retried = leftBy === undefined || leftBy === executionId ? latest?.retried : leftBy;
	const length = Math.max(context.getInputData().length, before.length);
	const outcomes = Array.from({ length }, (_, itemIndex): Outcome | undefined => {
		const outcome = before[itemIndex] ?? undefined;
		if (outcome?.problem === undefined) return outcome;
		const facts = new Set([...outcome.problem.facts, NOT_SENT_AGAIN]);
		const problem = { ...outcome.problem, facts: [...facts] };
		const isOld = shared.states === undefined || outcome.isOfEarlierExecution === true;
		return { ...outcome, problem, isOfEarlierExecution: isOld };
	});
	const wasCutOff = latest?.wasCutOff ?? hasCrashed(context);
	const refusal =
		retried === undefined
			? undefined
			: beginRetry(retried, executionId, operation.done === 'created');
	return {
		context,
		operation,
		operationName,
		entry,
		shared,
		outcomes,
		states,
		recalled: [...outcomes],
		retried,
		refusal,
		account,
		wasCutOff,
	};
}

/**
 * Records for the next run that this run, whose operation isn't known, has done nothing. Without this record, a Retry
 * would mistake this run for one that was cut off when n8n died.
 */
export function rememberNothing(context: IExecuteFunctions): void {
	const entry = ownEntry(context);
	const executionId: string | undefined = context.getExecutionId();
	const wasCutOff = hasCrashed(context);
	const none = { operation: '', retried: undefined, outcomes: [], account: undefined };
	const json: ReturnType<typeof stateOf> = { ...none, executionId, wasCutOff };
	if (entry !== undefined) entry.data[INPUT] ??= [[{ json }]];
}

/**
 * Replaces the state that is left to the next run with these items.
 *
 * @param hasFailed whether the run ends the execution with an error
 */
export function remember(run: Run, hasFailed: boolean): void {
	const { context, operation, entry, states, recalled, retried, shared } = run;
	const state = stateOf(run);
	shared.states = [state, ...states.filter((other) => other.operation !== state.operation)];
	const isNew = (outcome: Outcome | undefined, index: number) =>
		outcome !== undefined && outcome !== recalled[index];
	const what = operation.done === 'created' ? 'has created jobs' : 'has done some of its items';
	// If the run has done nothing but the execution goes on, a later node or round may create jobs.
	const done = state.outcomes.some(isNew) ? what : hasFailed ? undefined : 'has gone on';
	if (retried !== undefined) endRetry(retried, context.getExecutionId(), done);
	if (entry !== undefined) entry.data[INPUT] = [shared.states.map((json) => ({ json }))];
}

/** Returns what a run leaves to the next one: what it has settled, as which account, and in which execution. */
function stateOf(run: Run) {
	const { context, operationName: operation, outcomes: all, account, retried, wasCutOff } = run;
	const outcomes = all.map((outcome) => {
		const { problem, output } = outcome ?? {};
		// An item is not settled if it certainly had no effect.
		return (problem ? problem.mayHaveActed === true : output !== undefined) ? outcome : undefined;
	});
	const executionId: string | undefined = context.getExecutionId();
	return {
		operation,
		executionId,
		retried,
		wasCutOff,
		outcomes,
		account: outcomes.some(Boolean) ? account : undefined,
	};
}

/** Returns the stack entry of this node's run; undefined if it belongs to the agent whose tool this node is. */
function ownEntry(context: IExecuteFunctions): IExecuteData | undefined {
	const entry = context.getExecuteData();
	return entry.node.name === context.getNode().name ? entry : undefined;
}

export function isCancelled(context: IExecuteFunctions): boolean {
	return context.getExecutionCancelSignal()?.aborted === true;
}
