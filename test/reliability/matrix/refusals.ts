import { answer, answerWhen } from '../../support/answer';
import { beforeAndAfter, lookForTheJob } from './row';
import type { Row } from './row';

/*
 * The service says no: to this request, to this user, or to all for the moment.
 */

const askForPermission =
	'Ask whoever runs the service for the permission, or use the credential of another user.';
const askHowMany =
	"Try again later. If that doesn't help, ask whoever runs the service how many requests it accepts. All requests had been waiting for the service for … s, and asked it … times. It was tried … times.";

export const refusals: Row[] = [
	{
		faults: { '400': [answer(400), 400], '422': [answer(422), 422] },
		create: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The service refused to create the job',
			advice: "Check this node's fields.",
			jobMayExist: false,
		},
		change: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The service refused to <verb> the job',
			advice: "Check this node's fields.",
		},
		read: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The service refused to <does>',
			advice: "Check this node's fields.",
		},
	},
	{
		faults: {
			'401': [answer(401), 401],
			'a token that has expired': [{ kind: 'expireTokens' }, 401],
		},
		create: {
			once: 'a result after 2 with 2 tokens',
			always: 'an error after 2 with 2 tokens',
			title: 'The service rejected the token that it had just issued',
			advice:
				"The log-in works, but the token from it doesn't. Check that the user is allowed to create the job, and that the 'Base URL' in the credential leads to one service, not to several that each issue their own tokens.",
			jobMayExist: false,
		},
		change: {
			once: 'a result after 2 with 2 tokens',
			always: 'an error after 2 with 2 tokens',
			title: 'The service rejected the token that it had just issued',
			advice:
				"The log-in works, but the token from it doesn't. Check that the user is allowed to <verb> the job, and that the 'Base URL' in the credential leads to one service, not to several that each issue their own tokens.",
		},
		read: {
			once: 'a result after 2 with 2 tokens',
			always: 'an error after 2 with 2 tokens',
			title: 'The service rejected the token that it had just issued',
			advice:
				"The log-in works, but the token from it doesn't. Check that the user is allowed to <does>, and that the 'Base URL' in the credential leads to one service, not to several that each issue their own tokens.",
		},
	},
	{
		faults: { '403': [answer(403), 403] },
		create: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: "The user isn't allowed to create the job",
			advice: askForPermission,
			jobMayExist: false,
		},
		change: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: "The user isn't allowed to <verb> the job",
			advice: askForPermission,
		},
		read: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: "The user isn't allowed to <does>",
			advice: askForPermission,
		},
	},
	{
		faults: { '404': [answer(404), 404] },
		create: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The namespace, the workflow template or the work cluster was not found',
			advice:
				"Check 'Namespace' (default), 'Workflow UID' (template-1) and 'Work Cluster' (wc-000001).",
			jobMayExist: false,
		},
		change: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: "No job '<id>' in namespace 'default'",
			advice:
				"Check 'Job ID' and 'Namespace'. The ID is 'metadata.uid' in the output of Create, not the job's display name. If both are right, check the 'Base URL' in the credential.",
		},
		read: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: '<notFound>',
			advice: '<check>',
		},
	},
	{
		faults: beforeAndAfter('408', 408, (when) => answerWhen(when, 408)),
		create: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The service gave up waiting for the request; the job may exist',
			advice: lookForTheJob,
			jobMayExist: true,
		},
		change: {
			once: 'a result after 2',
			always: 'an error after 2',
			title: 'The service gave up waiting for the request',
			advice:
				'Try again later. It was tried 2 times. An earlier try got no clear answer and may have worked.',
		},
		read: {
			once: 'a result after 2',
			always: 'an error after 2',
			title: 'The service gave up waiting for the request',
			advice: 'Try again later. It was tried 2 times.',
		},
	},
	{
		faults: { '409': [answer(409), 409] },
		create: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The new job conflicts with something on the service',
			advice: "Change this node's fields, or remove what is in the way on the service.",
			jobMayExist: false,
		},
		change: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: "Can't <verb> the job in its current state",
			advice:
				'Check the state of the job on the service: it may have ended, or already be in the state that you want.',
		},
		read: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The service refused to <does>',
			advice: "Check this node's fields.",
		},
	},
	{
		// Whoever is turned away waits for the service, a minute at most.
		faults: {
			'429': [{ kind: 'rateLimit' }, 429],
			'429 with Retry-After: 0': [{ kind: 'rateLimit', retryAfter: 0 }, 429],
			'429 with Retry-After: 1': [{ kind: 'rateLimit', retryAfter: 1 }, 429],
		},
		create: {
			once: 'a result after 2',
			always: 'an error after many',
			title: 'The service is receiving too many requests',
			advice: askHowMany,
			jobMayExist: false,
		},
		change: {
			once: 'a result after 2',
			always: 'an error after many',
			title: 'The service is receiving too many requests',
			advice: askHowMany,
		},
		read: {
			once: 'a result after 2',
			always: 'an error after many',
			title: 'The service is receiving too many requests',
			advice: askHowMany,
		},
	},
];
