import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { ItemParameters } from '../parameters/itemParameters';
import { findOperation } from '../resources';
import type { Operation, PreparedCall } from '../resources/operation';
import { readConcurrency, readSendOptions } from '../resources/options';
import { Connection } from '../service/connection';
import type { SendOptions } from '../service/service';
import { Service } from '../service/service';
import { isJob } from '../service/shapes';
import { wait } from '../service/wait';
import { completeError, errorItem, nodeErrorOf } from './errors';
import type { CreatedJob, NodeError } from './errors';
import { inParallel } from './inParallel';
import type { Outcome, Outcomes } from './outcome';
import { keepForNextTry, settledBefore } from './outcome';

/** Milliseconds of reading parameters after which n8n's other work gets its turn. */
const LONGEST_TURN = 10;

/** An item whose parameters have been read and checked. */
interface Prepared {
	call: PreparedCall;
	options: SendOptions;
}

/** One run of the node, and what becomes of its items. */
interface Run {
	operation: Operation;
	outcomes: Outcomes;
	/** Settles an item with whatever went wrong with it. */
	fail: (error: unknown, itemIndex: number) => NodeError;
}

/**
 * Runs the node's operation for all input items: reads and checks all of them first, then makes the calls,
 * some at once, and returns the results in the order of the items.
 *
 * An item's error ends the execution, unless the node is set to continue: no further call begins, those under
 * way are awaited, and the error lists the jobs that exist by then. A cancelled execution ends in the same way.
 *
 * @throws NodeApiError or NodeOperationError
 */
export async function execute(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const operation = operationOf(context);
	const outcomes = settledBefore(context);
	try {
		await settleAll(context, operation, outcomes);
	} finally {
		keepForNextTry(context, outcomes);
	}
	return [outcomes.flatMap(outputItems)];
}

/** Gives each item that has none its outcome. */
async function settleAll(
	context: IExecuteFunctions,
	operation: Operation,
	outcomes: Outcomes,
): Promise<void> {
	const fail = (error: unknown, itemIndex: number) => {
		const nodeError = nodeErrorOf(context.getNode(), error);
		outcomes[itemIndex] = { error: nodeError };
		return nodeError;
	};
	const run = { operation, outcomes, fail };
	const { concurrency, prepared } = await prepareAll(context, run);
	if (!context.continueOnFail()) {
		const itemIndex = outcomes.findIndex((outcome) => outcome !== undefined && 'error' in outcome);
		const outcome = outcomes[itemIndex];
		if (outcome !== undefined && 'error' in outcome) {
			throw stopped(run, { itemIndex, error: outcome.error });
		}
	}
	await makeCalls(context, run, { concurrency, prepared });
}

function operationOf(context: IExecuteFunctions): Operation {
	const resource = String(context.getNodeParameter('resource', 0));
	const name = String(context.getNodeParameter('operation', 0));
	const operation = findOperation(resource, name);
	if (operation === undefined) {
		throw new NodeOperationError(
			context.getNode(),
			`The resource "${resource}" has no operation "${name}"`,
			{ description: 'Choose one from the list Operation.' },
		);
	}
	return operation;
}

/**
 * Reads and checks the parameters of all items that are not settled. A bad one settles its item; where the
 * node does not continue after an error, the rest is not read. n8n takes its time for each expression, so its
 * other work gets a turn now and then.
 */
async function prepareAll(
	context: IExecuteFunctions,
	{ operation, outcomes, fail }: Run,
): Promise<{ concurrency: number; prepared: Map<number, Prepared> }> {
	const parameters = new ItemParameters(context, operation.fields);
	const prepared = new Map<number, Prepared>();
	let concurrency = 1;
	let turnBegan = Date.now();

	for (const [itemIndex, outcome] of outcomes.entries()) {
		if (outcome !== undefined) continue;
		if (Date.now() - turnBegan > LONGEST_TURN) {
			await wait(0);
			turnBegan = Date.now();
		}
		try {
			const give = parameters.of(itemIndex);
			if (prepared.size === 0) concurrency = readConcurrency(give);
			prepared.set(itemIndex, { call: operation.prepare(give), options: readSendOptions(give) });
		} catch (error) {
			fail(error, itemIndex);
			if (!context.continueOnFail()) break;
		}
	}
	return { concurrency, prepared };
}

