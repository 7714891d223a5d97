import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { findOperation } from '../resources';
import type { Operation } from '../resources/operation';
import { HttpClient } from '../service/calls/httpClient';
import { StoppedBeforeSending } from '../service/calls/sendWithRetries';
import { ServiceClient } from '../service/calls/serviceClient';
import { onAbort } from '../service/request/timers';
import { cancelError, isCancelled, logCreatedJobs } from './cancel';
import type { RestoredRun } from './retryState';
import { restore, retryStateOf } from './retryState';
import { endJobs } from './endJobs';
import { completeError, errorOutputItem, failItem, hintOf, nodeErrorOf } from './errors';
import { inParallel } from './inParallel';
import type { CreatedJob, FailedItem, ItemOutcome, NodeError } from './itemOutcome';
import { createdJobsIn, errorsIn } from './itemOutcome';
import type { PreparedRun, PreparedItem } from './prepare';
import { prepareAll } from './prepare';
import { loadRetryState, mayBeTriedAgain, saveRetryState } from './retryStorage';

/** One run of the node, and what becomes of its items. */
interface Run extends RestoredRun {
	context: IExecuteFunctions;
	operation: Operation;
	/** The HTTP client of all items, once the first of them has opened it. */
	httpClient?: Promise<HttpClient>;
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
	const items = context.getInputData();
	const node = context.getNode();
	try {
		const { name, operation } = operationOf(context);
		const restored = restore(loadRetryState(context), {
			operation: name,
			count: items.length,
			node,
		});
		const { outcomes } = restored;
		const run: Run = { ...restored, context, operation };
		const fatalError = await settleAll(run);
		const fails = fatalError !== undefined;
		const mayRunAgain = fails || mayBeTriedAgain(context);
		saveRetryState(context, mayRunAgain ? retryStateOf(name, restored) : undefined, { fails });
		if (fatalError !== undefined) throw await completeFatalError(run, fatalError);

		const hint = hintOf(outcomes);
		if (hint !== undefined) context.addExecutionHints(hint);
		return [outcomes.flatMap((outcome, itemIndex) => outputItems(outcome, itemIndex, operation))];
	} catch (error) {
		const nodeError = nodeErrorOf(node, error);
		if (!context.continueOnFail() || isCancelled(context)) throw nodeError;
		// n8n would pass the input items on as if they had succeeded.
		saveRetryState(context, undefined);
		return [items.map((_, itemIndex) => errorOutputItem(nodeError, itemIndex))];
	}
}

/** @returns the operation, with a name that no other has */
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

	let firstError: FailedItem | undefined;
	const callFor = async (
		[itemIndex, { call, options }]: [number, PreparedItem],
		letOthersTry: () => Promise<void>,
	): Promise<void> => {
		const createdJobs: CreatedJob[] = [];
		try {
			run.httpClient ??= HttpClient.open(context, { concurrency });
			const client = new ServiceClient(
				await run.httpClient,
				{
					...options,
					signal,
					onFailure: continueOnFail ? undefined : stop,
					letOthersTry,
				},
				(uid, { namespace, displayName }) =>
					createdJobs.push({ itemIndex, namespace, uid, displayName }),
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

/** The error that ends the execution, with what there is to know of the other items. */
async function completeFatalError(run: Run, fatalError: FailedItem): Promise<NodeError> {
	const { context, operation, outcomes, endedJobs, omitted } = run;
	const createdJobs = [...endedJobs, ...createdJobsIn([...outcomes, ...omitted])];
	if (createdJobs.length > 0) run.httpClient ??= HttpClient.open(context);
	const httpClient = await run.httpClient?.catch(() => undefined);
	const redact = (text: string) => httpClient?.redact(text) ?? text;
	const error = completeError(fatalError, { outcomes, createdJobs }, redact);
	if (isCancelled(context) && operation.makesJobs === true) logCreatedJobs(context, error);
	return error;
}

function outputItems(
	outcome: ItemOutcome | undefined,
	itemIndex: number,
	operation: Operation,
): INodeExecutionData[] {
	if (outcome === undefined) return [];
	if ('error' in outcome) return [errorOutputItem(outcome.error, itemIndex, operation.makesJobs)];
	return outcome.output.map((json) => ({ json, pairedItem: { item: itemIndex } }));
}
