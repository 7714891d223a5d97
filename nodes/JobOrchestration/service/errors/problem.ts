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

/** What a failure means to the user. It is plain data, since n8n stores it for Retry. */
export interface Problem extends Texts {
	/** The status code of the response to a failed call, or null if no response came. */
	httpStatus?: number | null;
	/** The job that the service may have created without a response that shows it. */
	uncertainJob?: NamedJob;
	/**
	 * Whether the service may have acted on a call that isn't idempotent. The item is then not sent again, unless it
	 * creates a job and the user turns on 'Create Again If Uncertain'.
	 */
	mayHaveActed?: boolean;
	/**
	 * Whether a value of the item may be wrong: the service refused the request because of its content, or the node found
	 * a wrong field and did not send the request.
	 */
	isWrongValue?: boolean;
	/**
	 * `all items` if every item would have the same problem, such as a wrong password; `named items` if the message says
	 * which items the problem concerns.
	 */
	scope?: 'all items' | 'named items';
}

/** An error as n8n shows it, with a title and a description. */
export type NodeError = NodeApiError | NodeOperationError;

/**
 * The failures in the errors of this node. n8n's wrappers pass on the same object, so an object that is not in this set
 * is not trusted to be a failure.
 */
export const ownFailures = new WeakSet<object>();

/**
 * Carries the problem of a failed request. It is the only error that service/ throws for a failed request. If n8n wraps
 * it, the NodeApiError takes over its texts and, in every n8n release, the `context` of this base class. The `cause` is
 * lost in n8n 1.x.
 */
export class ServiceError extends ExecutionBaseError {
	readonly problem: Problem;

	/**
	 * @param mayHaveActed whether a call that isn't idempotent may have worked
	 * @param job the job that the call was to create
	 */
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

/** Returns the problem behind any error. */
export function problemOf(cause: unknown): Problem {
	if (cause instanceof ServiceError) return cause.problem;
	const error: { message: string; description?: unknown } =
		cause instanceof Error ? cause : { message: String(cause) };
	const advice = typeof error.description === 'string' ? error.description : '';
	return { message: error.message, advice };
}

/**
 * Returns the problem of an unexpected error during a call that isn't idempotent. The service may have acted on the
 * call, since nothing shows that it has not.
 *
 * @param job the job that the call was to create
 */
export const unknownProblem = (error: string, job: NamedJob | undefined) =>
	uncertainProblem(
		'This node failed with an error of its own',
		`Please report the error: ${error}`,
		job,
	);

/** Returns the problem of an item that an earlier execution may have sent before n8n was stopped. */
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
 * Returns the error by which n8n shows a problem. If `cause` is already an error of n8n, that object gets the problem's
 * texts and is returned. Otherwise, the error is a new one that holds no request, and so no secrets. The error's
 * context has `httpStatus`, which is null if there was no response, and `jobMayExist`.
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
	// The constructor replaces a message in which it finds a system error code, even inside a longer word, such as EPERM
	// in "experiment" (n8n-workflow, NodeError.setDescriptiveErrorMessage).
	Object.assign(nodeError, { message, description });
	// n8n's editor prefers the template to the description. Everything else reads the description.
	const descriptionTemplate = description.replaceAll('\n', '<br>');
	const jobMayExist = uncertainJob !== undefined;
	const context = { httpStatus: httpStatus ?? null, jobMayExist, descriptionTemplate };
	Object.assign(nodeError.context, context);
	return nodeError;
}

/**
 * Returns the texts with everything in the title, since the test of a credential shows nothing else. The service's
 * words are not repeated if the title already has them.
 */
export function inTitleOnly(texts: Texts): Texts {
	const { message: own, words, advice, reason, detail } = texts;
	const title = titleOf(texts);
	const isSaid = words !== undefined || reason?.includes(own) === true;
	const rest = sentences([advice, !isSaid && reason, detail]);
	const message = rest === '' ? title : `${title.replace(/\.$/, '')}. ${rest}`;
	return { message: unreplaced(message), advice: '' };
}

/**
 * Returns a title that n8n leaves unchanged. n8n replaces a title that contains a system error code, so an invisible
 * character is put into the code. If that doesn't help, one is put into every word that may contain a code, as
 * "experiment" contains EPERM.
 */
function unreplaced(title: string): string {
	const parted = [/\bE(?=[A-Z_]{4})/g, /[eg](?=[a-z_]{4})/gi].map((pattern) =>
		title.replace(pattern, '$&\u2060'),
	);
	const isLeft = (text: string) =>
		new NodeApiError({} as INode, { message: text }).message === text;
	return [title, ...parted].find(isLeft) ?? title;
}
