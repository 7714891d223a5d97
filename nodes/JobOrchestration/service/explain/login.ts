import type { LoginFailure } from '../failure';
import { explainConnection } from './connection';
import type { StatusFailure, Words } from './words';
import { wordsOf } from './words';

/** Milliseconds that a log-in may take, whatever a node's option Timeout says. */
export const LOGIN_TIMEOUT = 60_000;

/** What a failed log-in says: in the credential's test, and in every node that uses the credential. */
export function explainLogin(failure: LoginFailure, baseUrl: string): Words {
	switch (failure.kind) {
		case 'timeout':
			return {
				message: `The service at ${baseUrl} did not answer the log-in within ${LOGIN_TIMEOUT / 1000} s`,
				detail: 'It may be busy.',
				advice: 'Try again later.',
			};
		case 'unexpectedAnswer':
			return {
				message: `The service answered the log-in with ${failure.came} instead of ${failure.wanted}`,
				detail: `${baseUrl} answered (HTTP ${failure.status}), but not as the job orchestration service does.`,
				advice: "Check that the Base URL in the credential is the service's own address.",
			};
		case 'status':
			return explainLoginStatus(failure, baseUrl);
		default:
			return explainConnection(failure, baseUrl, LOGIN_TIMEOUT);
	}
}

function explainLoginStatus(failure: StatusFailure, baseUrl: string): Words {
	switch (failure.status) {
		case 401:
			return wordsOf(
				failure,
				'The user name or the password is wrong',
				`The service at ${baseUrl} refused the log-in. Correct the credential; it was tried once only, so that the account isn't locked.`,
			);
		case 403:
			return wordsOf(
				failure,
				'The service refused this user',
				'Check the user name and the password in the credential, and whether the user is blocked. It was tried once only.',
			);
		case 404:
		case 405:
			return wordsOf(
				failure,
				`There is no log-in at ${baseUrl}/oauth/login`,
				'Check the Base URL in the credential: it is the part of the address before /oauth/login.',
			);
		case 429:
			return wordsOf(failure, 'The service is receiving too many log-ins', 'Try again later.');
		default:
			return failure.status >= 500
				? wordsOf(
						failure,
						`The service at ${baseUrl} can't log anyone in at the moment`,
						'Try again later.',
					)
				: wordsOf(
						failure,
						`The service at ${baseUrl} refused the log-in`,
						'Check the user name, the password and the Base URL in the credential.',
					);
	}
}
