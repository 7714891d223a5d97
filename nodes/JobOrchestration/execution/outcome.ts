import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import type { NodeError } from './errors';

/** What has become of an item. */
export type Outcome = { output: IDataObject[] } | { error: NodeError };

/** The outcomes of all items in their order; undefined for those that were not begun. */
export type Outcomes = Array<Outcome | undefined>;

/**
 * The outcomes of a try that failed, by the first of its input items: n8n makes new items for each run of a
 * node, and keeps them for all tries of that run.
 */
const earlierTries = new WeakMap<object, Outcomes>();

/**
 * What is settled before a try begins: nothing at the first one.
 *
 * With "Retry On Fail", n8n runs the whole node again with all items. Those that have succeeded are done, and
 * a job that may exist is not created a second time: only what certainly failed is tried again.
 */
export function settledBefore(context: IExecuteFunctions): Outcomes {
	const items = context.getInputData();
	const earlier = items[0] === undefined ? undefined : earlierTries.get(items[0]);
	const none: Outcomes = new Array<undefined>(items.length).fill(undefined);
	return earlier === undefined ? none : earlier.map(ifSettled);
}

/** Keeps the outcomes of a try for the next one, where the node is set to have one. */
export function keepForNextTry(context: IExecuteFunctions, outcomes: Outcomes): void {
	const [key] = context.getInputData();
	if (key !== undefined && context.getNode().retryOnFail === true) earlierTries.set(key, outcomes);
}

function ifSettled(outcome: Outcome | undefined): Outcome | undefined {
	if (outcome === undefined || 'output' in outcome) return outcome;
	return outcome.error.context.jobMayExist === true ? outcome : undefined;
}
