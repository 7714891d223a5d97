import type { Call, CallMessages } from './call';
import { explainConnection } from '../messages/connectionMessage';
import { explainLogin } from '../messages/loginMessage';
import type { ErrorMessage, Explanation } from '../messages/message';
import { statusMessage, unexpectedMessage } from '../messages/message';
import type { Failure, FailureOf } from '../request/failure';
import { mayHaveActed } from '../request/retryPolicy';
import { ServiceError } from '../messages/serviceError';

/** How a call was tried. */
interface Attempts {
	baseUrl: string;
	/** Milliseconds, of one request. */
	timeout: number;
	timesSent: number;
	/** Whether a try before the last one may have had its effect. */
	earlierMayHaveActed?: boolean;
	/**
	 * Milliseconds that all requests had waited for the service, where this one was given up with them. Then the
	 * failure is what the service last said to any of them.
	 */
	waited?: number | undefined;
	/** How many probes found meanwhile that the service takes nothing. */
	probes?: number | undefined;
}

/** The error of a call that failed. It knows whether the call may have worked nevertheless. */
export class CallError extends ServiceError {
	override readonly jobMayExist: boolean;

	constructor(call: Call<unknown>, failure: Failure, attempts: Attempts) {
		// One that was given up while it waited can't have worked: else it would not have been sent again.
		const isUncertain = !call.idempotent && attempts.waited === undefined && mayHaveActed(failure);
		super(failure, explain(call, failure, attempts, isUncertain));
		this.jobMayExist = isUncertain;
	}
}

function explain(
	call: Call<unknown>,
	failure: Failure,
	attempts: Attempts,
	isUncertain: boolean,
): ErrorMessage {
	const { baseUrl, timesSent, earlierMayHaveActed, waited, probes = 0 } = attempts;
	const messages: CallMessages & { uncertain?: Explanation } = call.messages;
	const { message, advice, ...rest } = explainFailure(call, messages, failure, attempts);
	// How to find out comes in place of any other advice, above all of "try again".
	const uncertain = isUncertain ? messages.uncertain : undefined;
	const advices = [uncertain?.advice ?? advice];
	if (waited !== undefined && waited >= 1_000) {
		const meanwhile =
			probes === 0 ? '' : `, and asked it ${probes === 1 ? 'once' : `${probes} times`}`;
		advices.push(
			`All requests had been waiting for the service for ${Math.round(waited / 1_000)} s${meanwhile}.`,
		);
	}
	if (timesSent > 1) advices.push(`It was tried ${timesSent} times.`);
	if (earlierMayHaveActed === true) {
		advices.push('An earlier try got no clear answer and may have worked.');
	}
	return {
		...rest,
		message: uncertain === undefined ? message : `${message}; ${uncertain.message}`,
		advice: sentences(advices),
		detail: sentences([rest.detail, `${messages.subject} at ${baseUrl}.`]),
	};
}

function sentences(texts: Array<string | undefined>): string {
	return texts.filter(Boolean).join(' ');
}

function explainFailure(
	{ action }: Call<unknown>,
	messages: CallMessages,
	failure: Failure,
	{ baseUrl, timeout }: Attempts,
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
	{ status }: FailureOf<'status'>,
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
