import type { IExecuteFunctions } from 'n8n-workflow';

import { ItemParameters } from '../parameters/itemParameters';
import type { Operation, PreparedCall } from '../resources/operation';
import type { JobEnd } from '../resources/options';
import { readConcurrency, readIfStopped, readCallOptions } from '../resources/options';
import type { CallOptions } from '../service/calls/serviceClient';
import { wait } from '../service/request/timers';
import { badInputError } from './badInput';
import { isCancelled } from './cancel';
import { failItem } from './errors';
import type { FailedItem, ItemOutcomes } from './itemOutcome';
import { resumeUrlOf } from './waitUntilCalled';

/** Reading parameters for longer would delay n8n's other work: its event loop would not turn. */
const YIELD_AFTER_MS = 10;

export interface PreparedItem {
	call: PreparedCall;
	options: CallOptions;
}

export interface PreparedRun {
	/** The most requests of this execution at once: the lowest number given. Undefined if the service's own pace decides. */
	concurrency: number | undefined;
	/** The longest Timeout, in milliseconds: the items share one HTTP client. */
	timeout: number;
	/** What to do with the jobs if the run is stopped, as the first call's item has it; undefined to keep them. */
	ifStopped: JobEnd | undefined;
	calls: Map<number, PreparedItem>;
	fatalError?: FailedItem;
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
	const prepared: PreparedRun = {
		concurrency: undefined,
		timeout: 0,
		ifStopped: undefined,
		calls: new Map(),
	};
	const failed: FailedItem[] = [];
	const isRetry = outcomes.some((outcome) => outcome !== undefined);
	let lastYield = Date.now();

	for (const [itemIndex, outcome] of outcomes.entries()) {
		if (outcome !== undefined) continue;
		if (Date.now() - lastYield > YIELD_AFTER_MS) {
			await wait(0);
			if (isCancelled(context)) break;
			lastYield = Date.now();
		}
		try {
			const getField = parameters.forItem(itemIndex);
			const concurrency = readConcurrency(getField) ?? Infinity;
			const ifStopped = operation.createsJobs === true ? readIfStopped(getField) : undefined;
			const options = readCallOptions(getField);
			const call = operation.prepare(getField, () => resumeUrlOf(context));
			prepared.timeout = Math.max(prepared.timeout, options.timeout);
			if (prepared.calls.size === 0) prepared.ifStopped = ifStopped;
			if (concurrency < (prepared.concurrency ?? Infinity)) prepared.concurrency = concurrency;
			prepared.calls.set(itemIndex, { call, options });
		} catch (error) {
			failed.push(failItem(node, outcomes, { itemIndex, error }));
		}
	}

	const [first, ...others] = failed;
	if (first !== undefined && !context.continueOnFail()) {
		const notDone =
			operation.createsJobs === true
				? `No ${isRetry ? 'further ' : ''}job was created.`
				: `Nothing ${isRetry ? 'more ' : ''}was sent.`;
		prepared.fatalError = badInputError(node, [first, ...others], {
			notDone,
			count: outcomes.length,
		});
	}
	return prepared;
}
