import type { INode, INodeExecutionData } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import { FieldError } from '../parameters/fieldValue';
import { asPlainText, isAboutAllItems, ServiceError } from '../service/errors/serviceError';
import type { CreatedJob, FailedItem, ItemOutcomes, NodeError } from './itemOutcome';
import { errorsIn, jobMayExist } from './itemOutcome';

/** The most jobs that an error lists in its description; its `context.createdJobs` has all of them. */
const MAX_LISTED = 100;

const CREATES_AGAIN =
	"Don't execute this node again with the same items: that creates these jobs again. Use Retry in the list of executions (with the currently saved workflow, if you change it), or run only the items without a job.";

type CallFailure = Pick<ServiceError, 'message' | 'description' | 'httpStatus' | 'jobMayExist'>;

/** Whatever went wrong, as an error that n8n shows well. It holds no request, and so no secret. */
export function nodeErrorOf(node: INode, error: unknown): NodeError {
	if (error instanceof ServiceError) return newApiError(node, error);
	if (error instanceof FieldError) {
		const { message, advice: description } = error;
		return inPlainText(new NodeOperationError(node, message, { description }), message);
	}
	if (error instanceof NodeApiError || error instanceof NodeOperationError) {
		return inPlainText(error);
	}
	return inPlainText(new NodeOperationError(node, error instanceof Error ? error : String(error)));
}

/** n8n's own errors may hold markup. @param message n8n may have replaced it in the error: see newApiError */
function inPlainText(error: NodeError, message = error.message): NodeError {
	error.message = asPlainText(message);
	if (typeof error.description === 'string') error.description = asPlainText(error.description);
	return error;
}

/** Makes whatever went wrong with an item its outcome. */
export function failItem(
	node: INode,
	outcomes: ItemOutcomes,
	{ itemIndex, error: cause }: { itemIndex: number; error: unknown },
): FailedItem {
	const error = nodeErrorOf(node, cause);
	outcomes[itemIndex] = { error };
	const isAboutAll = cause instanceof ServiceError && isAboutAllItems(cause.failure);
	return { itemIndex, error, isAboutAllItems: isAboutAll };
}

/** The error of a call that failed. Its texts are plain. */
export function newApiError(
	node: INode,
	{ message, description, httpStatus, jobMayExist }: CallFailure,
): NodeApiError {
	const httpCode = httpStatus === null ? {} : { httpCode: String(httpStatus) };
	const options = { message, description: description ?? '', ...httpCode };
	const error = new NodeApiError(node, { message }, options);
	Object.assign(error.context, { httpStatus, jobMayExist });
	// n8n replaces a message in which it finds a system error's code, even inside a longer word, such as EPERM in
	// "experiment" (n8n-workflow, NodeError.setDescriptiveErrorMessage).
	error.message = message;
	return error;
}

/**
 * An item's error as an output item, for "continue" and for the error output.
 *
 * n8n takes an item for an error if its JSON has `message` and `error` and nothing else (WorkflowExecute,
 * handleNodeErrorOutput). It would reduce the JSON of an item with an `error` beside it to a text.
 */
export function errorOutputItem(
	error: NodeError,
	input: INodeExecutionData,
	itemIndex: number,
	createsJobs = false,
): INodeExecutionData {
	const { httpStatus = null, jobMayExist = false } = error.context;
	const description = error.description ?? '';
	return {
		json: {
			message: error.message,
			error: { description, itemIndex, httpStatus, ...(createsJobs ? { jobMayExist } : {}) },
		},
		...(input.binary === undefined ? {} : { binary: input.binary }),
		pairedItem: { item: itemIndex },
	};
}

/**
 * Completes an error that ends the execution: with its item, all created jobs, and the items whose job may exist.
 *
 * @param createdJobs those of earlier tries, too
 */
