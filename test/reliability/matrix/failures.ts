import { answer, answerWhen } from '../../support/answer';
import { beforeAndAfter, lookForTheJob } from './row';
import type { Row } from './row';

/*
 * The service fails, or answers with what no call is answered with.
 */

const theirFault =
	"The fault is on the service's side. Try again later. If that doesn't help, tell whoever runs the service.";
const checkTheAddress =
	"Check that the 'Base URL' in the credential is the service's own address, and that no proxy or log-in page answers in its place.";
const waited = `${theirFault} All requests had been waiting for the service for … s, and asked it … times. It was tried … times.`;

export const failures: Row[] = [
	{
		faults: {
			...beforeAndAfter('500', 500, (when) => answerWhen(when, 500)),
			...beforeAndAfter('502', 502, (when) => answerWhen(when, 502)),
			...beforeAndAfter('503', 503, (when) => answerWhen(when, 503)),
			...beforeAndAfter('504', 504, (when) => answerWhen(when, 504)),
			...beforeAndAfter('502 with a page', 502, (when) => ({ kind: 'html', when, status: 502 })),
			...beforeAndAfter('500 with a huge body', 500, (when) => ({
				...{ kind: 'hugeBody', when, bytes: 1_000_000, status: 500 },
			})),
			"503 with a Retry-After that can't be read": [
				answer(503, undefined, { 'retry-after': 'later' }),
				503,
			],
		},
		create: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The service failed to create the job; the job may exist',
			advice: lookForTheJob,
			jobMayExist: true,
		},
		change: {
			once: 'a result after 2',
			always: 'an error after 2',
			title: 'The service failed to <verb> the job',
			advice: `${theirFault} It was tried 2 times. An earlier try got no clear answer and may have worked.`,
		},
		read: {
			once: 'a result after 2',
			always: 'an error after 2',
			title: 'The service failed to <does>',
			advice: `${theirFault} It was tried 2 times.`,
		},
	},
	{
		faults: { '501': [answer(501), 501] },
		create: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The service failed to create the job; the job may exist',
			advice: lookForTheJob,
			jobMayExist: true,
		},
		change: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The service failed to <verb> the job',
			advice: theirFault,
		},
		read: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The service failed to <does>',
			advice: theirFault,
		},
	},
	{
		// The service says that it did not take the request.
		faults: {
			'503 with Retry-After': [answer(503, undefined, { 'retry-after': '1' }), 503],
		},
		create: {
			once: 'a result after 2',
			always: 'an error after many',
			title: 'The service failed to create the job',
			advice: waited,
			jobMayExist: false,
		},
		change: {
			once: 'a result after 2',
			always: 'an error after many',
			title: 'The service failed to <verb> the job',
			advice: waited,
		},
		read: {
			once: 'a result after 2',
			always: 'an error after many',
			title: 'The service failed to <does>',
			advice: waited,
		},
	},
	{
		faults: beforeAndAfter('a page', 200, (when) => ({ kind: 'html', when })),
		create: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The service answered with an HTML page instead of a job; the job may exist',
			advice: lookForTheJob,
			jobMayExist: true,
		},
		change: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The service answered with an HTML page instead of a confirmation',
			advice: checkTheAddress,
		},
		read: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The service answered with an HTML page instead of <expects>',
			advice: checkTheAddress,
		},
	},
	{
		// What a state change is answered with is not in the interface: any but a page will do.
		faults: beforeAndAfter('a list', 200, (when) => answerWhen(when, 200, [])),
		create: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The service answered with a list instead of a job; the job may exist',
			advice: lookForTheJob,
			jobMayExist: true,
		},
		change: { once: 'a result after 1', always: 'a result after 1' },
		read: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The service answered with a list instead of <expects>',
			advice: checkTheAddress,
		},
	},
	{
		faults: beforeAndAfter('an empty answer', 200, (when) => answerWhen(when, 200)),
		create: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The service answered with nothing instead of a job; the job may exist',
			advice: lookForTheJob,
			jobMayExist: true,
		},
		change: { once: 'a result after 1', always: 'a result after 1' },
		read: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The service answered with nothing instead of <expects>',
			advice: checkTheAddress,
		},
	},
	{
		faults: beforeAndAfter('a huge body', 200, (when) => ({
			...{ kind: 'hugeBody', when, bytes: 1_000_000 },
		})),
		create: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The service answered with other data instead of a job; the job may exist',
			advice: lookForTheJob,
			jobMayExist: true,
		},
		change: { once: 'a result after 1', always: 'a result after 1' },
		read: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The service answered with other data instead of <expects>',
			advice: checkTheAddress,
		},
	},
];
