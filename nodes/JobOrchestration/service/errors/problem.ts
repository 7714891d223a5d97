import { ExecutionBaseError, type INode, NodeApiError, NodeOperationError } from 'n8n-workflow';

import { asPlainText, asTitle, nameOf, type NamedJob, present } from '../../texts';
import type { ServiceRequest } from '../request';
import type { Failure } from './failure';

/** What a failure means to the user. It is plain data, since n8n stores it for Retry. */
export interface Problem extends Pick<Failure, 'title' | 'advice' | 'facts'> {
	/** What is known about the other items and their jobs, one paragraph each. */
	lists?: string[];
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
	 * `all items` if every item would have the same problem, such as a wrong password; `named items` if the title says
	 * which items the problem concerns.
	 */
	scope?: 'all items' | 'named items' | undefined;
}

/** Returns the description of a problem: what to do, what became of the other items, and the facts. */
export const descriptionOf = ({ advice, lists = [], facts }: Omit<Problem, 'title'>) =>
	present([advice, ...lists, facts.join('\n')]).join('\n\n');

/** Decides whether the job of an item with this problem may exist, if the item was to create one. */
export const jobMayExist = ({ uncertainJob, mayHaveActed }: Problem) =>
	uncertainJob !== undefined || mayHaveActed === true;

/** Returns the problem of a failure after which the service has certainly not acted. */
function problemOfFailure(failure: Failure): Problem {
	const { title, advice, facts, httpStatus, isAboutAllItems } = failure;
	return { title, advice, facts, httpStatus, ...(isAboutAllItems && { scope: 'all items' }) };
}

/**
 * Returns a problem after which the service may have acted.
 *
 * @param job the job that the service may have created; undefined if the call creates none
 */
export function uncertain(problem: Omit<Problem, 'advice'>, job: NamedJob | undefined): Problem {
	const fate = job === undefined ? 'it may have worked' : 'the job may exist';
	const look = job === undefined ? 'whether it has worked' : `for a job named ${nameOf(job)}`;
	return {
		httpStatus: null,
		...problem,
		title: `${problem.title.replace(/\.$/, '')}; ${fate}`,
		advice: `Before you run this item again, look on the service ${look}.`,
		mayHaveActed: true,
		...(job && { uncertainJob: job }),
	};
}

/**
 * The error of what n8n itself calls: the reading of the credential, and the credential's own functions. If n8n wraps it,
 * the NodeApiError takes over its texts and, in every n8n release, the `context` of this base class. n8n 1.x
 * drops the `cause`.
 */
export class ServiceError extends ExecutionBaseError {
	constructor(readonly failure: Failure) {
		super(asTitle(failure.title), { level: 'warning' });
		this.description = asPlainText(descriptionOf(failure));
		this.context = { failure };
	}
}

/**
 * Returns the problem of a failed call, which says whether the call may have worked nevertheless. A call that isn't
 * idempotent waits for another attempt only if the service has certainly not acted on the earlier ones. So if such a
 * call is given up while it waits, it has not worked.
 *
 * @param isOwn whether the failure is that of the call itself, and not that of other requests or of a health check
 * @param waitedMs how long the call has waited when it was given up
 */
export function problemOfCall(
	call: ServiceRequest<unknown>,
	failure: Failure,
	tries: { timesSent?: number; isOwn?: boolean; waitedMs?: number; failedProbes?: number } = {},
): Problem {
	const { timesSent = 1, isOwn = true, waitedMs = 0, failedProbes = 0 } = tries;
	const mayHaveWorked = call.method !== 'GET' && isOwn && failure.mayHaveActed;
	const waited = Math.round(waitedMs / 1_000);
	const facts = [...failure.facts];
	if (timesSent > 1 && failure.ofLogin !== true)
		facts.push(`The request was sent ${timesSent} times.`);
	if (mayHaveWorked && call.idempotent) facts.push('It may have worked.');
	if (waited > 0 && failedProbes > 0) {
		const probes = failedProbes === 1 ? 'one more attempt' : `${failedProbes} more attempts`;
		facts.push(`All requests have waited ${waited} s for the service, and ${probes} failed.`);
	}
	const problem = { ...problemOfFailure(failure), facts };
	return mayHaveWorked && !call.idempotent ? uncertain(problem, call.job) : problem;
}

/** Returns the problem behind any error. */
export function problemOf(cause: unknown): Problem {
	if (cause instanceof ServiceError) return problemOfFailure(cause.failure);
	const error: { message: string; description?: unknown } =
		cause instanceof Error ? cause : { message: String(cause) };
	const advice = typeof error.description === 'string' ? error.description : '';
	return { title: error.message, advice, facts: [] };
}

/**
 * Returns the error by which n8n shows a problem. If `cause` is already an error of n8n, that object gets the problem's
 * texts and is returned. Otherwise, the error is a new one that contains no request, and so no secrets. The error's
 * context has `httpStatus`, which is null if there was no response, and `jobMayExist`.
 */
export function nodeErrorOf(node: INode, cause: unknown, problem = problemOf(cause)) {
	const { httpStatus } = problem;
	const message = asTitle(problem.title);
	const description = asPlainText(descriptionOf(problem));
	let nodeError: NodeApiError | NodeOperationError;
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
	const context = {
		httpStatus: httpStatus ?? null,
		jobMayExist: jobMayExist(problem),
		descriptionTemplate,
	};
	Object.assign(nodeError.context, context);
	return nodeError;
}

/** Stands for the node of an error that no node has thrown. */
const NO_NODE: INode = {
	id: '',
	name: '',
	type: '',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};

/**
 * Returns the error of the credential, which n8n shows for its test and for the node that uses it. Everything is in its
 * title, since the test shows nothing else. n8n passes a NodeApiError on as it is. It makes one of any other error, and
 * replaces its title if it finds the name of a system error in it.
 */
export function credentialErrorOf({ title, advice, facts, httpStatus }: Failure) {
	const text = [`${title.replace(/\.$/, '')}.`, advice, ...facts].join(' ');
	const problem = { title: text, advice: '', facts: [], httpStatus };
	// Without a node, n8n's editor takes the node that was executed.
	return Object.assign(nodeErrorOf(NO_NODE, undefined, problem), { node: undefined });
}
