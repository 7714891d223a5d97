import type { FailureOf, RequestFailure } from '../request/failure';
import { explainConnection } from './connectionMessage';
import type { ErrorMessage, Explanation } from './message';
import { inSeconds, statusMessage, truncate, unexpectedMessage } from './message';

/** Milliseconds that a log-in may take. A node with a shorter Timeout doesn't wait so long (ownRequest.ts). */
export const LOGIN_TIMEOUT = 60_000;

/** What a failed log-in says: in the credential's test, and in every node that uses the credential. */
export function explainLogin(failure: RequestFailure, baseUrl: string): ErrorMessage {
	switch (failure.kind) {
		case 'timeout':
			return {
				message: `The service didn't answer the log-in within ${inSeconds(failure.after ?? LOGIN_TIMEOUT)}`,
				advice:
					failure.after === undefined
						? 'Try again later.'
						: "Try again later, or allow more time with the option 'Timeout'.",
			};
		case 'broken':
			return {
				...explainConnection(failure, baseUrl, LOGIN_TIMEOUT),
				message: 'The connection broke during the log-in',
				advice:
					"Try again later. If that doesn't help, check the 'Base URL' in the credential, and whether it should start with http:// or https://.",
			};
		case 'unexpectedResponse':
			return unexpectedMessage(failure, 'answered the log-in');
		case 'status':
			return statusMessage(failure, explainLoginStatus(failure, baseUrl));
		default:
			return explainConnection(failure, baseUrl, LOGIN_TIMEOUT);
	}
}

function explainLoginStatus({ status }: FailureOf<'status'>, baseUrl: string): Explanation {
	switch (status) {
		case 401:
			return {
				message: 'The user name or the password is wrong',
				advice:
					"Correct it in the credential. The log-in was tried only once, so that the account isn't locked.",
			};
		case 403:
			return {
				message: 'The service refused this user',
				advice:
					"Check 'Username' and 'Password' in the credential, and whether the user is blocked. The log-in was tried only once.",
			};
		case 404:
		case 405:
			return {
				message: `There is no log-in at ${truncate(baseUrl)}/oauth/login`,
				advice:
					"Check the 'Base URL' in the credential: it is the part of the address before /oauth/login.",
			};
		case 429:
			return {
				message: 'The service is receiving too many log-ins',
				advice: 'Try again later.',
			};
		default:
			return status < 500
				? {
						message: 'The service refused the log-in',
						advice: "Check 'Username', 'Password' and 'Base URL' in the credential.",
					}
				: {
						message: "The service can't log anyone in at the moment",
						advice: "Try again later. If that doesn't help, tell whoever runs the service.",
					};
	}
}
