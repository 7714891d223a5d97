import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { findOperation } from '../resources';
import type { Operation } from '../resources/operation';
import { StoppedBeforeSending } from '../service/calls/sendWithRetries';
import { ServiceClient } from '../service/calls/serviceClient';
import { onAbort } from '../service/timers';
import { waitForCallback } from './callback';
import { endJobs } from './endJobs';
import {
	completeError,
	errorOutputItem,
	failItem,
	itemErrorOf,
	newApiError,
	newOperationError,
	nodeErrorOf,
	titleWithJobs,
} from './errors';
import { inParallel } from './inParallel';
import type { FailedItem, NodeError } from './itemOutcome';
import { callbackIn, createdJobsIn, errorsIn, uncertainIn } from './itemOutcome';
import type { PreparedItem, PreparedRun } from './prepare';
import { isCancelled, prepareAll } from './prepare';
import { addHints, logCreatedJobs } from './report';
import type { RunState } from './retryMemory';
import { recall, remember } from './retryMemory';

interface Run extends RunState {
	context: IExecuteFunctions;
	operation: Operation;
}

/**
 * Runs the node's operation for all input items: checks all of them first, makes the calls in parallel, and returns the
 * results in the order of the items. Items that an earlier run has settled are not run again. After a cancel, or an error
 * of an item unless the node is set to continue, no further call begins, and those in flight are awaited.
 *
 * @throws NodeApiError or NodeOperationError
 */
export async function execute(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	let run: Run | undefined;
	try {
		run = beginRun(context);
		return [await runToEnd(run)];
	} catch (cause) {
		const error = nodeErrorOf(context.getNode(), cause);
		if (!context.continueOnFail() || isCancelled(context)) throw error;
		// n8n would pass the input items on as if they had succeeded.
		return [outputOf(context, run, error)];
	}
}

/** @throws NodeOperationError if the workflow names an operation that this version doesn't have */
function beginRun(context: IExecuteFunctions): Run {
	const resource = context.getNodeParameter('resource', 0, null);
	// n8n drops it where no field is shown for the resource.
	const operation = findOperation(resource, context.getNodeParameter('operation', 0, null));
	if ('message' in operation) {
		throw newOperationError(context.getNode(), operation.message, operation.description);
	}
	return { ...recall(context, `${String(resource)}.${operation.value}`), context, operation };
}

async function runToEnd(run: Run): Promise<INodeExecutionData[]> {
	const { context, outcomes } = run;
	const prepared = await prepareAll(context, run.operation, outcomes);
	// Even if this throws, the next run knows what was done.
	const failedItem = await runItems(run, prepared).finally(() => remember(context, run));
	if (failedItem !== undefined) throw completeFatalError(run, failedItem);

	addHints(context, outcomes);
	const output = outputOf(context, run);
	const callback = callbackIn(outcomes);
	const [job] = createdJobsIn(outcomes);
	if (callback && job) return await waitForCallback(context, output, { callback, job });
	return output;
}

/** Gives each item its outcome. @returns the error that ends the execution, if one does */
async function runItems(run: Run, prepared: PreparedRun): Promise<FailedItem | undefined> {
	const { context, outcomes } = run;
	// An item that an earlier run left uncertain fails, but only once all others have been run; unless the others' jobs
	// would then be ended.
	const again = new Set(prepared.calls.map(({ itemIndex }) => itemIndex));
	const left = errorsIn(outcomes).find(({ itemIndex }) => !again.has(itemIndex));
	const uncertain =
		left && !context.continueOnFail()
			? { ...left, error: newApiError(context.getNode(), left.error) }
			: undefined;
	const endsJobs = (prepared.options?.ifStopped ?? 'keep') !== 'keep';
	const failedItem =
		prepared.failedItem ??
		(endsJobs ? uncertain : undefined) ??
		(await makeCalls(run, prepared)) ??
		uncertain;
	if (failedItem !== undefined) await endJobs(outcomes, prepared);
	return failedItem;
}

/** Makes the calls in parallel. @returns the first error that ends the execution, if one does */
async function makeCalls(run: Run, prepared: PreparedRun): Promise<FailedItem | undefined> {
	const { context, outcomes } = run;
	const { calls, concurrency } = prepared;
	const node = context.getNode();
	const continueOnFail = context.continueOnFail();
	const abortController = new AbortController();
	const { signal } = abortController;
	const stop = () => abortController.abort();
	const stopListening = onAbort(context.getExecutionCancelSignal(), stop);
	const onFailure = continueOnFail ? undefined : stop;
	let firstError: FailedItem | undefined;

	const makeCall = async (
		{ itemIndex, call, options, client }: PreparedItem,
		beginNext: () => void,
	): Promise<void> => {
		const { account } = client;
		try {
			const callOptions = { ...options, signal, onFailure, beginNext };
			const result = await call(new ServiceClient(client, callOptions));
			outcomes[itemIndex] = { ...result, account };
		} catch (error) {
			if (error instanceof StoppedBeforeSending) return;
			outcomes[itemIndex] = undefined;
			const failedItem = failItem(node, outcomes, { itemIndex, error, account });
			if (continueOnFail) return;
			firstError ??= failedItem;
			stop();
		}
	};
	await inParallel(calls, concurrency, makeCall, signal);
	stopListening();
	if (firstError !== undefined || !signal.aborted) return firstError;
	// It names the first item not begun.
	const next = calls.find((call) => outcomes[call.itemIndex] === undefined);
	return {
		itemIndex: next?.itemIndex ?? 0,
		error: newOperationError(node, 'The execution was cancelled'),
	};
}

/** The error that ends the execution, with what there is to know of the other items. */
function completeFatalError(run: Run, failedItem: FailedItem): NodeError {
	const { context, outcomes, endedJobs } = run;
	const { createsJobs } = run.operation;
	const createdJobs = [...endedJobs, ...createdJobsIn(outcomes)];
	const error = completeError(failedItem, { outcomes, createdJobs, createsJobs });
	if (createsJobs !== true) return error;
	if (isCancelled(context)) logCreatedJobs(context, createdJobs, uncertainIn(outcomes));
	else error.message = titleWithJobs(failedItem, { outcomes, createdJobs });
	return error;
}

/** @param error of the items without an outcome, if there are any */
function outputOf(
	context: IExecuteFunctions,
	run: Run | undefined,
	error?: NodeError,
): INodeExecutionData[] {
	const createsJobs = run?.operation.createsJobs;
	return context.getInputData().flatMap((item, itemIndex) => {
		const outcome = run?.outcomes[itemIndex] ?? (error && { error: itemErrorOf(error) });
		if (outcome === undefined) return [];
		if ('error' in outcome) {
			return [errorOutputItem(outcome.error, item, { itemIndex, createsJobs })];
		}
		return outcome.output.map((json) => ({ json, pairedItem: { item: itemIndex } }));
	});
}
