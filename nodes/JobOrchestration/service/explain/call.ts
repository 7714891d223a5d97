import type { Failure } from '../failure';
import { explainConnection } from './connection';
import { explainLogin } from './login';
import type { StatusFailure, Words } from './words';
import { wordsOf, wordsWithReason } from './words';

/** What a call is about, in the terms that a person knows. */
export type Call =
	| { operation: 'createJob'; namespace: string; displayName: string; workCluster: string }
	| { operation: 'changeJobState'; verb: string; namespace: string; jobId: string }
	| { operation: 'listClusters' };

/**
 * Puts a failed call into words.
 *
 * @param baseUrl the address of the service, as the credential has it
 * @param timeout of one request, in milliseconds
 */
export function explainCall(call: Call, failure: Failure, baseUrl: string, timeout: number): Words {
	switch (failure.kind) {
		case 'login':
			return explainLogin(failure.because, baseUrl);
		case 'status':
			return explainStatus(call, failure, baseUrl);
		case 'unexpectedAnswer':
			return {
				message: `The service answered with ${failure.came} instead of ${failure.wanted}`,
				detail: `This is not what the job orchestration service sends (HTTP ${failure.status} from ${baseUrl}).`,
				advice:
					"Check that the Base URL in the credential is the service's own address, and that no proxy or log-in page answers in its place.",
			};
		case 'endlessList':
			return {
				message: `The list at ${baseUrl} has no end: the same page token came twice`,
				detail: 'The fault is on the side of the service: tell whoever runs it.',
				advice:
					'Until it is mended, switch off Return All and set a Limit that the first pages can fill.',
			};
		default:
			return explainConnection(failure, baseUrl, timeout);
	}
}

/**
 * What a create says whose job may exist nevertheless: how to find out comes in place of any other advice,
 * above all of "try again".
 */
export function explainMayExist(
	{ namespace, displayName }: { namespace: string; displayName: string },
	{ message, detail }: Words,
): Words {
	return {
		message: `${message}; the job may exist nevertheless`,
		detail,
		advice: `The request had been sent, so the service may have made the job, and this node did not send it again, so as not to make it twice. Before you run this item again, look on the service for a job named '${displayName}' in namespace '${namespace}'.`,
	};
}

function explainStatus(call: Call, failure: StatusFailure, baseUrl: string): Words {
	switch (failure.status) {
		case 400:
		case 422:
			return wordsWithReason(
				failure,
				`The service refused to ${inWords(call)}`,
				'It found something wrong in the request. Check the fields of this node.',
			);
		case 401:
			return wordsOf(
				failure,
				'The service rejected the token that it had just given',
				`The log-in at ${baseUrl} succeeds, but its token isn't accepted. Check that the user may ${inWords(call)}, and that the Base URL in the credential is one service, not several with tokens of their own.`,
			);
		case 403:
			return wordsOf(
				failure,
				`The user isn't allowed to ${inWords(call)}`,
				'Ask whoever runs the service for the permission, or use a credential of another user.',
			);
		case 404:
			return explainNotFound(call, failure, baseUrl);
		case 408:
			return wordsOf(failure, 'The service gave up waiting for the request', 'Try again later.');
		case 409:
			return wordsWithReason(
				failure,
				`The service can't ${inWords(call)} as things stand`,
				call.operation === 'createJob'
					? 'Change the fields of this node, or remove what is in the way on the service.'
					: 'Its present state does not allow it: a job that has ended, for instance, or that is in that state already.',
			);
		case 429:
			return wordsOf(
				failure,
				'The service is receiving too many requests',
				'Lower the option Concurrency, raise Max Request Retries, or send fewer items at a time.',
			);
		default:
			return failure.status >= 500
				? wordsOf(
						failure,
						`The service at ${baseUrl} failed to ${inWords(call)}`,
						'The fault is on its side. Try again later; if it stays, tell whoever runs the service.',
					)
				: wordsWithReason(
						failure,
						`The service refused to ${inWords(call)}`,
						'Check the fields of this node.',
					);
	}
}

function explainNotFound(call: Call, failure: StatusFailure, baseUrl: string): Words {
	switch (call.operation) {
		case 'createJob':
			return wordsOf(
				failure,
				`Something that the new job needs wasn't found in namespace '${call.namespace}'`,
				`Check Namespace, Workflow UID and Work Cluster ('${call.workCluster}').`,
			);
		case 'listClusters':
			return wordsOf(
				failure,
				`There is no list of work clusters at ${baseUrl}`,
				'Check the Base URL in the credential: it is the part of the address before /api/v1.',
			);
		default:
			return wordsOf(
				failure,
				`No job '${call.jobId}' in namespace '${call.namespace}'`,
				"Check Job ID and Namespace. The ID is what creating the job gave as metadata.uid, not the job's display name. If both are right, check the Base URL in the credential.",
			);
	}
}

function inWords(call: Call): string {
	switch (call.operation) {
		case 'createJob':
			return `create a job in namespace '${call.namespace}'`;
		case 'listClusters':
			return 'list the work clusters';
		default:
			return `${call.verb} job '${call.jobId}' in namespace '${call.namespace}'`;
	}
}
