import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { Outcome } from '../resources/operation';
import {
	descriptionOf,
	jobMayExist,
	nodeErrorOf,
	type Problem,
	problemOf,
	uncertain,
} from '../service/errors/problem';
import { inParallel, onAbort } from '../service/timers';
import { waitForCallback } from '../waitUntilCalled';
import { type CreatedJob, nameOf } from '../texts';
import { fatalErrorOf } from './batchError';
import { prepareAll } from './prepare';
import { isCancelled, type ItemProblem, recall, remember, rememberNothing, type Run } from './run';
import { addHints } from './summary';

/**
 * Runs the node's operation for all input items. Checks all items first, makes the calls in parallel, and returns the
 * results in the order of the items. Items that an earlier run has settled are not run again, unless they are uncertain
 * and the option Create Again If Uncertain is set.
 *
 * After a cancel, no further call begins. The same applies after an error of an item, unless the node is set to continue
 * on errors. Calls in flight are awaited in both cases, but a cancel aborts those that only read.
 *
 * @throws NodeApiError or NodeOperationError
 */
export async function execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const end = await runNode(this);
	if (end instanceof Error) throw end;
	return [end];
}

/** Runs the operation, and returns the output, or the error that ends the execution. */
async function runNode(context: IExecuteFunctions): Promise<INodeExecutionData[] | Error> {
	let run: Run | undefined;
	// If the error were thrown in spite of Continue, n8n would pass the input items on as if they had succeeded.
	const failed = (problem: Problem, error: Error) =>
		goesOn(context) ? outputOf(context, run, { problem }) : error;
	try {
		run = recall(context);
		const { refusal } = run;
		if (refusal !== undefined)
			return failed(refusal, nodeErrorOf(context.getNode(), undefined, refusal));
		const fatal = (await runToEnd(run)) ?? (await beginWait(run));
		return fatal === undefined ? outputOf(context, run) : fatalErrorOf(run, fatal);
	} catch (cause) {
		const problem: Problem = { ...problemOf(cause), scope: 'all items' };
		if (run !== undefined)
			return failed(problem, fatalErrorOf(run, { itemIndex: 0, problem, cause }));
		rememberNothing(context);
		return failed(problem, nodeErrorOf(context.getNode(), cause, problem));
	}
}

/** Decides whether an item that fails leaves the node as an error item. After a cancel, the node ends with an error. */
const goesOn = (context: IExecuteFunctions) => context.continueOnFail() && !isCancelled(context);

/**
 * Performs the steps of a run.
 *
 * @returns the problem that ends the execution, if there is one
 */
async function runToEnd(run: Run): Promise<ItemProblem | undefined> {
	let hasFailed = true;
	try {
		const { items, fatal } = await prepareAll(run);
		const ended = fatal ?? (await makeCalls(run, items)) ?? uncertainProblemIn(run);
		hasFailed = ended !== undefined;
		if (ended === undefined) addHints(run);
		return ended;
	} finally {
		// The next run has to know what was done, even if a step throws.
		remember(run, hasFailed);
	}
}

/**
 * Makes the calls in parallel, and gives each of their items its outcome.
 *
 * @returns the first problem that ends the execution, if there is one
 */
async function makeCalls(
	{ context, outcomes }: Run,
	items: Awaited<ReturnType<typeof prepareAll>>['items'],
): Promise<ItemProblem | undefined> {
	const abortController = new AbortController();
	const { signal } = abortController;
	const stop = () => abortController.abort();
	const stopListening = onAbort(context.getExecutionCancelSignal(), stop);
	const onFailure = context.continueOnFail() ? undefined : stop;
	let firstFatal: ItemProblem | undefined;

	await inParallel(items, { signal }, async ({ itemIndex, prepared, options, client }) => {
		const { idempotent, job } = prepared.call;
		const sending = prepared.send(client, { ...options, signal, onFailure });
		const outcome = await sending.catch((cause: unknown) => {
			const facts = [`Please report the error: ${client.redact(String(cause))}`];
			const own = { title: 'This node failed with an error of its own', advice: '', facts };
			return { problem: idempotent ? { ...own, httpStatus: null } : uncertain(own, job) };
		});
		outcomes[itemIndex] = outcome;
		if (outcome?.problem === undefined || onFailure === undefined) return;
		firstFatal ??= { itemIndex, problem: outcome.problem };
		// After a failed call, the client has done so already, before another request could get the permit.
		onFailure();
	});
	stopListening();
	if (firstFatal !== undefined || !signal.aborted) return firstFatal;
	// The error names the first item that was not begun.
	const next = items.find((item) => outcomes[item.itemIndex] === undefined);
	return { itemIndex: next?.itemIndex ?? 0, problem: problemOf('The execution was cancelled') };
}

