import type { GenericValue } from 'n8n-workflow';

import type { Answer } from './answer';
import { describe, isHtml } from './answer';
import type { Connection, Request } from './connection';
import type { Call } from './explain/call';
import { explainCall, explainMayExist } from './explain/call';
import type { Failure } from './failure';
import { mayHaveActed, mayRetry, waitBeforeRetry } from './retryPolicy';
import { ServiceError } from './serviceError';
import { wait } from './wait';

/** How the requests of one item are sent. */
export interface SendOptions {
	/** How often a failed request is sent again, where it may be. */
	maxRetries: number;
	/** Milliseconds, of one request. */
	timeout: number;
	/** Ends waiting and sending again; a request under way is left to end. */
	stop?: AbortSignal;
}

/** A call: what it is about, what is sent, and how to know a good answer. */
export interface Exchange<Body> {
	call: Call;
	request: Request;
	/** What a good answer is, in words for an error: "a job". */
	wanted: string;
	/** What a second sending of the same request would do: nothing, nothing more, or everything again. */
	effect: 'none' | 'idempotent' | 'onceOnly';
	accepts: (body: unknown) => body is Body;
}

/** How a call was tried. */
interface Attempts {
	baseUrl: string;
	/** Milliseconds, of one request. */
	timeout: number;
	timesSent: number;
	/** Whether a try before the last one may have had its effect. */
	earlierMayHaveActed?: boolean;
}

/** An error of a call that was made on behalf of a person: it knows whether it may have had an effect. */
export class CallError extends ServiceError {
	/** Whether the service may have made the job that was to be created. */
	readonly jobMayExist: boolean;

	constructor(
		call: Call,
		failure: Failure,
		{ baseUrl, timeout, timesSent, earlierMayHaveActed }: Attempts,
	) {
		const jobMayExist = call.operation === 'createJob' && mayHaveActed(failure);
		let words = explainCall(call, failure, baseUrl, timeout);
		if (call.operation === 'createJob' && jobMayExist) words = explainMayExist(call, words);
		if (timesSent > 1) words.advice += ` It was tried ${timesSent} times.`;
		if (earlierMayHaveActed)
			words.advice += ' An earlier try got no clear answer and may have worked.';
		super(failure, words);
		this.jobMayExist = jobMayExist;
	}

	/** The HTTP status of the answer, where one came. */
	get httpStatus(): number | undefined {
		const failure = this.failure.kind === 'login' ? this.failure.because : this.failure;
		return 'status' in failure ? failure.status : undefined;
	}
}

/**
 * Sends a request until it is answered well, or until it may not be sent again (retryPolicy.ts).
 *
 * @returns the body of the answer
 * @throws CallError for whatever else comes of it
 */
export async function send<Body>(
	connection: Connection,
	{ call, request, wanted, effect, accepts }: Exchange<Body>,
	{ maxRetries, timeout, stop }: SendOptions,
): Promise<Body> {
	const repeatable = effect === 'onceOnly' ? 'onceOnly' : 'idempotent';
	const { baseUrl } = connection;
	let earlierMayHaveActed = false;
	let triedNewestToken = false;

	for (let timesSent = 1; ; timesSent += 1) {
		const reply = await connection.send(request, timeout);
		if ('answer' in reply && accepts(reply.answer.body)) return reply.answer.body;

		const failure =
			'answer' in reply ? unexpected(reply.answer, wanted, reply.secrets) : reply.failure;
		// A token that others had fetched has expired too: the next try logs in. That is no retry.
		const tokenWasStale: boolean =
			'failure' in reply && reply.tokenWasStale === true && !triedNewestToken;
		triedNewestToken ||= tokenWasStale;
		const again = tokenWasStale || (timesSent <= maxRetries && mayRetry(failure, repeatable));
		if (again && !tokenWasStale) await wait(waitBeforeRetry(failure, timesSent), stop);

		if (!again || stop?.aborted === true) {
			throw new CallError(call, failure, { baseUrl, timeout, timesSent, earlierMayHaveActed });
		}
		earlierMayHaveActed ||= effect !== 'none' && mayHaveActed(failure);
	}
}

function unexpected({ status, body }: Answer, wanted: string, secrets: string[]): Failure {
	return { kind: 'unexpectedAnswer', status, came: describe(body, secrets), wanted };
}

/** Accepts any answer but a web page, for calls whose answer the interface does not show. */
export function isForPrograms(body: unknown): body is GenericValue {
	return !isHtml(body);
}
