import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { findOperation } from '../resources';
import type { Operation } from '../resources/operation';
import { HttpClient } from '../service/http';
import { StoppedBeforeSending } from '../service/calls/sendWithRetries';
import type { CallOptions } from '../service/calls/serviceClient';
import { ServiceClient } from '../service/calls/serviceClient';
import { onAbort } from '../service/request/timers';
import { cancelError, isCancelled, logCreatedJobs } from './cancel';
import type { RestoredRun, RetryState } from './retryState';
import { restore, retryStateOf } from './retryState';
import { endJobs } from './endJobs';
import { completeError, errorOutputItem, failItem, hintOf, nodeErrorOf } from './errors';
import { inParallel } from './inParallel';
import type { CreatedJob, FailedItem, NodeError } from './itemOutcome';
import { createdJobsIn, errorsIn } from './itemOutcome';
import type { PreparedRun, PreparedItem } from './prepare';
import { prepareAll } from './prepare';
import { loadRetryState, mayBeTriedAgain, saveRetryState } from './retryStorage';

/** One run of the node, and what becomes of its items. */
interface Run extends RestoredRun {
	context: IExecuteFunctions;
	/** Resource and operation: a name that no other operation has. */
	name: string;
	operation: Operation;
	/** What it leaves to the next run, once its items are settled. */
	retryState?: { left: RetryState | undefined };
}

/**
 * Runs the node's operation for all input items: reads and checks all of them first, then makes the calls,
 * some at once, and returns the results in the order of the items. Items that an earlier run has settled are
 * not run again.
 *
 * An item's error ends the execution, unless the node is set to continue: no further call begins, those under
 * way are awaited, and the error lists the jobs that exist by then. A cancelled execution ends in the same way.
 *
 * @throws NodeApiError or NodeOperationError; where the node is set to continue, only if it is cancelled
 */
export async function execute(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const node = context.getNode();
	let run: Run | undefined;
	try {
		run = beginRun(context);
		const fatalError = await settleAll(run);
		rememberForRetry(run, { fails: fatalError !== undefined });
		if (fatalError !== undefined) throw completeFatalError(run, fatalError);

		const hint = hintOf(run.outcomes);
		if (hint !== undefined) context.addExecutionHints(hint);
		return [outputOf(context, run)];
	} catch (error) {
		const nodeError = nodeErrorOf(node, error);
		// Whatever has failed, a job that was created is not created again.
		if (run !== undefined) rememberForRetry(run, { fails: true });
		if (!context.continueOnFail() || isCancelled(context)) throw nodeError;
		// n8n would pass the input items on as if they had succeeded.
		return [outputOf(context, run, nodeError)];
	}
}

function beginRun(context: IExecuteFunctions): Run {
	const { name, operation } = operationOf(context);
	const count = context.getInputData().length;
	const earlier = loadRetryState(context);
	const restored = restore(earlier, { operation: name, count, node: context.getNode() });
	return { ...restored, context, name, operation };
}

/** Leaves to the next run with these items what it needs, if there may be one. */
function rememberForRetry(run: Run, { fails }: { fails: boolean }): void {
	const mayRunAgain = fails || mayBeTriedAgain(run.context);
	// Computed once: completeFatalError adds to the error's text, and the next run must not inherit that.
	run.retryState ??= { left: retryStateOf(run.name, run) };
	saveRetryState(run.context, mayRunAgain ? run.retryState.left : undefined, { fails });
}

function operationOf(context: IExecuteFunctions): { name: string; operation: Operation } {
	const resource = String(context.getNodeParameter('resource', 0));
	const name = String(context.getNodeParameter('operation', 0));
	const operation = findOperation(resource, name);
	if (operation === undefined) {
		throw new NodeOperationError(
			context.getNode(),
			`The resource "${resource}" has no operation "${name}"`,
			{ description: "Choose another 'Operation'." },
		);
	}
	return { name: `${resource}.${name}`, operation };
}

/**
 * Gives each item its outcome, until an error or a cancel ends the execution.
 *
 * @returns that error, if one does
 */
