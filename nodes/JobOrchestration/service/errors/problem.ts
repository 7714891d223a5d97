import { ExecutionBaseError, type INode, NodeApiError, NodeOperationError } from 'n8n-workflow';

import {
	asPlainText,
	asTitle,
	descriptionOf,
	nameOf,
	type NamedJob,
	sentences,
	type Texts,
	titleOf,
	withShortNames,
} from '../../texts';
import { type Failure, meaningOf } from './kinds';
import type { Meaning } from './statuses';

/** What a failure means to the user, as plain data: n8n stores it for Retry. */
export interface Problem extends Texts {
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

/** An error as n8n shows it: with title and description. */
export type NodeError = NodeApiError | NodeOperationError;

/** The failures that this node's errors hold. n8n's wrappers pass the same object on, and nothing else is trusted. */
export const ownFailures = new WeakSet<object>();

/**
 * Carries the problem of a request that failed, the only error that service/ throws for it. If n8n wraps it, the NodeApiError
 * takes over its texts, and the `context` of this base class in every n8n release; 1.x loses the `cause`.
 */
export class ServiceError extends ExecutionBaseError {
	readonly problem: Problem;

	/** @param fate of a call that isn't idempotent: whether it may have worked, and the job that it was to create */
	constructor(
		readonly failure: Failure,
		meaning: Texts & Partial<Meaning> = meaningOf(failure),
		{ mayHaveActed = false, job }: { mayHaveActed?: boolean; job?: NamedJob | undefined } = {},
	) {
		super(asTitle(titleOf(meaning)), { level: 'warning' });
		this.description = asPlainText(descriptionOf(meaning));
		ownFailures.add(failure);
		this.context = { failure };
		this.problem = {
			...meaning,
			httpStatus: 'status' in failure ? failure.status : null,
			mayHaveActed,
			isWrongValue: meaning.isWrongValue === true && !mayHaveActed,
			...(mayHaveActed && job && { uncertainJob: withShortNames(job) }),
			...(meaningOf(failure).isAboutAllItems && { scope: 'all items' }),
		};
	}
}

/** The problem behind any error. */
export function problemOf(cause: unknown): Problem {
	if (cause instanceof ServiceError) return cause.problem;
	const error: { message: string; description?: unknown } =
		cause instanceof Error ? cause : { message: String(cause) };
	const advice = typeof error.description === 'string' ? error.description : '';
	return { message: error.message, advice };
}

/**
 * The problem of an unexpected error during a call that isn't idempotent. The service may have acted, since it isn't known
 * that it hasn't.
 *
 * @param job the job that the call was to create
 */
export const unknownProblem = (error: string, job: NamedJob | undefined) =>
	uncertainProblem(
		'This node failed with an error of its own',
		`Please report the error: ${error}`,
		job,
	);

/** The problem of an item of an earlier execution, of which nobody knows whether it was sent. */
export const cutOffProblem = (job: NamedJob | undefined) =>
	uncertainProblem(
		'n8n was stopped while an earlier execution ran this node',
		"What that execution had sent isn't known.",
		job,
	);

function uncertainProblem(message: string, detail: string, job: NamedJob | undefined): Problem {
	const look =
		job === undefined
			? 'look on the service whether it has worked'
			: `look on the service for a job named ${nameOf(job)}`;
	return {
		message,
		fate: job === undefined ? 'it may have worked' : 'the job may exist',
		advice: `Before you run this item again, ${look}.`,
		...{ detail, httpStatus: null, mayHaveActed: true },
		...(job && { uncertainJob: withShortNames(job) }),
	};
}

/**
 * A problem as an error that n8n shows well, without a request, and so without secrets. n8n's own error stays the same object.
 * Its context has `httpStatus`, null if there was no answer, and `jobMayExist`.
 */
export function nodeErrorOf(node: INode, cause: unknown, problem = problemOf(cause)): NodeError {
	const { httpStatus, uncertainJob } = problem;
	const message = asTitle(titleOf(problem));
	const description = asPlainText(descriptionOf(problem));
	let nodeError: NodeError;
	if (cause instanceof NodeApiError || cause instanceof NodeOperationError) nodeError = cause;
	else if (httpStatus === undefined) {
		nodeError = new NodeOperationError(node, cause instanceof Error ? cause : message);
	} else {
		const httpCode = httpStatus === null ? {} : { httpCode: String(httpStatus) };
		nodeError = new NodeApiError(node, { message }, { message, description, ...httpCode });
	}
	// n8n replaces a message in which it finds a system error's code, even inside a longer word, such as EPERM in
	// "experiment" (n8n-workflow, NodeError.setDescriptiveErrorMessage).
	Object.assign(nodeError, { message, description });
	// n8n's editor prefers the template to the description, which everything else reads.
	const descriptionTemplate = description.replaceAll('\n', '<br>');
	const jobMayExist = uncertainJob !== undefined;
	const context = { httpStatus: httpStatus ?? null, jobMayExist, descriptionTemplate };
	Object.assign(nodeError.context, context);
	return nodeError;
}

/** All in the title, where nothing else is shown: in the test of a credential. Words that it has aren't repeated. */
export function inTitleOnly(texts: Texts): Texts {
	const { message: own, words, advice, reason, detail } = texts;
	const title = titleOf(texts);
	const isSaid = words !== undefined || reason?.includes(own) === true;
	const rest = sentences([advice, !isSaid && reason, detail]);
	const message = rest === '' ? title : `${title.replace(/\.$/, '')}. ${rest}`;
	return { message: unreplaced(message), advice: '' };
}

/**
 * A title that n8n leaves as it is. Where it finds a system's code, it puts a text of its own, so an invisible character parts the
 * code; if need be, every word that may have one in it, as EPERM is in "experiment".
 */
function unreplaced(title: string): string {
	const parted = [/\bE(?=[A-Z_]{4})/g, /[eg](?=[a-z_]{4})/gi].map((pattern) =>
		title.replace(pattern, '$&\u2060'),
	);
	const isLeft = (text: string) =>
		new NodeApiError({} as INode, { message: text }).message === text;
	return [title, ...parted].find(isLeft) ?? title;
}
