import type { IExecuteFunctions } from 'n8n-workflow';

import { ItemParameters } from '../parameters/itemParameters';
import type { Operation, PreparedCall } from '../resources/operation';
import type { JobEnd } from '../resources/options';
import { readConcurrency, readIfStopped, readCallOptions } from '../resources/options';
import type { CallOptions } from '../service/calls/serviceClient';
import { wait } from '../service/request/timers';
import { checkOneItem, resumeUrlOf } from './waitUntilCalled';
import type { CallWait } from '../resources/job/waitUntilCalled';
import { readWaitUntilCalled } from '../resources/job/waitUntilCalled';
import { isCancelled } from './cancel';
import { failItem } from './errors';
import type { FailedItem, ItemOutcomes } from './itemOutcome';

/** Milliseconds after which reading parameters lets n8n's other work go on. */
const YIELD_AFTER = 10;

/** A call that is ready to be made, and how. */
export interface PreparedItem {
	call: PreparedCall;
	options: CallOptions;
}

/** The parameters of all items, read and checked. */
export interface PreparedRun {
	/** The most requests of this execution at once: the lowest number given. Undefined if the service's own pace decides. */
	concurrency: number | undefined;
	/** What to do with the jobs if the run is stopped, as the first call's item has it; undefined to keep them. */
	ifStopped: JobEnd | undefined;
	/** The calls to be made, by item. */
	calls: Map<number, PreparedItem>;
	wait?: CallWait | undefined;
	/** The error of a wrong parameter at which the reading has ended. */
	fatalError?: FailedItem;
}

/**
 * Reads and checks the parameters of all items without an outcome. A wrong one is its item's outcome; unless the
 * node continues after errors, the rest is not read. Expressions take time, so n8n's other work gets its turn now
 * and then; after a cancel, the rest is not read.
 */
export async function prepareAll(
	context: IExecuteFunctions,
	operation: Operation,
	outcomes: ItemOutcomes,
): Promise<PreparedRun> {
	const continueOnFail = context.continueOnFail();
	const parameters = new ItemParameters(context, operation.fields);
	const prepared: PreparedRun = { concurrency: undefined, ifStopped: undefined, calls: new Map() };
	const { calls } = prepared;
	let lastYield = Date.now();

	for (const [itemIndex, outcome] of outcomes.entries()) {
		if (outcome !== undefined) continue;
		if (Date.now() - lastYield > YIELD_AFTER) {
			await wait(0);
			if (isCancelled(context)) break;
			lastYield = Date.now();
		}
		try {
			const getField = parameters.forItem(itemIndex);
			const concurrency = readConcurrency(getField);
			const ifStopped = operation.makesJobs === true ? readIfStopped(getField) : undefined;
			if (operation.makesJobs === true) prepared.wait = readWaitUntilCalled(getField);
			if (prepared.wait) checkOneItem(context);
			const item = {
				call: operation.prepare(getField, () => resumeUrlOf(context)),
				options: readCallOptions(getField),
			};
			if (calls.size === 0) prepared.ifStopped = ifStopped;
			if (concurrency !== undefined) {
				prepared.concurrency = Math.min(concurrency, prepared.concurrency ?? Infinity);
			}
			calls.set(itemIndex, item);
		} catch (error) {
			const failedItem = failItem(context.getNode(), outcomes, { itemIndex, error });
			if (!continueOnFail) return { ...prepared, fatalError: failedItem };
		}
	}
	return prepared;
}