export function completeError(
	failedItem: FailedItem,
	{ outcomes, createdJobs }: { outcomes: ItemOutcomes; createdJobs: CreatedJob[] },
): NodeError {
	const { itemIndex, error, isAboutAllItems = false } = failedItem;
	const uncertainItems = errorsIn(outcomes)
		.filter((other) => other.itemIndex !== itemIndex && jobMayExist(other))
		.map((other) => other.itemIndex);
	const namedJobs = createdJobs.map(({ shownUid, ...job }) => ({ ...job, uid: shownUid }));
	const paragraphs = [error.description];
	if (outcomes.length > 1 && !isAboutAllItems) paragraphs.push('Items are counted from 0.');
	if (uncertainItems.length > 0) {
		paragraphs.push(
			`The jobs of these items may exist; look for them on the service: ${uncertainItems.join(', ')}.`,
		);
	}
	if (namedJobs.some(({ cleanup }) => cleanup === undefined)) paragraphs.push(CREATES_AGAIN);
	paragraphs.push(...listsOf(namedJobs).map(asPlainText));
	error.description = paragraphs.filter(Boolean).join('\n\n');
	// n8n's editor prefers this to the description, which everything else reads.
	const descriptionTemplate = error.description.replaceAll('\n', '<br>');
	const context = { createdJobs: namedJobs, uncertainItems, descriptionTemplate };
	Object.assign(
		error.context,
		isAboutAllItems && outcomes.length > 1 ? context : { itemIndex, ...context },
	);
	return error;
}

/** Says in the title of an error that ends a batch of creates what stands: a user may read nothing else. */
export function withJobCount(
	{ itemIndex, error, namesItems = false, isAboutAllItems = false }: FailedItem,
	{ count, createdJobs }: { count: number; createdJobs: CreatedJob[] },
): void {
	const ended = createdJobs.filter(({ cleanup }) => cleanup?.success === true).length;
	if (count === 1 || namesItems) return;
	const created =
		ended > 0
			? `${ended} of the ${createdJobs.length} created jobs were ended`
			: `${createdJobs.length} of ${count} jobs were created`;
	const { message, context } = error;
	if (isAboutAllItems) {
		if (createdJobs.length > 0) error.message = `${message}; ${created}`;
	} else {
		const what =
			context.jobMayExist === true
				? `Item ${itemIndex} failed`
				: `Job not created for item ${itemIndex}`;
		error.message = `${what}; ${created}: ${message.replace(/^Job not created: /, '')}`;
	}
}

type NamedJob = Omit<CreatedJob, 'shownUid'>;

/** The jobs by what was done to them; first those that somebody has to look after. */
function listsOf(jobs: NamedJob[]): string[] {
	const untouched = jobs.filter(({ cleanup }) => cleanup === undefined);
	const notEnded = jobs.filter(({ cleanup }) => cleanup?.success === false);
	const ended = jobs.filter(({ cleanup }) => cleanup?.success === true);
	const ways = ended.map(({ cleanup }) =>
		cleanup?.operation === 'stop' ? 'stopped' : 'terminated',
	);
	const how = [...new Set(ways)].sort().join(' or ');
	const listed = new Set([...notEnded, ...untouched, ...ended].slice(0, MAX_LISTED));
	return [
		listOf(notEnded, listed, 'Jobs already created that could not be ended'),
		listOf(untouched, listed, 'Jobs already created'),
		listOf(ended, listed, `Jobs created, then ${how}`),
	];
}

function listOf(jobs: NamedJob[], listed: ReadonlySet<NamedJob>, title: string): string {
	if (jobs.length === 0) return '';
	const lines = jobs
		.filter((job) => listed.has(job))
		.map(
			({ itemIndex, namespace, uid, displayName, cleanup }) =>
				`• item ${itemIndex}: ${uid} ('${displayName}' in namespace '${namespace}')${cleanup?.success === false ? `: ${cleanup.message}` : ''}`,
		);
	const more = jobs.length - lines.length;
	if (more > 0) lines.push(`• and ${more} more, in the error's context.createdJobs`);
	return `${title} (${jobs.length}):\n${lines.join('\n')}`;
}
