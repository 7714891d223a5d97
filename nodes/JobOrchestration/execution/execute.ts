import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { ItemParameters } from '../parameters/itemParameters';
import { findOperation } from '../resources';
import type { Operation, PreparedCall } from '../resources/operation';
import { readConcurrency, readSendOptions } from '../resources/options';
import { Connection } from '../service/connection';
import type { SendOptions } from '../service/send';
import { Service } from '../service/service';
import { isJob } from '../service/shapes';
import { completeError, errorItem, nodeErrorOf } from './errors';
import type { CreatedJob, NodeError } from './errors';
import { inParallel } from './inParallel';

/** What has become of an item; an item that was never begun has none. */
type Outcome = { output: IDataObject[] } | { error: NodeError };

/** An item whose parameters have been read and checked. */
interface Prepared {
	call: PreparedCall;
	options: SendOptions;
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
	const count = context.getInputData().length;
	if (count === 0) return [[]];

	const operation = operationOf(context);
	const outcomes: Array<Outcome | undefined> = new Array<undefined>(count).fill(undefined);
	const fail = (error: unknown, itemIndex: number) => {
		const nodeError = nodeErrorOf(context.getNode(), error, itemIndex);
		outcomes[itemIndex] = { error: nodeError };
		return nodeError;
	};

	const { concurrency, prepared } = prepareAll(context, operation, fail);
	if (prepared.size > 0) {
		await makeCalls(context, { operation, concurrency, prepared, outcomes, fail });
	}
	return [outcomes.flatMap(outputItems)];
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

/** Reads and checks the parameters of all items. A bad one ends the execution, or becomes its item's error. */
function prepareAll(
	context: IExecuteFunctions,
	operation: Operation,
	fail: (error: unknown, itemIndex: number) => NodeError,
): { concurrency: number; prepared: Map<number, Prepared> } {
	const parameters = new ItemParameters(context, operation.fields);
	const prepared = new Map<number, Prepared>();
	const count = context.getInputData().length;
	let concurrency = 1;

	for (let itemIndex = 0; itemIndex < count; itemIndex += 1) {
		try {
			const give = parameters.of(itemIndex);
			if (itemIndex === 0) concurrency = readConcurrency(give);
			prepared.set(itemIndex, { call: operation.prepare(give), options: readSendOptions(give) });
		} catch (error) {
			const nodeError = fail(error, itemIndex);
			if (!context.continueOnFail()) {
				throw completeError(nodeError, { itemIndex, createdJobs: [], otherErrors: [] });
			}
		}
	}
	return { concurrency, prepared };
}

async function makeCalls(
	context: IExecuteFunctions,
	{
		operation,
		concurrency,
		prepared,
		outcomes,
		fail,
	}: {
		operation: Operation;
		concurrency: number;
		prepared: Map<number, Prepared>;
		outcomes: Array<Outcome | undefined>;
		fail: (error: unknown, itemIndex: number) => NodeError;
	},
): Promise<void> {
	const stop = new AbortController();
	const cancelled = context.getExecutionCancelSignal();
	const onCancel = () => stop.abort();
	if (cancelled?.aborted === true) onCancel();
	cancelled?.addEventListener('abort', onCancel);

	let first: { itemIndex: number; error: NodeError } | undefined;
	let connection: Promise<Connection> | undefined;
	await inParallel(prepared, concurrency, stop.signal, async ([itemIndex, { call, options }]) => {
		try {
			connection ??= Connection.open(context);
			const service = new Service(await connection, { ...options, stop: stop.signal });
			outcomes[itemIndex] = { output: await call(service) };
		} catch (error) {
			const nodeError = fail(error, itemIndex);
			if (context.continueOnFail()) return;
			first ??= { itemIndex, error: nodeError };
			stop.abort();
		}
	});
	cancelled?.removeEventListener('abort', onCancel);

	if (stop.signal.aborted) throw stopped(context, operation, outcomes, first);
}

/** The error that ends the execution, with what there is to know of the other items. */
function stopped(
	context: IExecuteFunctions,
	operation: Operation,
	outcomes: Array<Outcome | undefined>,
	first: { itemIndex: number; error: NodeError } | undefined,
): NodeError {
	const errors = outcomes.flatMap((outcome, itemIndex) =>
		outcome !== undefined && 'error' in outcome ? [{ itemIndex, error: outcome.error }] : [],
	);
	const firstUnbegun = outcomes.indexOf(undefined);
	const { itemIndex, error } = first ?? {
		itemIndex: Math.max(firstUnbegun, 0),
		error: new NodeOperationError(context.getNode(), 'The execution was cancelled'),
	};
	return completeError(error, {
		itemIndex,
		createdJobs: operation.makesJobs === true ? createdJobsIn(outcomes) : [],
		otherErrors: errors.filter((other) => other.itemIndex !== itemIndex),
	});
}

function createdJobsIn(outcomes: Array<Outcome | undefined>): CreatedJob[] {
	return outcomes.flatMap((outcome, itemIndex) => {
		const output = outcome !== undefined && 'output' in outcome ? outcome.output : [];
		return output.filter(isJob).map(({ metadata, displayName }) => ({
			itemIndex,
			namespace: String(metadata.namespace),
			uid: metadata.uid,
			displayName: String(displayName),
		}));
	});
}

function outputItems(outcome: Outcome | undefined, itemIndex: number): INodeExecutionData[] {
	if (outcome === undefined) return [];
	if ('error' in outcome) return [errorItem(outcome.error, itemIndex)];
	return outcome.output.map((json) => ({ json, pairedItem: { item: itemIndex } }));
}
