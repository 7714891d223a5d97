import type { Failure } from './failure';
import type { StateChange } from './shapes';

/** What a call is about, in the terms that a person knows. */
export type Call =
	| { operation: 'createJob'; namespace: string; displayName: string; workCluster: string }
	| { operation: StateChange; namespace: string; jobId: string }
	| { operation: 'listClusters' };

/** An error's title, and below it what happened, where, and what to do. */
export interface Words {
	message: string;
	description: string;
}

/** Seconds as a person says them. */
const inSeconds = (milliseconds: number) => `${Number((milliseconds / 1000).toFixed(1))} s`;

/**
 * Puts a failed call into words: the title says what happened, the description what to do about it.
 *
 * @param baseUrl the address of the service, as the credential has it
 * @param timeout of one request, in milliseconds
 */
export function explain(call: Call, failure: Failure, baseUrl: string, timeout: number): Words {
	switch (failure.kind) {
		case 'login':
			return explainLogin(failure.because, baseUrl, timeout);
		case 'baseUrl':
			return explainBaseUrl(failure);
		case 'foreignHost':
			return explainForeignHost(failure, baseUrl);
		case 'status':
			return explainStatus(call, failure, baseUrl);
		case 'unexpectedAnswer':
			return {
				message: `The service answered with ${failure.came} instead of ${failure.wanted}`,
				description: `This is not what the job orchestration service sends (HTTP ${failure.status} from ${baseUrl}). Check that the Base URL in the credential is the service's own address, and that no proxy or log-in page answers in its place.`,
			};
		default:
			return explainConnection(failure, baseUrl, timeout);
	}
}

/** What a failed log-in says: in the credential's test, in every node that uses the credential. */
export function explainLogin(
	failure: Exclude<Failure, { kind: 'login' }>,
	baseUrl: string,
	timeout: number,
): Words {
	switch (failure.kind) {
		case 'baseUrl':
			return explainBaseUrl(failure);
		case 'foreignHost':
			return explainForeignHost(failure, baseUrl);
		case 'unexpectedAnswer':
			return {
				message: `The service answered the log-in with ${failure.came} instead of a token`,
				description: `Check that the Base URL in the credential is the service's own address: ${baseUrl} answered (HTTP ${failure.status}), but not as the job orchestration service does.`,
			};
		case 'status':
			return explainLoginStatus(failure, baseUrl);
		default:
			return explainConnection(failure, baseUrl, timeout);
	}
}

/** What an unusable Base URL says. */
export function explainBaseUrl(failure: { problem: string }): Words {
	return {
		message: `The Base URL of the credential ${failure.problem}`,
		description:
			'Open the credential and enter the address of the service alone, such as https://jobs.example.com or https://example.com/orchestration. User name and password have fields of their own.',
	};
}

/** Appended to whatever a create says whose job may exist nevertheless. */
export function explainMayExist(call: { namespace: string; displayName: string }): Words {
	return {
		message: 'the job may exist nevertheless',
		description: `The request had been sent, so the service may have made the job, and this node did not send it again, so as not to make it twice. Before you run this item again, look on the service for a job named '${call.displayName}' in namespace '${call.namespace}'.`,
	};
}

function explainForeignHost(failure: { host: string }, baseUrl: string): Words {
	return {
		message: `This credential is for ${baseUrl} only`,
		description: `The request goes to ${failure.host}, which must not get the token. Use an address that begins with the credential's Base URL, or another credential.`,
	};
}

type ConnectionFailure = Exclude<
	Failure,
	{ kind: 'login' | 'baseUrl' | 'foreignHost' | 'status' | 'unexpectedAnswer' }
>;

function explainConnection(failure: ConnectionFailure, baseUrl: string, timeout: number): Words {
	switch (failure.kind) {
		case 'unreachable':
			return {
				message: `The service at ${baseUrl} can't be reached`,
				description: isUnknownHost(failure.code)
					? `No host of this name is known (${failure.code}). Check the Base URL in the credential for a typing error, and that this n8n can look the name up.`
					: `No connection could be made (${failure.code}). Check the host and the port of the Base URL in the credential, and that the service is running and can be reached from this n8n.`,
			};
		case 'certificate':
			return {
				message: `The certificate of ${baseUrl} isn't trusted`,
				description: `The connection was ended before anything was sent (${failure.code}). Let the service have a certificate that this n8n trusts, or add its authority with NODE_EXTRA_CA_CERTS. If you know the risk, switch on "Ignore SSL Issues (Insecure)" in the credential.`,
			};
		case 'timeout':
			return {
				message: `The service at ${baseUrl} did not answer within ${inSeconds(timeout)}`,
				description: 'It may be busy. Try again later, or allow more time with the option Timeout.',
			};
		case 'broken':
			return {
				message: `The connection to ${baseUrl} broke before the answer was complete`,
				description: `Something between this n8n and the service ended it (${failure.code}): the service, a proxy or the network. Try again later.`,
			};
		case 'cancelled':
			return {
				message: 'The execution was cancelled',
				description: `A request to ${baseUrl} was under way.`,
			};
		case 'endlessList':
			return {
				message: `The list at ${baseUrl} has no end: the same page token came twice`,
				description:
					'The fault is on the side of the service: tell whoever runs it. Until it is mended, switch off Return All and set a Limit that the first pages can fill.',
			};
		case 'redirect':
			return {
				message: `The service at ${baseUrl} redirects to ${failure.location ?? 'an address that it does not name'}`,
				description:
					"Redirects aren't followed, so that the token stays with the service. If the address is right, enter it as the Base URL in the credential, up to the part before /api or /oauth.",
			};
	}
}

