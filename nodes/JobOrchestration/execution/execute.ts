import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { findOperation } from '../resources';
import type { Operation } from '../resources/operation';
import { HttpClient } from '../service/http';
import { StoppedBeforeSending } from '../service/calls/sendWithRetries';
import { ServiceClient } from '../service/calls/serviceClient';
import { onAbort } from '../service/request/timers';
import { cancelError, isCancelled, logCreatedJobs } from './cancel';
import { endJobs } from './endJobs';
import { completeError, errorOutputItem, failItem, nodeErrorOf, withJobCount } from './errors';
import { addHints } from './hints';
import { inParallel } from './inParallel';
import type { FailedItem, NodeError } from './itemOutcome';
import { createdJobsIn, errorsIn } from './itemOutcome';
import type { PreparedItem, PreparedRun } from './prepare';
import { prepareAll } from './prepare';
import type { RunState } from './retryMemory';
import { recall, remember } from './retryMemory';
import { waitForCall } from './waitUntilCalled';

interface Run extends RunState {
	context: IExecuteFunctions;
	/** Resource and operation: a name that no other operation has. */
	name: string;
	operation: Operation;
	/** How long the execution is to wait for its job's call; undefined if it isn't. */
	waitMs?: number | undefined;
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
	let failedItem: FailedItem | undefined;
	let unexpected: NodeError | undefined;
	try {
		run = beginRun(context);
		failedItem = await runItems(run);
		if (failedItem === undefined) addHints(context, run.outcomes);
	} catch (error) {
		unexpected = nodeErrorOf(context.getNode(), error);
	}
	const fails = failedItem !== undefined || unexpected !== undefined;
	// Before the error is completed: the next run must not inherit what is added to it.
	const waitMs = fails ? undefined : run?.waitMs;
	if (run !== undefined) {
		remember(context, run.name, run, { mayBeRetried: fails || waitMs !== undefined });
	}
	if (fails && (!context.continueOnFail() || isCancelled(context))) {
		throw run && failedItem ? completeFatalError(run, failedItem) : unexpected;
	}
	// If the node is set to continue, n8n would pass the input items on as if they had succeeded.
	const output = outputOf(context, run, unexpected);
	if (waitMs !== undefined) {
		const [job] = createdJobsIn(run?.outcomes ?? []);
		await waitForCall(context, output, { job, limitMs: waitMs });
	}
	return [output];
}

/** @throws NodeOperationError if the workflow names an operation that this version doesn't have */
function beginRun(context: IExecuteFunctions): Run {
	const resource = String(context.getNodeParameter('resource', 0));
	const operationName = String(context.getNodeParameter('operation', 0));
	const operation = findOperation(resource, operationName);
	if (operation === undefined) {
		throw new NodeOperationError(
			context.getNode(),
			`The resource "${resource}" has no operation "${operationName}"`,
			{ description: "Choose another 'Operation'." },
		);
	}
	const name = `${resource}.${operationName}`;
	return { ...recall(context, name), context, name, operation };
}

/** Gives each item its outcome. @returns the error that ends the execution, if one does */
async function runItems(run: Run): Promise<FailedItem | undefined> {
	const { context, operation, outcomes } = run;
	const prepared = await prepareAll(context, operation, outcomes);
	// An item that an earlier run left uncertain fails, but only once all others have been run; unless the others' jobs
	// would then be ended.
	const uncertain = context.continueOnFail() ? undefined : errorsIn(outcomes)[0];
	const failedItem =
		prepared.fatalError ??
		(prepared.ifStopped && uncertain) ??
		(await makeCalls(run, prepared)) ??
		uncertain;
	if (failedItem !== undefined) await endJobs(context, createdJobsIn(outcomes), prepared);
	return failedItem;
}

/** Makes the calls in parallel. @returns the first error that ends the execution, if one does */
async function makeCalls(
	run: Run,
	{ concurrency, timeout, calls }: PreparedRun,
): Promise<FailedItem | undefined> {
	const { context, outcomes } = run;
	const continueOnFail = context.continueOnFail();
	const abortController = new AbortController();
	const { signal } = abortController;
	const stop = () => abortController.abort();
	const stopListening = onAbort(context.getExecutionCancelSignal(), stop);
	const onFailure = continueOnFail ? undefined : stop;
	let httpClient: Promise<HttpClient> | undefined;
	let firstError: FailedItem | undefined;

	const makeCall = async (
		[itemIndex, { call, options }]: [number, PreparedItem],
		beginNext: () => void,
	): Promise<void> => {
		try {
			httpClient ??= HttpClient.open(context, { concurrency, timeout, signal });
			const callOptions = { ...options, signal, onFailure, beginNext };
			const service = new ServiceClient(await httpClient, callOptions);
			const { waitMs, ...result } = await call(service);
			run.waitMs = waitMs;
			const createdJob = result.createdJob && { itemIndex, ...result.createdJob };
			outcomes[itemIndex] = { ...result, createdJob };
		} catch (error) {
			if (error instanceof StoppedBeforeSending) return;
			const failedItem = failItem(context.getNode(), outcomes, { itemIndex, error });
			if (continueOnFail) return;
			firstError ??= failedItem;
			stop();
		}
	};
	await inParallel([...calls], concurrency, makeCall, signal);
	stopListening();
	return firstError ?? (signal.aborted ? cancelError(context, outcomes) : undefined);
}

/** The error that ends the execution, with what there is to know of the other items. */
function completeFatalError(run: Run, failedItem: FailedItem): NodeError {
	const { context, operation, outcomes, endedJobs, itemsNotGiven } = run;
	const createdJobs = [...endedJobs, ...createdJobsIn([...outcomes, ...itemsNotGiven])];
	const error = completeError(failedItem, { outcomes, createdJobs });
	if (operation.createsJobs !== true) return error;
	if (isCancelled(context)) logCreatedJobs(context, error);
	else withJobCount(failedItem, { count: outcomes.length + itemsNotGiven.length, createdJobs });
	return error;
}

function outputOf(
	context: IExecuteFunctions,
	run: Run | undefined,
	error: NodeError | undefined,
): INodeExecutionData[] {
	return context.getInputData().flatMap((item, itemIndex) => {
		const outcome = run?.outcomes[itemIndex] ?? (error && { error });
		if (outcome === undefined) return [];
		if ('error' in outcome) {
			return [errorOutputItem(outcome.error, item, itemIndex, run?.operation.createsJobs)];
		}
		return outcome.output.map((json) => ({ json, pairedItem: { item: itemIndex } }));
	});
}
