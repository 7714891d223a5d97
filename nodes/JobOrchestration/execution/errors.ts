import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import { FieldError } from '../parameters/given';
import { CallError } from '../service/send';
import { ServiceError } from '../service/serviceError';

/** An error as n8n shows it: with title, description and item. */
export type NodeError = NodeApiError | NodeOperationError;

/** The most jobs that an error lists in its description; its `context.createdJobs` has all of them. */
const MOST_LISTED = 100;

/** What an error tells about a job that the execution had made before it. */
export interface CreatedJob {
	itemIndex: number;
	namespace: string;
	uid: string;
	displayName: string;
}

/** Whatever went wrong with an item, as an error that n8n shows well. It holds no request, so no secret. */
export function nodeErrorOf(node: INode, error: unknown): NodeError {
	if (error instanceof ServiceError) return apiErrorOf(node, error);
	if (error instanceof FieldError) {
		const { message, advice: description } = error;
		return withMessage(new NodeOperationError(node, message, { description }), message);
	}
	if (error instanceof NodeApiError || error instanceof NodeOperationError) return error;
	return new NodeOperationError(node, error instanceof Error ? error : String(error));
}

/**
 * An item's error as an output item, for "continue" and for the error output.
 *
 * n8n takes an item for an error where its JSON has `error` and `message` and nothing else (WorkflowExecute,
 * handleNodeErrorOutput; a third field only since 2.34). An `error` beside the JSON would do as well, but
 * then n8n reduces the JSON to a text, and a workflow could not tell whether the job may exist.
 */
export function errorItem(error: NodeError, itemIndex: number): INodeExecutionData {
	const { httpStatus = null, jobMayExist = false } = error.context;
	const description = error.description ?? '';
	return {
		json: {
			error: error.message,
			message: { description, itemIndex, httpStatus, jobMayExist } as IDataObject,
		},
		pairedItem: { item: itemIndex },
	};
}

/** What errors said before they were completed: with Retry On Fail, one can end several tries. */
const advices = new WeakMap<NodeError, string>();

/**
 * Completes an error that ends the execution: with the item, with every job that was made by then, and with
 * the other items that failed meanwhile and whose job may exist.
 */
export function completeError(
	error: NodeError,
	{
		itemIndex,
		createdJobs,
		otherErrors,
	}: {
		itemIndex: number;
		createdJobs: CreatedJob[];
		otherErrors: Array<{ itemIndex: number; error: NodeError }>;
	},
): NodeError {
	const uncertain = otherErrors.filter((other) => other.error.context.jobMayExist === true);
	error.context.itemIndex = itemIndex;
	error.context.createdJobs = createdJobs;
	error.context.uncertainItems = uncertain.map((other) => other.itemIndex);

	const advice = advices.get(error) ?? error.description ?? '';
	advices.set(error, advice);
	const paragraphs = [advice, `It was item ${itemIndex} (the first is 0).`];
	if (uncertain.length > 0) {
		const items = uncertain.map((other) => other.itemIndex).join(', ');
		paragraphs.push(`The jobs of these items may exist as well, look for them too: ${items}.`);
	}
	if (createdJobs.length > 0) paragraphs.push(listOf(createdJobs));
	error.description = paragraphs
		.filter((text) => text !== '')
		.map(asHtml)
		.join('<br><br>');
	return error;
}

/** A text as n8n's editor wants a description: it shows HTML, without what looks like markup of its own. */
function asHtml(text: string): string {
	return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('\n', '<br>');
}

function listOf(jobs: CreatedJob[]): string {
	const lines = jobs
		.slice(0, MOST_LISTED)
		.map(
			({ itemIndex, namespace, uid, displayName }) =>
				`- item ${itemIndex}: ${uid} ('${displayName}' in namespace '${namespace}')`,
		);
	const more = jobs.length - MOST_LISTED;
	if (more > 0) lines.push(`- and ${more} more, in the error's context.createdJobs`);
	return `Jobs that this execution had created (${jobs.length}):\n${lines.join('\n')}`;
}

function apiErrorOf(node: INode, error: ServiceError): NodeApiError {
	const httpStatus = error instanceof CallError ? error.httpStatus : undefined;
	const description = error.description ?? '';
	const apiError = new NodeApiError(
		node,
		{ message: error.message },
		{
			message: error.message,
			description,
			...(httpStatus === undefined ? {} : { httpCode: String(httpStatus) }),
		},
	);
	apiError.context.httpStatus = httpStatus ?? null;
	apiError.context.jobMayExist = error instanceof CallError && error.jobMayExist;
	return withMessage(apiError, error.message);
}

/**
 * Sets the message for good: n8n replaces one in which it finds a system error's code, even inside a longer
 * word, such as EPERM in "experiment" (n8n-workflow, NodeError.setDescriptiveErrorMessage).
 */
function withMessage<E extends NodeError>(error: E, message: string): E {
	error.message = message;
	return error;
}
