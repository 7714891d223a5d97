import type { IExecuteFunctions } from 'n8n-workflow';

import { ItemParameters } from '../parameters/itemParameters';
import type { Operation, PreparedCall } from '../resources/operation';
import type { ItemOptions } from '../resources/options';
import { readOptions } from '../resources/options';
import { wait } from '../service/request/timers';
import { badInputError } from './badInput';
import { isCancelled } from './cancel';
import { failItem } from './errors';
import type { FailedItem, ItemOutcomes } from './itemOutcome';
import { resumeUrlOf } from './waitUntilCalled';

/** Reading parameters for longer would delay n8n's other work: its event loop would not turn. */
const YIELD_AFTER_MS = 10;

export interface PreparedItem {
	itemIndex: number;
	call: PreparedCall;
	options: ItemOptions;
}

export interface PreparedRun {
	calls: PreparedItem[];
	/** The most requests of this execution at once: the lowest number given. Undefined if the service's own pace decides. */
	concurrency?: number;
	/** How long the execution is to wait for its job's call; undefined if it isn't. */
	waitMs?: number;
	/** The error of all items with wrong fields, which ends the execution. */
	badInput?: FailedItem | undefined;
}

/**
 * Reads and checks the parameters of all items without an outcome. A wrong one is its item's outcome and, unless
 * the node continues after errors, ends the execution.
 */
export async function prepareAll(
	context: IExecuteFunctions,
	operation: Operation,
	outcomes: ItemOutcomes,
): Promise<PreparedRun> {
	const node = context.getNode();
	const parameters = new ItemParameters(context, operation.fields);
	const prepared: PreparedRun = { calls: [] };
	const failed: FailedItem[] = [];
	const isRetry = outcomes.some((outcome) => outcome !== undefined);
	let lastYield = Date.now();
	const waitForCall = (limitMs: number) => {
		const url = resumeUrlOf(context);
		prepared.waitMs = limitMs;
		return url;
	};

	for (const [itemIndex, outcome] of outcomes.entries()) {
		if (outcome !== undefined) continue;
		if (Date.now() - lastYield > YIELD_AFTER_MS) {
			await wait(0);
			if (isCancelled(context)) break;
			lastYield = Date.now();
		}
		try {
			const getField = parameters.forItem(itemIndex);
			const options = readOptions(getField);
			const call = operation.prepare(getField, waitForCall);
			prepared.calls.push({ itemIndex, call, options });
			if (options.concurrency !== undefined) {
				prepared.concurrency = Math.min(prepared.concurrency ?? Infinity, options.concurrency);
			}
		} catch (error) {
			failed.push(failItem(node, outcomes, { itemIndex, error }));
		}
	}
	if (!context.continueOnFail()) {
		prepared.badInput = badInputError(node, failed, { count: outcomes.length, isRetry });
	}
	return prepared;
}