async function settleAll(run: Run): Promise<FailedItem | undefined> {
	const { context, operation, outcomes } = run;
	const prepared = await prepareAll(context, operation, outcomes);
	// An item that an earlier run left uncertain fails, but only once all others have been run; unless the others' jobs
	// would then be ended.
	const uncertain = context.continueOnFail() ? undefined : errorsIn(outcomes)[0];
	let { fatalError } = prepared;
	if (prepared.ifStopped !== undefined) fatalError ??= uncertain;
	fatalError ??= (await makeCalls(run, prepared)) ?? uncertain;
	if (fatalError !== undefined) await endJobs(context, createdJobsIn(outcomes), prepared);
	return fatalError;
}

/**
 * Makes the calls, some at once; after an error that ends the execution, or a cancel, no further one.
 *
 * @returns the first such error
 */
async function makeCalls(
	run: Run,
	{ concurrency, calls }: PreparedRun,
): Promise<FailedItem | undefined> {
	const { context, outcomes } = run;
	const continueOnFail = context.continueOnFail();
	const abortController = new AbortController();
	const { signal } = abortController;
	const stop = () => abortController.abort();
	const stopListening = onAbort(context.getExecutionCancelSignal(), stop);

	const slowest = slowestOf(calls);
	let httpClient: Promise<HttpClient> | undefined;
	let firstError: FailedItem | undefined;
	const callFor = async (
		[itemIndex, { call, options }]: [number, PreparedItem],
		beginNext: () => void,
	): Promise<void> => {
		const createdJobs: CreatedJob[] = [];
		try {
			httpClient ??= HttpClient.open(context, { ...slowest, concurrency, signal });
			const client = new ServiceClient(
				await httpClient,
				{
					...options,
					signal,
					onFailure: continueOnFail ? undefined : stop,
					beginNext,
				},
				(job) => createdJobs.push({ itemIndex, ...job }),
			);
			outcomes[itemIndex] = { createdJobs, output: await call(client) };
		} catch (error) {
			if (error instanceof StoppedBeforeSending) return;
			const failedItem = failItem(context.getNode(), outcomes, { itemIndex, error }, createdJobs);
			if (continueOnFail) return;
			firstError ??= failedItem;
			stop();
		}
	};
	await inParallel([...calls], concurrency, callFor, signal);
	stopListening();
	return firstError ?? (signal.aborted ? cancelError(context, outcomes) : undefined);
}

/** The longest Timeout and the most retries of a batch: its items share one client. */
function slowestOf(calls: PreparedRun['calls']): Pick<CallOptions, 'maxRetries' | 'timeout'> {
	const slowest = { maxRetries: 0, timeout: 0 };
	for (const { options } of calls.values()) {
		slowest.maxRetries = Math.max(slowest.maxRetries, options.maxRetries);
		slowest.timeout = Math.max(slowest.timeout, options.timeout);
	}
	return slowest;
}

/** The error that ends the execution, with what there is to know of the other items. */
function completeFatalError(run: Run, fatalError: FailedItem): NodeError {
	const { context, operation, outcomes, endedJobs, omitted } = run;
	const createdJobs = [...endedJobs, ...createdJobsIn([...outcomes, ...omitted])];
	const error = completeError(fatalError, { outcomes, createdJobs });
	if (isCancelled(context) && operation.makesJobs === true) logCreatedJobs(context, error);
	return error;
}

/**
 * The output items, in the order of the input items.
 *
 * @param error of the items that have no outcome
 */
function outputOf(
	context: IExecuteFunctions,
	run: Run | undefined,
	error?: NodeError,
): INodeExecutionData[] {
	return context.getInputData().flatMap((item, itemIndex) => {
		const outcome = run?.outcomes[itemIndex] ?? (error && { error });
		if (outcome === undefined) return [];
		if ('error' in outcome) {
			return [errorOutputItem(outcome.error, item, itemIndex, run?.operation.makesJobs)];
		}
		return outcome.output.map((json) => ({ json, pairedItem: { item: itemIndex } }));
	});
}
