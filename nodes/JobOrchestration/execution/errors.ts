import type { INode, INodeExecutionData } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import { FieldError } from '../parameters/fieldError';
import type { NamedJob } from '../service/errors/serviceError';
import {
	asPlainText,
	asTitle,
	isAboutAllItems,
	ServiceError,
} from '../service/errors/serviceError';
import type { FailedItem, ItemError, ItemOutcomes, ListedJob, NodeError } from './itemOutcome';
import { FROM_ZERO, itemList, uncertainIn } from './itemOutcome';

/** The most jobs that an error lists in its description; its `context.createdJobs` has all of them. */
export const MAX_LISTED = 100;

const CREATES_AGAIN =
	"Don't execute this node again with the same items: that creates these jobs again. Use Retry in the list of executions (with the currently saved workflow, if you change it), or run only the items without a job.";

const KEEPS_ITEMS =
	"Retry keeps the items as they came. Correct a wrong value in this node's fields, or run the items without a job in a new execution";

const CREATE_UNCERTAIN_AGAIN =
	"If there is no such job, turn on 'Create Again If Uncertain' in this node's Options, and use Retry with the currently saved workflow.";

/** What "Job not created" says as well. */
const REFUSED = /^The service refused to create the job: /;

/** Any error as one that n8n shows well. It holds no request, and so no secret. */
export function nodeErrorOf(node: INode, error: unknown): NodeError {
	if (error instanceof ServiceError) return newApiError(node, error);
	if (error instanceof FieldError) return newOperationError(node, error.message, error.description);
	const nodeError =
		error instanceof NodeApiError || error instanceof NodeOperationError
			? error
			: new NodeOperationError(node, error instanceof Error ? error : String(error));
	nodeError.message = asTitle(nodeError.message);
	nodeError.description = asPlainText(nodeError.description ?? '');
	return nodeError;
}

/*
 * n8n replaces a message in which it finds a system error's code, even inside a longer word, such as EPERM in
 * "experiment" (n8n-workflow, NodeError.setDescriptiveErrorMessage). So both functions set the message again.
 */

/** An error of the node itself, such as a wrong field. */
export function newOperationError(node: INode, message: string, description = ''): NodeError {
	const options = { description: asPlainText(description) };
	const error = new NodeOperationError(node, message, options);
	error.message = asTitle(message);
	return error;
}

/** The error of a call that failed. Its texts are plain. */
export function newApiError(
	node: INode,
	call: Pick<ServiceError, 'message' | 'description' | 'httpStatus' | 'jobMayExist'>,
): NodeError {
	const { message, httpStatus, jobMayExist } = call;
	const httpCode = httpStatus === null ? {} : { httpCode: String(httpStatus) };
	const options = { message, description: call.description ?? '', ...httpCode };
	const error = new NodeApiError(node, { message }, options);
	Object.assign(error.context, { httpStatus, jobMayExist });
	error.message = asTitle(message);
	return error;
}

/** What an error says, before it is completed. */
export function itemErrorOf({ message, description, context }: NodeError): ItemError {
	const { httpStatus, jobMayExist } = context;
	return {
		message,
		description: description ?? '',
		httpStatus: typeof httpStatus === 'number' ? httpStatus : null,
		jobMayExist: jobMayExist === true,
	};
}

/** Makes an error the outcome of its item, unless the item has one. */
export function failItem(
	node: INode,
	outcomes: ItemOutcomes,
	{ itemIndex, error: cause, account }: { itemIndex: number; error: unknown; account?: string },
): FailedItem {
	const error = nodeErrorOf(node, cause);
	const { job, mayHaveActed } = cause instanceof ServiceError ? cause : {};
	outcomes[itemIndex] ??= { error: { ...itemErrorOf(error), job, mayHaveActed }, account };
	const isAboutAll = cause instanceof ServiceError && isAboutAllItems(cause.failure);
	return { itemIndex, error, isAboutAllItems: isAboutAll };
}

/**
 * An item's error as an output item, for "continue" and for the error output.
 *
 * n8n takes an item for an error if its JSON has `message` and `error` and nothing else (WorkflowExecute,
 * handleNodeErrorOutput). It would reduce the JSON of an item with an `error` beside it to a text.
 */
export function errorOutputItem(
	{ message, description, httpStatus, jobMayExist }: ItemError,
	{ binary }: INodeExecutionData,
	{ itemIndex, createsJobs = false }: { itemIndex: number; createsJobs?: boolean | undefined },
): INodeExecutionData {
	const details = { description, itemIndex, httpStatus };
	return {
		json: { message, error: createsJobs ? { ...details, jobMayExist } : details },
		...(binary === undefined ? {} : { binary }),
		pairedItem: { item: itemIndex },
	};
}

/**
 * Completes an error that ends the execution: with its item, all created jobs, the items whose job may exist, and those
 * without a job.
 *
 * @param createdJobs those of earlier tries, too
 */