/** How Node.js names what a name look-up reports. */
const isUnknownHost = (code: string) => code === 'ENOTFOUND' || code === 'EAI_AGAIN';

type StatusFailure = Extract<Failure, { kind: 'status' }>;

function explainLoginStatus(failure: StatusFailure, baseUrl: string): Words {
	switch (failure.status) {
		case 401:
		case 403:
			return words(
				'The user name or the password is wrong',
				failure,
				`The service at ${baseUrl} refused the log-in. Correct the credential; it was tried once only, so that the account isn't locked.`,
			);
		case 404:
		case 405:
			return words(
				`There is no log-in at ${baseUrl}/oauth/login`,
				failure,
				'Check the Base URL in the credential: it is the part of the address before /oauth/login.',
			);
		case 429:
			return words('The service is receiving too many log-ins', failure, 'Try again later.');
		default:
			return failure.status >= 500
				? words(`The service at ${baseUrl} can't log in at the moment`, failure, 'Try again later.')
				: words(
						`The service at ${baseUrl} refused the log-in`,
						failure,
						'Check the user name, the password and the Base URL in the credential.',
					);
	}
}

function explainStatus(call: Call, failure: StatusFailure, baseUrl: string): Words {
	switch (failure.status) {
		case 400:
		case 422:
			return wordsWithReason(
				`The service refused to ${inWords(call)}`,
				failure,
				'It found something wrong in the request. Check the fields of this node.',
			);
		case 401:
			return words(
				'The service rejected the token that it had just given',
				failure,
				`The log-in at ${baseUrl} succeeds, but its token isn't accepted. Check that the user may ${inWords(call)}, and that the Base URL in the credential is one service, not several with tokens of their own.`,
			);
		case 403:
			return words(
				`The user isn't allowed to ${inWords(call)}`,
				failure,
				'Ask whoever runs the service for the permission, or use a credential of another user.',
			);
		case 404:
			return explainNotFound(call, failure, baseUrl);
		case 408:
			return words('The service gave up waiting for the request', failure, 'Try again later.');
		case 409:
			return wordsWithReason(
				`The service can't ${inWords(call)} as things stand`,
				failure,
				call.operation === 'createJob'
					? 'It conflicts with something that exists there.'
					: 'Its present state does not allow it: a job that has ended, for instance, or that is in that state already.',
			);
		case 429:
			return words(
				'The service is receiving too many requests',
				failure,
				'Lower the option Concurrency, raise Max Retries, or send fewer items at a time.',
			);
		default:
			return failure.status >= 500
				? words(
						`The service at ${baseUrl} failed to ${inWords(call)}`,
						failure,
						'The fault is on its side. Try again later; if it stays, tell whoever runs the service.',
					)
				: words(
						`The service refused to ${inWords(call)}`,
						failure,
						'Check the fields of this node.',
					);
	}
}

function explainNotFound(call: Call, failure: StatusFailure, baseUrl: string): Words {
	switch (call.operation) {
		case 'createJob':
			return words(
				`Something that the new job needs wasn't found in namespace '${call.namespace}'`,
				failure,
				`Check Namespace, Workflow UID and Work Cluster ('${call.workCluster}').`,
			);
		case 'listClusters':
			return words(
				`There is no list of work clusters at ${baseUrl}`,
				failure,
				'Check the Base URL in the credential: it is the part of the address before /api/v1.',
			);
		default:
			return words(
				`No job '${call.jobId}' in namespace '${call.namespace}'`,
				failure,
				"Check Job ID and Namespace. The ID is what creating the job gave as metadata.uid, not the job's display name.",
			);
	}
}

/** Title and advice, with the service's own words and the status between them. */
function words(message: string, failure: StatusFailure, advice: string): Words {
	const said =
		failure.text === undefined
			? `HTTP ${failure.status}, without a reason.`
			: `The service says: "${failure.text}" (HTTP ${failure.status}).`;
	return { message, description: `${said} ${advice}` };
}

/** The same where the service's own words say what is wrong: they belong in the title, if they fit. */
function wordsWithReason(message: string, failure: StatusFailure, advice: string): Words {
	const { text } = failure;
	const title = text === undefined || text.length > 150 ? message : `${message}: ${text}`;
	return words(title, failure, advice);
}

function inWords(call: Call): string {
	switch (call.operation) {
		case 'createJob':
			return `create a job in namespace '${call.namespace}'`;
		case 'listClusters':
			return 'list the work clusters';
		default:
			return `${call.operation} job '${call.jobId}' in namespace '${call.namespace}'`;
	}
}
