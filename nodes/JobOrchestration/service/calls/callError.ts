import type { Call, CallMessages } from './call';
import { explainConnection } from '../messages/connectionMessage';
import { explainLogin } from '../messages/loginMessage';
import type { ErrorMessage, Explanation, StatusFailure } from '../messages/message';
import { statusMessage, unexpectedMessage } from '../messages/message';
import type { Connection } from '../request/connection';
import type { Failure } from '../request/failure';
import { mayHaveActed } from '../request/retryPolicy';
import { ServiceError } from '../messages/serviceError';

/** How a call was tried. */
interface Attempts {
	connection: Pick<Connection, 'baseUrl' | 'redact'>;
	/** Milliseconds, of one request. */
	timeout: number;
	timesSent: number;
	/** Whether a try before the last one may have had its effect. */
	earlierMayHaveActed?: boolean;
	/**
	 * Milliseconds that all requests had waited for the service, where this one was given up with them. Then the
	 * failure is what the service last said to any of them.
	 */
	waited?: number;
	/** How many probes found meanwhile that the service takes nothing. */
	probes?: number;
}

/** The error of a call that failed. It knows whether the call may have worked nevertheless. */
export class CallError extends ServiceError {
	override readonly jobMayExist: boolean;

	constructor(call: Call<unknown>, failure: Failure, attempts: Attempts) {
		super(failure, explain(call, failure, attempts));
		this.jobMayExist = mayHaveWorked(call, failure, attempts);
	}
}

/** One that was given up while it waited can't have worked: else it would not have been sent again. */
function mayHaveWorked(call: Call<unknown>, failure: Failure, { waited }: Attempts): boolean {
	return !call.idempotent && waited === undefined && mayHaveActed(failure);
}

function explain(call: Call<unknown>, failure: Failure, attempts: Attempts): ErrorMessage {
	const { connection, timesSent, earlierMayHaveActed, waited, probes = 0 } = attempts;
	const { baseUrl } = connection;
	const messages: CallMessages & { mayHaveWorked?: Explanation } = call.messages((text) =>
		connection.redact(text),
	);
	const explained = explainFailure(call, messages, failure, attempts);
	if (mayHaveWorked(call, failure, attempts) && messages.mayHaveWorked !== undefined) {
		// How to find out comes in place of any other advice, above all of "try again".
		explained.message += `; ${messages.mayHaveWorked.message}`;
		explained.advice = messages.mayHaveWorked.advice;
	}
	if (waited !== undefined && waited >= 1_000) {
		const meanwhile =
			probes === 0 ? '' : `, and asked it ${probes === 1 ? 'once' : `${probes} times`}`;
		explained.advice += ` All requests had been waiting for the service for ${Math.round(waited / 1_000)} s${meanwhile}.`;
	}
	if (timesSent > 1) explained.advice += ` It was tried ${timesSent} times.`;
	if (earlierMayHaveActed === true) {
		explained.advice += ' An earlier try got no clear answer and may have worked.';
	}
	explained.detail = [explained.detail, `${messages.subject} at ${baseUrl}.`]
		.filter(Boolean)
		.join(' ');
	return explained;
}

function explainFailure(
	{ action }: Call<unknown>,
	messages: CallMessages,
	failure: Failure,
	{ connection: { baseUrl }, timeout }: Attempts,
): ErrorMessage {
	switch (failure.kind) {
		case 'login':
			return explainLogin(failure.cause, baseUrl);
		case 'status':
			return statusMessage(failure, explainStatus(action, messages, failure));
		case 'unexpectedResponse':
			return unexpectedMessage(failure);
		case 'endlessList':
			return {
				message: 'The list of work clusters never ends',
				advice:
					"Report this to whoever runs the service. To get the first of the clusters, turn off 'Return All' and set a low 'Limit'.",
				detail: failure.sign,
			};
		default:
			return explainConnection(failure, baseUrl, timeout);
	}
}

function explainStatus(
	action: string,
	{ notFound, conflict }: CallMessages,
	{ status }: StatusFailure,
): Explanation {
	const refused = {
		message: `The service refused to ${action}`,
		advice: "Check this node's fields.",
	};
	switch (status) {
		case 401:
			return {
				message: 'The service rejected the token that it had just issued',
				advice: `The log-in works, but the token from it doesn't. Check that the user is allowed to ${action}, and that the 'Base URL' in the credential leads to one service, not to several that each issue their own tokens.`,
			};
		case 403:
			return {
				message: `The user isn't allowed to ${action}`,
				advice:
					'Ask whoever runs the service for the permission, or use the credential of another user.',
			};
		case 404:
			return notFound;
		case 408:
			return {
				message: 'The service gave up waiting for the request',
				advice: 'Try again later.',
			};
		case 409:
			return conflict ?? refused;
		case 429:
			return {
				message: 'The service is receiving too many requests',
				advice:
					"Try again later. If that doesn't help, ask whoever runs the service how many requests it accepts.",
			};
		default:
			return status < 500
				? refused
				: {
						message: `The service failed to ${action}`,
						advice:
							"The fault is on the service's side. Try again later. If that doesn't help, tell whoever runs the service.",
					};
	}
}
