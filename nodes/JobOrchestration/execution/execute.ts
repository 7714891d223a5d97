import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { findOperation } from '../resources';
import { StoppedBeforeSending } from '../service/client';
import { Clients } from '../service/clients';
import {
	nodeErrorOf,
	type Problem,
	problemOf,
	ServiceError,
	unknownProblem,
} from '../service/errors/problem';
import { onAbort } from '../service/timers';
import { waitForCallback } from './callback';
import { endJobs } from './endJobs';
import { fatalErrorOf } from './batchError';
import { inParallel } from './inParallel';
import { prepareAll } from './prepare';
import { addHints } from './report';
import { recall, remember, rememberNothing } from './retryMemory';
import { type FailedItem, isCancelled, isRepeatable, type PreparedItem, type Run } from './run';
import { descriptionOf, titleOf } from '../texts';

/**
 * Runs the node's operation for all input items: checks all of them first, makes the calls in parallel, and returns the
 * results in the order of the items. Items that an earlier run has settled are not run again. After a cancel, or an error
 * of an item unless the node is set to continue, no further call begins, and those in flight are awaited.
 *
 * @throws NodeApiError or NodeOperationError
 */
export async function execute(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	let run: Run | undefined;
	let failed: FailedItem | undefined;
	try {
		run = beginRun(context);
		failed = await runToEnd(run);
		if (failed === undefined) return [await finish(run)];
	} catch (cause) {
		if (run === undefined) rememberNothing(context);
		if (!context.continueOnFail() || isCancelled(context)) {
			throw nodeErrorOf(context.getNode(), cause);
		}
		// n8n would pass the input items on as if they had succeeded.
		return [outputOf(context, run, problemOf(cause))];
	}
	throw fatalErrorOf(run, failed);
}

/** @throws Error if the workflow names an operation that this version doesn't have */
function beginRun(context: IExecuteFunctions): Run {
	const resource = context.getNodeParameter('resource', 0, null);
	// n8n drops it where no field is shown for the resource.
	const operation = findOperation(resource, context.getNodeParameter('operation', 0, null));
	const state = recall(context, `${String(resource)}.${operation.value}`);
	const clients = new Clients(context);
	return { ...state, context, operation, leftOut: new Map(), calls: [], clients };
}

/** Reads and checks all items, and makes the calls. @returns the error that ends the execution, if one does */
async function runToEnd(run: Run): Promise<FailedItem | undefined> {
	try {
		return await runItems(run, await prepareAll(run));
	} finally {
		// Whatever is thrown, the next run knows what was done.
		remember(run);
	}
}

/** @returns the output, which an execution that waits for its job's callback has later */
async function finish(run: Run): Promise<INodeExecutionData[]> {
	const { context, outcomes } = run;
	addHints(run);
	const output = outputOf(context, run);
	// Only the first item can have a callback.
	const { callback, createdJob: job } = outcomes[0] ?? {};
	if (callback && job) return await waitForCallback(context, output, { callback, job });
	return output;
}

/** Gives each item its outcome. @returns the error that ends the execution, which may have come before the first call */
async function runItems(run: Run, failedBefore?: FailedItem): Promise<FailedItem | undefined> {
	const { context, outcomes, calls, options } = run;
	// An item that an earlier run left uncertain fails, but only once all others have been run; unless the others' jobs
	// would then be ended.
	const again = new Set(calls.map(({ itemIndex }) => itemIndex));
	const itemIndex = outcomes.findIndex((outcome, item) => outcome?.error && !again.has(item));
	const error = outcomes[itemIndex]?.error;
	const left = error && !context.continueOnFail() ? { itemIndex, error } : undefined;
	const endsJobs = (options?.ifStopped ?? 'keep') !== 'keep';
	const failed = failedBefore ?? (endsJobs ? left : undefined) ?? (await makeCalls(run)) ?? left;
	if (failed !== undefined) await endJobs(run);
	return failed;
}

/** Makes the calls in parallel. @returns the first error that ends the execution, if one does */
async function makeCalls(run: Run): Promise<FailedItem | undefined> {
	const { context, operation, outcomes, calls, itemsAtOnce } = run;
	const continueOnFail = context.continueOnFail();
	const abortController = new AbortController();
	const { signal } = abortController;
	const stop = () => abortController.abort();
	const stopListening = onAbort(context.getExecutionCancelSignal(), stop);
	const onFailure = continueOnFail ? undefined : stop;
	let firstFailed: FailedItem | undefined;

	const makeCall = async ({ itemIndex, call, options, client }: PreparedItem): Promise<void> => {
		const { account } = client;
		try {
			const callOptions = { ...options, signal, onFailure };
			const result = await call.send(client, callOptions);
			outcomes[itemIndex] = { ...result, account };
		} catch (cause) {
			if (cause instanceof StoppedBeforeSending) return;
			const isKnown = cause instanceof ServiceError || isRepeatable(operation);
			const error = isKnown
				? problemOf(cause)
				: unknownProblem(client.redact(String(cause)), call.job);
			outcomes[itemIndex] = { error, account };
			if (continueOnFail) return;
			firstFailed ??= { itemIndex, error, cause };
			stop();
		}
	};
	await inParallel(calls, itemsAtOnce, makeCall, signal);
	stopListening();
	if (firstFailed !== undefined || !signal.aborted) return firstFailed;
	// It names the first item not begun.
	const next = calls.find((call) => outcomes[call.itemIndex] === undefined);
	const error = problemOf('The execution was cancelled');
	return { itemIndex: next?.itemIndex ?? 0, error };
}

/**
 * The outcomes as output items. An error's JSON has `message` and `error` and nothing else: by this, n8n takes the item
 * for an error (WorkflowExecute, handleNodeErrorOutput). It would reduce the JSON of an item with an `error` beside it to
 * a text.
 *
 * @param errorOfOthers of the items without an outcome, if there are any
 */
function outputOf(
	context: IExecuteFunctions,
	run?: Run,
	errorOfOthers?: Problem,
): INodeExecutionData[] {
	return context.getInputData().flatMap(({ binary }, itemIndex) => {
		const { output = [], error } = run?.outcomes[itemIndex] ?? { error: errorOfOthers };
		const pairedItem = { item: itemIndex };
		if (error === undefined) return output.map((json) => ({ json, pairedItem }));
		const { httpStatus = null, uncertainJob } = error;
		const ofCreate = run?.operation.createsJobs && { jobMayExist: uncertainJob !== undefined };
		const description = descriptionOf(error);
		const json = {
			message: titleOf(error),
			error: { description, itemIndex, httpStatus, ...ofCreate },
		};
		return [{ json, ...(binary && { binary }), pairedItem }];
	});
}
