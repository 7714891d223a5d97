import { type INode, NodeApiError, NodeOperationError } from 'n8n-workflow';

import { meaningOf } from './failure';
import { nameOf, type NamedJob, withShortNames } from './meaning';
import { asPlainText, asTitle, ServiceError } from './serviceError';

/** An error as n8n shows it: with title and description. */
export type NodeError = NodeApiError | NodeOperationError;

/** What an error says, as plain data: n8n stores it for Retry. */
export interface PlainError {
	message: string;
	description: string;
	/** Of a call that failed: the status of its answer; null if none came. */
	httpStatus?: number | null;
	/** The job that the service may have created without this node having learned of it. */
	uncertainJob?: NamedJob;
	/** Whether the service may have done what can't be repeated: then it isn't sent again. */
	mayHaveActed?: boolean;
	/** Whether a value of the item may be wrong: the service refused the request for itself, or it was not sent. */
	isWrongValue?: boolean;
	/** Whether every item would meet it, such as a wrong password, or its message says which items it is about. */
	scope?: 'all items' | 'named items';
}

/** What any error says, in texts that n8n can show. */
export function plainErrorOf(cause: unknown): PlainError {
	const error: { message: string; description?: unknown } =
		cause instanceof Error ? cause : { message: String(cause) };
	const message = asTitle(error.message);
	const description = typeof error.description === 'string' ? asPlainText(error.description) : '';
	if (!(cause instanceof ServiceError)) return { message, description };
	const { failure, httpStatus, mayHaveActed, job } = cause;
	const { condition, token, isAboutAllItems } = meaningOf(failure);
	const isRefused = failure.kind === 'status' && condition === 'answered';
	const isOfUser = httpStatus === 403 || token === 'rejected';
	return {
		...{ message, description, httpStatus, mayHaveActed },
		...(mayHaveActed && job && { uncertainJob: withShortNames(job) }),
		...(isRefused && !isOfUser && !mayHaveActed && { isWrongValue: true }),
		...(isAboutAllItems && { scope: 'all items' }),
	};
}

/**
 * The texts of an unexpected error during a call that isn't idempotent. The service may have acted, since it isn't known
 * that it hasn't.
 *
 * @param job the job that the call was to create
 */
export function unknownErrorOf(cause: unknown, job: NamedJob | undefined): PlainError {
	const { message } = plainErrorOf(cause);
	const [fate, look] =
		job === undefined
			? ['it may have worked', 'look on the service whether it has']
			: ['the job may exist', `look on the service for a job named ${nameOf(job)}`];
	return {
		message: asTitle(`This node failed with an error of its own; ${fate}`),
		description: asPlainText(
			`Before you run this item again, ${look}. Please report the error: ${message}`,
		),
		...{ httpStatus: null, mayHaveActed: true },
		...(job && { uncertainJob: withShortNames(job) }),
	};
}

/** Any error as one that n8n shows well, without a request, and so without secrets. n8n's own stays the same object. */
export function nodeErrorOf(node: INode, cause: unknown, error = plainErrorOf(cause)): NodeError {
	const { message, description, httpStatus, uncertainJob } = error;
	let nodeError: NodeError;
	if (cause instanceof NodeApiError || cause instanceof NodeOperationError) nodeError = cause;
	else if (httpStatus === undefined) {
		nodeError = new NodeOperationError(node, cause instanceof Error ? cause : message);
	} else {
		const httpCode = httpStatus === null ? {} : { httpCode: String(httpStatus) };
		nodeError = new NodeApiError(node, { message }, { message, description, ...httpCode });
		Object.assign(nodeError.context, { httpStatus, jobMayExist: uncertainJob !== undefined });
	}
	// n8n replaces a message in which it finds a system error's code, even inside a longer word, such as EPERM in
	// "experiment" (n8n-workflow, NodeError.setDescriptiveErrorMessage).
	nodeError.message = asTitle(message);
	nodeError.description = asPlainText(description);
	return nodeError;
}
