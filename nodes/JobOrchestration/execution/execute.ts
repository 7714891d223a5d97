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
 * Runs the node's operation for all input items. Checks all items first, makes the calls in parallel, and returns the
 * results in the order of the items. Items that an earlier run has settled are not run again, unless they are uncertain
 * and the option Create Again If Uncertain is set.
 *
 * After a cancel, no further call begins. The same holds after an error of an item, unless the node is set to continue
 * on errors. Calls in flight are awaited in both cases, but a cancel aborts those that only read.
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
		// If the error were thrown, n8n would pass the input items on as if they had succeeded.
		return [outputOf(context, run, problemOf(cause))];
	}
	throw fatalErrorOf(run, fatal);
}

/**
 * Begins a run with the state that an earlier run has left.
 *
 * @throws Error if the workflow names an operation that this version doesn't have
 */
function beginRun(context: IExecuteFunctions): Run {
	const resource = context.getNodeParameter('resource', 0, null);
	// n8n drops the operation if the form shows no field for it with this resource, so a fallback value is needed.
	const operation = findOperation(resource, context.getNodeParameter('operation', 0, null));
	return { context, operation, ...recall(context, operation) };
}

/**
 * Performs the steps of a run.
 *
 * @returns the problem that ends the execution, if there is one
 */
async function runToEnd(run: Run): Promise<FatalProblem | undefined> {
	try {
		const prepared = await prepareAll(run);
		const fatal = await callAll(run, prepared);
		if (fatal === undefined) addHints(run, prepared.leftOut);
		return fatal;
	} finally {
		// The next run has to know what was done, even if a step throws.
		remember(run);
	}
}

/**
 * Gives each item its outcome.
 *
 * @returns the problem that ends the execution, if there is one
 */
async function callAll(run: Run, prepared: PreparedRun): Promise<FatalProblem | undefined> {
	if (prepared.fatal !== undefined) return prepared.fatal;
	const uncertain = uncertainBefore(run, prepared);
	return (await makeCalls(run, prepared)) ?? uncertain;
}

/**
 * Returns the problem of the first item that an earlier run has left uncertain and that is not run again. This problem
 * ends the execution once all other items are done.
 */
function uncertainBefore(
	{ context, outcomes }: Run,
	{ calls }: PreparedRun,
): FatalProblem | undefined {
	const again = new Set(calls.map(({ itemIndex }) => itemIndex));
	const itemIndex = outcomes.findIndex((outcome, item) => outcome?.problem && !again.has(item));
	const problem = outcomes[itemIndex]?.problem;
	return problem && !context.continueOnFail() ? { itemIndex, problem } : undefined;
}

/**
 * Makes the calls in parallel.
 *
 * @returns the first problem that ends the execution, if there is one
 */
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
	// The error names the first item that was not begun.
	const next = calls.find((call) => outcomes[call.itemIndex] === undefined);
	return { itemIndex: next?.itemIndex ?? 0, problem: problemOf('The execution was cancelled') };
}

/**
 * Returns the output. If a job is to call the execution back, makes the execution wait for that call: it then has its
 * output when the wait ends.
 */
async function outputOrWait(run: Run): Promise<INodeExecutionData[]> {
	const output = outputOf(run.context, run);
	// Only the first item can have a callback, because Wait Until Called takes one item per execution.
	const { callback, createdJob: job } = run.outcomes[0] ?? {};
	if (callback && job) return await waitForCallback(run.context, output, { callback, job });
	return output;
}

/**
 * Returns the outcomes as output items. The JSON of an error item has the fields `message` and `error` and no others:
 * by this, n8n recognises an error item (WorkflowExecute, handleNodeErrorOutput). If an item had an `error` beside its
 * JSON, n8n would reduce the JSON to a text.
 *
 * @param problemOfOthers the problem of the items without an outcome, if there are any
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
