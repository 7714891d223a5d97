import { MAX, present, truncate } from '../../texts';
import type { Consequence } from '../policy';
import { TOOL_LIMIT_MS } from '../request';

/*
 * errors/ makes one failure of whatever ends a request without the expected response, and of the failure what the user
 * reads. A failure (this file) is made once, where it is found: in a response (`result.ts`, with the texts of the status
 * from `statuses.ts` and the service's words from `said.ts`), or in an error that n8n throws (`thrown.ts`). None of its
 * texts contains a secret (`secrets.ts`). `problem.ts` says what it means for an item, and makes the error that n8n
 * shows.
 */

/**
 * Why a request failed: what follows from it, and what the user reads. It is made once, where the failure is found. It
 * is plain data without secrets, since n8n wraps errors and keeps only their context.
 */
export interface Failure extends Consequence {
	/** What happened, and the first line of the service's words unless it says the same. */
	title: string;
	/** What the user should do, in one or two sentences. */
	advice: string;
	/** What is known, one fact each: what the service says, and which request was answered how. */
	facts: string[];
	/** The status code of the response, or null if no response came. */
	httpStatus: number | null;
	/** Set if the login failed. The request itself was not sent, or was not acted on because of its token. */
	ofLogin?: true;
}

/** Returns a request as a fact names it: "PUT https://jobs.example.com/api/v1/...". */
export const addressOf = ({ method, path }: { method: string; path: string }, baseUrl: string) =>
	truncate(`${method} ${baseUrl}${path}`, MAX.address);

/** Returns a failure. Unless the facts say otherwise, no response came, and the service has not acted. */
export function failureOf(facts: Partial<Failure> & { title: string; advice: string }): Failure {
	return {
		condition: 'noOutcome',
		mayHaveActed: false,
		facts: [],
		httpStatus: null,
		...facts,
	};
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
		condition: 'timedOut',
		mayHaveActed: true,
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
		title: `The ${TOOL_LIMIT_MS / 1_000} seconds of this tool call are over`,
		advice: 'Call the tool again later. The service is slow or busy, or the call has many items.',
		facts: last === undefined ? [] : [`${last.title}.`, ...last.facts],
	});
}

/**
 * Returns the failure of a request that was not sent, because other requests have failed.
 *
 * @param other the failure of another request
 * @param isOfExecution whether the other request belongs to the same execution. If not, nothing of it is shown
 */
export function notSent(other: Failure, isOfExecution: boolean): Failure {
	const { condition, title, facts, httpStatus, retryAfterMs, isAboutAllItems } = other;
	// Nothing was sent for the other request either.
	if (isAboutAllItems && (isOfExecution || httpStatus === null)) return other;
	const failing = `The service ${condition === 'timedOut' ? "doesn't answer" : 'is failing'}`;
	const [first = '', ...rest] = condition === 'throttled' ? throttledTitle(httpStatus) : failing;
	const isAnswered = httpStatus !== null && `Other requests were answered with HTTP ${httpStatus}.`;
	return failureOf({
		title: `Not sent: ${first.toLowerCase()}${rest.join('')}`,
		advice: "Try again later. If that doesn't help, ask the administrator of the service.",
		facts: isOfExecution
			? [`Another request failed: ${title}.`, ...facts]
			: present([...waitFacts(retryAfterMs), isAnswered]),
		...(isAboutAllItems && { isAboutAllItems }),
	});
}

/** Returns the title of a response that asks the client to send the request later. */
export const throttledTitle = (httpStatus: number | null) =>
	httpStatus === 429
		? 'The service is receiving too many requests'
		: 'The service asks to try again later';

/** Returns the fact that the service asks for a wait, if it does. */
export const waitFacts = (retryAfterMs = 0): string[] =>
	retryAfterMs > 0 ? [`The service asks to wait ${Math.ceil(retryAfterMs / 1_000)} s.`] : [];