/**
 * Returns the problem of the first item that an earlier run has left uncertain and that was not run again. This problem
 * ends the execution once all other items are done. No other problem is left at that time.
 */
function uncertainProblemIn({ context, outcomes }: Run): ItemProblem | undefined {
	const itemIndex = outcomes.findIndex((outcome) => outcome?.problem);
	const problem = outcomes[itemIndex]?.problem;
	return problem && !context.continueOnFail() ? { itemIndex, problem } : undefined;
}

/**
 * Makes the execution wait if a job is to call it back. If n8n can't begin the wait, the item fails, but the next try
 * waits for the same job.
 *
 * @returns the problem that ends the execution, if there is one
 */
async function beginWait(run: Run): Promise<ItemProblem | undefined> {
	const { context, outcomes, recalled } = run;
	// Only the first item can have a callback, because Wait Until Called takes one item per execution.
	const [{ callback, createdJob: job, output: [output] = [] } = {}] = outcomes;
	if (callback === undefined || job === undefined || output === undefined) return undefined;
	try {
		const isOfEarlierRun = outcomes[0] === recalled[0];
		const called = await waitForCallback(context, output, { callback, job, isOfEarlierRun });
		if (called !== undefined) outcomes[0] = { output: [called] };
		return undefined;
	} catch (cause) {
		const problem = notWaitingProblem(job, cause);
		if (!goesOn(context)) return { itemIndex: 0, problem, cause };
		outcomes[0] = { problem };
		return undefined;
	}
}

/** Returns the problem of an item whose job was created, but whose wait n8n can't begin. */
function notWaitingProblem(job: CreatedJob, cause: unknown): Problem {
	const { namespace, displayName, shownUid } = job;
	return {
		title: "The job was created, but n8n can't wait for its call",
		advice: `Job ${shownUid} (${nameOf(job)}) exists: don't create it again. Its call to n8n gets the status 409.`,
		facts: [`n8n says: ${cause instanceof Error ? cause.message : String(cause)}`],
		httpStatus: null,
		uncertainJob: { namespace, displayName },
	};
}

/**
 * Returns the outcomes as output items. The JSON of an error item has the fields `message` and `error` and no others:
 * by this, n8n recognises an error item (WorkflowExecute, handleNodeErrorOutput). If an item had an `error` beside its
 * JSON, n8n would reduce the JSON to a text.
 *
 * @param run undefined if the operation isn't known
 * @param others the outcome of the items without an outcome, if there are any
 */
function outputOf(context: IExecuteFunctions, run?: Run, others: Outcome = {}) {
	return context.getInputData().flatMap(({ binary }, itemIndex): INodeExecutionData[] => {
		const { output = [], problem } = run?.outcomes[itemIndex] ?? others;
		const pairedItem = { item: itemIndex };
		if (problem === undefined) return output.map((json) => ({ json, pairedItem }));
		const { title: message, httpStatus = null } = problem;
		const ofCreate = run?.operation.done === 'created' && { jobMayExist: jobMayExist(problem) };
		const description = descriptionOf(problem);
		const json = { message, error: { description, itemIndex, httpStatus, ...ofCreate } };
		return [{ json, ...(binary && { binary }), pairedItem }];
	});
}