export function completeError(
	{ itemIndex, error, namesItems = false, isAboutAllItems = false }: FailedItem,
	{
		outcomes,
		createdJobs,
		createsJobs = false,
	}: { outcomes: ItemOutcomes; createdJobs: ListedJob[]; createsJobs?: boolean | undefined },
): NodeError {
	const isOfMany = outcomes.length > 1;
	const isUncertain = error.context.jobMayExist === true;
	const uncertainItems = uncertainIn(outcomes).map((item) => {
		return { itemIndex: item.itemIndex, ...item.error.job };
	});
	const isNone = createdJobs.length === 0 && uncertainItems.length === 0;
	const isAlone = isUncertain && uncertainItems.length === 1;
	const hasKeptJobs = createdJobs.some(({ cleanup }) => cleanup === undefined);
	const withoutJob = outcomes.flatMap((outcome, index) => {
		const hasJob = outcome && !('error' in outcome && !outcome.error.jobMayExist);
		return hasJob ? [] : [{ itemIndex: index }];
	});
	const paragraphs = [
		error.description,
		createsJobs && isOfMany && isAboutAllItems && isNone && 'No job was created.',
		// n8n appends the item's number to the title; of a create, the title has it.
		isOfMany && !isAboutAllItems && !namesItems && !createsJobs && 'Items are counted from 0.',
		uncertainItems.length > 0 && !isAlone && asPlainText(listOfUncertain(uncertainItems)),
		(isUncertain || uncertainItems.length > 0) && CREATE_UNCERTAIN_AGAIN,
		hasKeptJobs && CREATES_AGAIN,
		hasKeptJobs && withoutJob.length > 0 && `${KEEPS_ITEMS}: ${itemList(withoutJob)}.`,
		createdJobs.length > 0 && asPlainText(listOf(createdJobs)),
	];
	error.description = paragraphs.filter(Boolean).join('\n\n');
	// n8n's editor prefers this to the description, which everything else reads.
	const descriptionTemplate = error.description.replaceAll('\n', '<br>');
	Object.assign(error.context, { createdJobs, uncertainItems, descriptionTemplate });
	if (!isOfMany || !isAboutAllItems) error.context.itemIndex = itemIndex;
	return error;
}

/** The title of an error that ends a batch of creates, with what stands: a user may read nothing else. */
export function titleWithJobs(
	{ itemIndex, error, namesItems = false, isAboutAllItems = false }: FailedItem,
	{ outcomes, createdJobs }: { outcomes: ItemOutcomes; createdJobs: ListedJob[] },
): string {
	const { message } = error;
	const count = outcomes.length;
	if (count === 1 || namesItems) return message;
	const created = createdJobs.length;
	const ended = createdJobs.filter(({ cleanup }) => cleanup?.success === true).length;
	const uncertain = uncertainIn(outcomes).length;
	let jobs = `${created} of ${count} jobs were created`;
	if (ended > 0) jobs = `${ended} of the ${created} created jobs were ended`;
	else if (uncertain > 0) jobs = `${created} of ${count} jobs certainly exist, ${uncertain} may`;
	if (isAboutAllItems) return created + uncertain > 0 ? `${message}; ${jobs}` : message;
	return error.context.jobMayExist === true
		? `Item ${itemIndex} ${FROM_ZERO} failed; ${jobs}: ${message}`
		: `Job not created for item ${itemIndex} ${FROM_ZERO}; ${jobs}: ${message.replace(REFUSED, '')}`;
}

/** The jobs, a line each; first those that could not be ended. */
function listOf(jobs: ListedJob[]): string {
	const order = ({ cleanup }: ListedJob) => (cleanup === undefined ? 1 : cleanup.success ? 2 : 0);
	const sorted = [...jobs].sort((a, b) => order(a) - order(b));
	const lines = sorted.slice(0, MAX_LISTED).map((job) => {
		return `item ${job.itemIndex}: ${job.uid} (${nameOf(job)})${fateOf(job)}`;
	});
	return bulleted(`Jobs already created (${jobs.length}):`, lines, jobs.length, 'createdJobs');
}

function listOfUncertain(items: Array<{ itemIndex: number } & Partial<NamedJob>>): string {
	const heading = 'The jobs of these items may exist; look for them on the service:';
	const lines = items
		.slice(0, MAX_LISTED)
		.map(({ itemIndex, displayName = '', namespace = '' }) =>
			namespace === ''
				? `item ${itemIndex}`
				: `item ${itemIndex}: ${nameOf({ displayName, namespace })}`,
		);
	return bulleted(heading, lines, items.length, 'uncertainItems');
}

/** @param place where in the error's context all of them are */
function bulleted(heading: string, lines: string[], count: number, place: string): string {
	const more = `and ${count - lines.length} more, in the error's context.${place} (an error workflow gets it)`;
	const shown = count > lines.length ? [...lines, more] : lines;
	return [heading, ...shown.map((line) => `• ${line}`)].join('\n');
}

const nameOf = ({ displayName, namespace }: NamedJob) =>
	`'${displayName}' in namespace '${namespace}'`;

function fateOf({ cleanup }: ListedJob): string {
	if (cleanup === undefined) return '';
	if (!cleanup.success) return `: could not be ended: ${cleanup.message}`;
	return cleanup.operation === 'stop' ? ': stopped' : ': terminated';
}