async function makeCalls(
	context: IExecuteFunctions,
	run: Run,
	{ concurrency, prepared }: { concurrency: number; prepared: Map<number, Prepared> },
): Promise<void> {
	const stop = new AbortController();
	const cancelled = context.getExecutionCancelSignal();
	const onCancel = () => stop.abort();
	if (cancelled?.aborted === true) onCancel();
	cancelled?.addEventListener('abort', onCancel);

	let first: { itemIndex: number; error: NodeError } | undefined;
	let connection: Promise<Connection> | undefined;
	const atOnce = Math.min(concurrency, prepared.size);
	await inParallel(prepared, atOnce, stop.signal, async ([itemIndex, { call, options }]) => {
		try {
			connection ??= Connection.open(context);
			const service = new Service(await connection, { ...options, stop: stop.signal });
			run.outcomes[itemIndex] = { output: await call(service) };
		} catch (error) {
			const nodeError = run.fail(error, itemIndex);
			if (context.continueOnFail()) return;
			first ??= { itemIndex, error: nodeError };
			stop.abort();
		}
	});
	cancelled?.removeEventListener('abort', onCancel);

	if (!stop.signal.aborted) return;
	const error = stopped(run, first ?? cancellation(context, run));
	if (cancelled?.aborted === true && run.operation.makesJobs === true) leaveWord(context, error);
	throw error;
}

/**
 * Says in n8n's log and in the browser's console which jobs there are: n8n drops what a cancelled node throws
 * (2.x, WorkflowExecute.setupCancellation has saved the execution by then).
 */
function leaveWord(context: IExecuteFunctions, error: NodeError): void {
	const { createdJobs, itemIndex, jobMayExist, uncertainItems } = error.context;
	const uncertain = [jobMayExist === true ? itemIndex : [], uncertainItems].flat();
	const where = `Execution ${context.getExecutionId()}, node "${context.getNode().name}"`;
	const text = `${where} was cancelled. Jobs created by then: ${JSON.stringify(createdJobs)}. Items whose job may exist: ${JSON.stringify(uncertain)}`;
	context.logger.warn(text);
	context.sendMessageToUI(text);
}

function cancellation(context: IExecuteFunctions, { outcomes }: Run) {
	return {
		itemIndex: Math.max(outcomes.indexOf(undefined), 0),
		error: new NodeOperationError(context.getNode(), 'The execution was cancelled'),
	};
}

/** The error that ends the execution, with what there is to know of the other items. */
function stopped(
	{ operation, outcomes }: Run,
	{ itemIndex, error }: { itemIndex: number; error: NodeError },
): NodeError {
	const otherErrors = outcomes.flatMap((outcome, index) =>
		index !== itemIndex && outcome !== undefined && 'error' in outcome
			? [{ itemIndex: index, error: outcome.error }]
			: [],
	);
	const createdJobs = operation.makesJobs === true ? createdJobsIn(outcomes) : [];
	return completeError(error, { itemIndex, createdJobs, otherErrors });
}

function createdJobsIn(outcomes: Outcomes): CreatedJob[] {
	return outcomes.flatMap((outcome, itemIndex) => {
		const output = outcome !== undefined && 'output' in outcome ? outcome.output : [];
		return output.filter(isJob).map(({ metadata, displayName }) => ({
			itemIndex,
			namespace: inText(metadata.namespace),
			uid: metadata.uid,
			displayName: inText(displayName),
		}));
	});
}

/** What should be a text, whatever the service sent in its place. */
function inText(value: unknown): string {
	return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function outputItems(outcome: Outcome | undefined, itemIndex: number): INodeExecutionData[] {
	if (outcome === undefined) return [];
	if ('error' in outcome) return [errorItem(outcome.error, itemIndex)];
	return outcome.output.map((json) => ({ json, pairedItem: { item: itemIndex } }));
}
