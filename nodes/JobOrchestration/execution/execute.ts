import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { findOperation } from '../resources';
import { StoppedBeforeSending } from '../service/client';
import {
	nodeErrorOf,
	type Problem,
	problemOf,
	ServiceError,
	unknownProblem,
} from '../service/errors/problem';
import { onAbort } from '../service/timers';
import { descriptionOf, titleOf } from '../texts';
import { waitForCallback } from '../waitUntilCalled/callback';
import { fatalErrorOf } from './batchError';
import { endJobs } from './endJobs';
import { addHints } from './hints';
import { inParallel } from './inParallel';
import { prepareAll } from './prepare';
import { recall, remember, rememberNothing } from './retryMemory';
import {
	type FatalProblem,
	isCancelled,
	isRepeatable,
	type PreparedItem,
	type PreparedRun,
	type Run,
} from './run';

/**
 * Runs the node's operation for all input items: checks all of them first, makes the calls in parallel, and returns the
 * results in the order of the items. Items that an earlier run has settled are not run again. After a cancel, or an error
 * of an item unless the node is set to continue, no further call begins, and those in flight are awaited.
 *
 * @throws NodeApiError or NodeOperationError
 */
export async function execute(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	let run: Run | undefined;
	let fatal: FatalProblem | undefined;
	try {
		run = beginRun(context);
		fatal = await runToEnd(run);
		if (fatal === undefined) return [await outputOrWait(run)];
	} catch (cause) {
		if (run === undefined) rememberNothing(context);
		if (!context.continueOnFail() || isCancelled(context)) {
			throw nodeErrorOf(context.getNode(), cause);
		}
		// n8n would pass the input items on as if they had succeeded.
		return [outputOf(context, run, problemOf(cause))];
	}
	throw fatalErrorOf(run, fatal);
}

/** @throws Error if the workflow names an operation that this version doesn't have */
function beginRun(context: IExecuteFunctions): Run {
	const resource = context.getNodeParameter('resource', 0, null);
	// n8n drops it where no field is shown for the resource.
	const operation = findOperation(resource, context.getNodeParameter('operation', 0, null));
	return { context, operation, ...recall(context, operation) };
}

/** Does the steps of a run. @returns the problem that ends the execution, if one does */
async function runToEnd(run: Run): Promise<FatalProblem | undefined> {
	try {
		const prepared = await prepareAll(run);
		const fatal = await callAll(run, prepared);
		if (fatal === undefined) addHints(run, prepared.leftOut);
		else await endJobs(run, prepared);
		return fatal;
	} finally {
		// Whatever is thrown, the next run knows what was done.
		remember(run);
	}
}

/** Gives each item its outcome. @returns the problem that ends the execution, if one does */
async function callAll(run: Run, prepared: PreparedRun): Promise<FatalProblem | undefined> {
	if (prepared.fatal !== undefined) return prepared.fatal;
	const uncertain = uncertainBefore(run, prepared);
	// The jobs would be created only to be ended.
	const endsJobs = (prepared.options?.ifStopped ?? 'keep') !== 'keep';
	if (uncertain !== undefined && endsJobs) return uncertain;
	return (await makeCalls(run, prepared)) ?? uncertain;
}

/** The first item that an earlier run has left uncertain, and that isn't run again: it ends the execution, once all others are done. */
function uncertainBefore(
	{ context, outcomes }: Run,
	{ calls }: PreparedRun,
): FatalProblem | undefined {
	const again = new Set(calls.map(({ itemIndex }) => itemIndex));
	const itemIndex = outcomes.findIndex((outcome, item) => outcome?.problem && !again.has(item));
	const problem = outcomes[itemIndex]?.problem;
	return problem && !context.continueOnFail() ? { itemIndex, problem } : undefined;
}

/** Makes the calls in parallel. @returns the first problem that ends the execution, if one does */
async function makeCalls(
	{ context, operation, outcomes }: Run,
	{ calls, itemsAtOnce }: PreparedRun,
): Promise<FatalProblem | undefined> {
	const continueOnFail = context.continueOnFail();
	const abortController = new AbortController();
	const { signal } = abortController;
	const stop = () => abortController.abort();
	const stopListening = onAbort(context.getExecutionCancelSignal(), stop);
	const onFailure = continueOnFail ? undefined : stop;
	let firstFatal: FatalProblem | undefined;

	const makeCall = async ({ itemIndex, call, options, client }: PreparedItem): Promise<void> => {
		const { account } = client;
		try {
			const callOptions = { ...options, signal, onFailure };
			const result = await call.send(client, callOptions);
			outcomes[itemIndex] = { ...result, account };
		} catch (cause) {
			if (cause instanceof StoppedBeforeSending) return;
			const isKnown = cause instanceof ServiceError || isRepeatable(operation);
			const problem = isKnown
				? problemOf(cause)
				: unknownProblem(client.redact(String(cause)), call.job);
			outcomes[itemIndex] = { problem, account };
			if (continueOnFail) return;
			firstFatal ??= { itemIndex, problem, cause };
			stop();
		}
	};
	await inParallel(calls, itemsAtOnce, makeCall, signal);
	stopListening();
	if (firstFatal !== undefined || !signal.aborted) return firstFatal;
	// It names the first item not begun.
	const next = calls.find((call) => outcomes[call.itemIndex] === undefined);
	return { itemIndex: next?.itemIndex ?? 0, problem: problemOf('The execution was cancelled') };
}

/** @returns the output, which an execution that waits for its job's call has later */
async function outputOrWait(run: Run): Promise<INodeExecutionData[]> {
	const output = outputOf(run.context, run);
	// Only the first item can have a callback.
	const { callback, createdJob: job } = run.outcomes[0] ?? {};
	if (callback && job) return await waitForCallback(run.context, output, { callback, job });
	return output;
}

/**
 * The outcomes as output items. An error's JSON has `message` and `error` and nothing else: by this, n8n takes the item
 * for an error (WorkflowExecute, handleNodeErrorOutput). It would reduce the JSON of an item with an `error` beside it to
 * a text.
 *
 * @param problemOfOthers of the items without an outcome, if there are any
 */
function outputOf(
	context: IExecuteFunctions,
	run?: Run,
	problemOfOthers?: Problem,
): INodeExecutionData[] {
	return context.getInputData().flatMap(({ binary }, itemIndex) => {
		const { output = [], problem } = run?.outcomes[itemIndex] ?? { problem: problemOfOthers };
		const pairedItem = { item: itemIndex };
		if (problem === undefined) return output.map((json) => ({ json, pairedItem }));
		const { httpStatus = null, uncertainJob } = problem;
		const ofCreate = run?.operation.createsJobs && { jobMayExist: uncertainJob !== undefined };
		const description = descriptionOf(problem);
		const json = {
			message: titleOf(problem),
			error: { description, itemIndex, httpStatus, ...ofCreate },
		};
		return [{ json, ...(binary && { binary }), pairedItem }];
	});
}
