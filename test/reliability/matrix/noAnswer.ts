import { actAndAnswer } from '../../support/answer';
import { beforeAndAfter, lookForTheJob } from './row';
import type { Row } from './row';

/*
 * No answer comes, or one that leads elsewhere.
 */

const elsewhere = 'http://127.0.0.1:9/elsewhere';
const newAddress =
	"If this is the service's new address, enter it as the 'Base URL' in the credential, up to the part before /api or /oauth.";

export const noAnswer: Row[] = [
	{
		faults: {
			...beforeAndAfter('the connection breaks', null, (when) => ({ kind: 'break', when })),
			...beforeAndAfter('half a body', null, (when) => ({ kind: 'halfBody', when })),
		},
		create: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: 'The connection broke before the answer was complete; the job may exist',
			advice: lookForTheJob,
			jobMayExist: true,
		},
		change: {
			once: 'a result after 2',
			always: 'an error after 2',
			title: 'The connection broke before the answer was complete',
			advice:
				'Try again later. It was tried 2 times. An earlier try got no clear answer and may have worked.',
		},
		read: {
			once: 'a result after 2',
			always: 'an error after 2',
			title: 'The connection broke before the answer was complete',
			advice: 'Try again later. It was tried 2 times.',
		},
	},
	{
		faults: {
			...beforeAndAfter('an answer that drips in', null, (when) => ({ kind: 'drip', when })),
			...beforeAndAfter('no answer', null, (when) => ({ kind: 'stall', when })),
		},
		create: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: "The service didn't answer within 60 s; the job may exist",
			advice: lookForTheJob,
			jobMayExist: true,
		},
		change: {
			once: 'a result after 2',
			always: 'an error after 2',
			title: "The service didn't answer within 60 s",
			advice:
				"Try again later, or allow more time with the option 'Timeout'. It was tried 2 times. An earlier try got no clear answer and may have worked.",
		},
		read: {
			once: 'a result after 2',
			always: 'an error after 2',
			title: "The service didn't answer within 60 s",
			advice:
				"Try again later, or allow more time with the option 'Timeout'. It was tried 2 times.",
		},
	},
	{
		faults: {
			'307': [{ kind: 'redirect', location: elsewhere, status: 307 }, 307],
			'308': [{ kind: 'redirect', location: elsewhere, status: 308 }, 308],
		},
		create: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: `The service redirects to ${elsewhere}`,
			advice: newAddress,
			jobMayExist: false,
		},
		change: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: `The service redirects to ${elsewhere}`,
			advice: newAddress,
		},
		read: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: `The service redirects to ${elsewhere}`,
			advice: newAddress,
		},
	},
	{
		// Post/Redirect/Get: many services answer so after a POST that has done its work.
		faults: Object.fromEntries(
			[300, 301, 302, 303, 399].map((status) => [
				`${status}, after acting`,
				[actAndAnswer(status, undefined, { location: elsewhere }), status],
			]),
		),
		create: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: `The service redirects to ${elsewhere}; the job may exist`,
			advice: lookForTheJob,
			jobMayExist: true,
		},
		change: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: `The service redirects to ${elsewhere}`,
			advice: newAddress,
		},
		read: {
			once: 'an error after 1',
			always: 'an error after 1',
			title: `The service redirects to ${elsewhere}`,
			advice: newAddress,
		},
	},
];
