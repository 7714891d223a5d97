import { truncate } from '../../texts';
import { type Consequence, UNKNOWN } from '../retry/facts';
import { RETRY } from '../retry/policy';

/** What an error says first. */
export interface Texts {
	/** What happened, in at most about 80 characters. */
	title: string;
	/** What the user should do, in one or two sentences. */
	advice: string;
}

/**
 * Why a request failed: what follows from it, and what the user reads. It is made once, where the failure is found. It
 * is plain data without secrets, since n8n wraps errors and keeps only their context.
 */
export interface Failure extends Consequence, Texts {
	/** The first line of the service's words, which follows the title. */
	words?: string | undefined;
	/** What is known, one fact each: everything that the service says, and which request was answered how. */
	facts: string[];
	/** The status code of the response, or null if no response came. */
	httpStatus: number | null;
	/** Set if the login failed. The request itself was not sent, or was not acted on because of its token. */
	ofLogin?: true;
}

/** The texts for some status codes, which are given as numbers and ranges: '408 500-599'. */
export type StatusRow = [statuses: string, title: string, advice: string];

/** What the errors of a request say about it. */
export interface RequestTexts {
	/** What the request does, to complete a sentence such as "The service refused to ...". */
	action: string;
	/** What the user should do if the service refuses the request. */
	ifRefused: string;
	/** The status codes that mean something else for this request than for others. */
	rows?: StatusRow[];
}

/** The maximum number of characters of an address. A namespace and an ID of usual length fit. */
const MAX_ADDRESS = 300;

/** Returns a request as a fact names it: "PUT https://jobs.example.com/api/v1/...". */
export const addressOf = ({ method, path }: { method: string; path: string }, baseUrl: string) =>
	truncate(`${method} ${baseUrl}${path}`, MAX_ADDRESS);

/** Returns a failure. Unless the facts say otherwise, no response came, and the service has not acted. */
export function failureOf(facts: Texts & Partial<Failure>): Failure {
	return { ...UNKNOWN, facts: [], httpStatus: null, ...facts };
}

/** Returns the failure of a request that was aborted, mostly by a cancel. */
export function cancelled({ sent }: { sent: boolean }): Failure {
	return failureOf({ mayHaveActed: sent, title: 'The execution was cancelled', advice: '' });
}

/**
 * Returns the failure of a request without a complete response.
 *
 * @param limitMs the time limit of the request
 * @param address the request, as `addressOf` returns it
 * @param isFixed whether the option Timeout doesn't change the time limit
 */
export function timedOut(limitMs: number, address?: string, isFixed = false): Failure {
	return failureOf({
		...{ condition: 'timedOut', mayHaveActed: true },
		title: `The service didn't answer within ${limitMs / 1_000} s`,
		advice: `Try again later${isFixed ? '' : ", or allow more time with the option 'Timeout'"}.`,
		...(address !== undefined && { facts: [`${address} got no answer.`] }),
	});
}

/**
 * Returns the failure of a tool's request that was still waiting when the tool had to return.
 *
 * @param last the failure because of which all requests were waiting, if there was one
 */
export function toolCallOver(last?: Failure): Failure {
	return failureOf({
		title: `The ${RETRY.toolLimitMs / 1_000} seconds of this tool call are over`,
		advice: 'Call the tool again later. The service is slow or busy, or the call has many items.',
		facts: last === undefined ? [] : [`${last.title}.`, ...last.facts],
	});
}

/** Returns a failure for an execution that didn't receive the response itself, so it doesn't show the response. */
export function withoutResponse(failure: Failure): Failure {
	if (failure.httpStatus === null) return failure;
	const answered = `Other requests were answered with HTTP ${failure.httpStatus}.`;
	const facts = [...waitFacts(failure.retryAfterMs), answered];
	const title = failure.condition === 'throttled' ? failure.title : 'The service is failing';
	return { ...failure, title, words: undefined, facts };
}

/** Returns the fact that the service asks for a wait, if it does. */
export const waitFacts = (retryAfterMs = 0): string[] =>
	retryAfterMs > 0 ? [`The service asks to wait ${Math.ceil(retryAfterMs / 1_000)} s.`] : [];
