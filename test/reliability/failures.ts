import type { Fault, When } from '../../sandbox';
import { actAndAnswer, answer, answerWhen } from '../support/answer';
import type { Kind } from '../support/operations';

/**
 * How an item ends whose first request alone meets a fault, and whose requests all meet it; by the number of its
 * requests. One request may be sent again, apart from waits and new tokens.
 */
export const ends = {
	fails: ['an error after 1', 'an error after 1'],
	isTaken: ['a result after 1', 'a result after 1'],
	isResent: ['a result after 2', 'an error after 2'],
	waits: ['a result after 2', 'an error after many'],
	renewsItsToken: ['a result after 2 with 2 tokens', 'an error after 2 with 2 tokens'],
	/** The question whether the new token is accepted ends so, too: another process may have logged in. */
	renewsItTwice: ['a result after 2 with 2 tokens', 'an error after 3 with 3 tokens'],
} as const;

/** A text of an error for all operations, or one for each kind; `<…>` stands for words of the operation. */
type Text = string | Record<Kind, string>;

/** What comes of a fault, or of several that come to the same. */
export interface Row {
	/** By their names: the fault, and the HTTP status that the error tells. */
	faults: Record<string, [fault: Fault, httpStatus: number | null]>;
	end: keyof typeof ends;
	/** How a change of a job's state ends, if another way: what it is answered with is not in the interface. */
	endOfChange?: keyof typeof ends;
	endOfRead?: keyof typeof ends;
	/** Whether the job may exist: the create is not sent again, and its error says so. */
	mayExist?: true;
	title: Text;
	/** What to do. */
	advice: Text;
}

/** A fault that can strike before the service does what it is asked, and after. */
function both(
	name: string,
	httpStatus: number | null,
	fault: (when: When) => Fault,
): Row['faults'] {
	return {
		[`${name}, before acting`]: [fault('beforeActing'), httpStatus],
		[`${name}, after acting`]: [fault('afterActing'), httpStatus],
	};
}

const elsewhere = 'http://127.0.0.1:9/elsewhere';
const newAddress =
	"If the service has a new address, enter it as the 'Base URL' in the credential, up to the part before /api or /oauth.";
const theirFault =
	"The fault is on the service's side. Try again later. If that doesn't help, tell the administrator of the service.";
const checkTheAddress =
	"Check that the 'Base URL' in the credential is the service's own address, and that no proxy or login page answers instead.";
const checkFields = {
	create: "Check this node's fields.",
	change: "Check this node's fields.",
	read: "Check this node's fields.",
};

export const rows: Row[] = [
	// No answer comes, or one that leads elsewhere.
	{
		faults: {
			...both('the connection breaks', null, (when) => ({ kind: 'break', when })),
			...both('half a body', null, (when) => ({ kind: 'halfBody', when })),
		},
		end: 'isResent',
		mayExist: true,
		title: 'The connection broke before the answer was complete',
		advice:
			"Try again later. If that doesn't help, check the 'Base URL' in the credential, and whether it should start with http:// or https://.",
	},
	{
		faults: {
			...both('an answer that drips in', null, (when) => ({ kind: 'drip', when })),
			...both('no answer', null, (when) => ({ kind: 'stall', when })),
		},
		end: 'isResent',
		mayExist: true,
		title: "The service didn't answer within 60 s",
		advice: "Try again later, or allow more time with the option 'Timeout'.",
	},
	{
		faults: {
			'307': [{ kind: 'redirect', location: elsewhere, status: 307 }, 307],
			'308': [{ kind: 'redirect', location: elsewhere, status: 308 }, 308],
		},
		end: 'fails',
		title: `The service redirects to ${elsewhere}`,
		advice: newAddress,
	},
	{
		// Post/Redirect/Get: many services answer so after a POST that has done its work.
		faults: Object.fromEntries(
			[300, 301, 302, 303, 399].map((status) => [
				`${status}, after acting`,
				[actAndAnswer(status, undefined, { location: elsewhere }), status],
			]),
		),
		end: 'fails',
		mayExist: true,
		title: `The service redirects to ${elsewhere}`,
		advice: newAddress,
	},
	// The service says no: to this request, to this user, or to all for the moment.
	{
		faults: { '400': [answer(400), 400], '422': [answer(422), 422] },
		end: 'fails',
		title: 'The service refused to <do it>',
		advice: checkFields,
	},
	...(
		[
			['401', answer(401), 'renewsItsToken'],
			['a token that has expired', { kind: 'expireTokens' }, 'renewsItTwice'],
		] as Array<[string, Fault, Row['end']]>
	).map(
		([name, fault, end]): Row => ({
			faults: { [name]: [fault, 401] },
			end,
			endOfRead: 'renewsItTwice',
			title: 'The service rejected the token that it had just issued',
			advice:
				"The login works, but its token doesn't. Check that the user is allowed to <do it>, and that the 'Base URL' in the credential leads to one service, not to several that each issue their own tokens.",
		}),
	),
	{
		faults: { '403': [answer(403), 403] },
		end: 'fails',
		title: "The user isn't allowed to <do it>",
		advice:
			'Ask the administrator of the service for the permission, or use the credential of another user.',
	},
	{
		faults: { '404': [answer(404), 404] },
		end: 'fails',
		title: '<not found>',
		advice: '<check>',
	},
	{
		faults: both('408', 408, (when) => answerWhen(when, 408)),
		end: 'isResent',
		mayExist: true,
		title: 'The service gave up waiting for the request',
		advice: 'Try again later.',
	},
	{
		faults: { '409': [answer(409), 409] },
		end: 'fails',
		title: {
			create: 'The new job conflicts with something on the service',
			change: "Can't <do it> in its current state",
			read: 'The service refused to <do it>',
		},
		advice: {
			create: "Change this node's fields, or resolve the conflict on the service.",
			change:
				'Check the state of the job on the service: it may have ended, or already be in the state that you want.',
			read: checkFields.read,
		},
	},
	{
		faults: {
			'429': [{ kind: 'rateLimit' }, 429],
			'429 with Retry-After: 0': [{ kind: 'rateLimit', retryAfter: 0 }, 429],
			'429 with Retry-After: 1': [{ kind: 'rateLimit', retryAfter: 1 }, 429],
		},
		end: 'waits',
		title: 'The service is receiving too many requests',
		advice:
			"Try again later. If that doesn't help, ask the administrator of the service how many requests it accepts.",
	},
	{
		// The service says that it did not take the request.
		faults: {
			'503 with Retry-After': [answer(503, undefined, { 'retry-after': '1' }), 503],
		},
		end: 'waits',
		title: 'The service failed to <do it>',
		advice: theirFault,
	},
	// The service fails, or answers with what no call is answered with.
	{
		faults: {
			...both('500', 500, (when) => answerWhen(when, 500)),
			...both('502', 502, (when) => answerWhen(when, 502)),
			...both('503', 503, (when) => answerWhen(when, 503)),
			...both('504', 504, (when) => answerWhen(when, 504)),
			...both('500 with a huge body', 500, (when) => ({
				...{ kind: 'hugeBody', when, bytes: 1_000_000, status: 500 },
			})),
			"503 with a Retry-After that can't be read": [
				answer(503, undefined, { 'retry-after': 'later' }),
				503,
			],
		},
		end: 'isResent',
		mayExist: true,
		title: 'The service failed to <do it>',
		advice: theirFault,
	},
	{
		faults: both('502 with a page', 502, (when) => ({ kind: 'html', when, status: 502 })),
		end: 'isResent',
		mayExist: true,
		title: 'The service failed to <do it>',
		advice: theirFault,
	},
	{
		faults: { '501': [answer(501), 501] },
		end: 'fails',
		mayExist: true,
		title: 'The service failed to <do it>',
		advice: theirFault,
	},
	{
		faults: both('a page', 200, (when) => ({ kind: 'html', when })),
		end: 'fails',
		mayExist: true,
		title: 'The service answered with an HTML page instead of <what is expected>',
		advice: checkTheAddress,
	},
	...(
		[
			['a list', (when) => answerWhen(when, 200, [])],
			['nothing', (when) => answerWhen(when, 200)],
			['an object', (when) => ({ kind: 'hugeBody', when, bytes: 1_000_000 })],
		] as Array<[string, (when: When) => Fault]>
	).map(
		([what, fault]): Row => ({
			faults: both(what, 200, fault),
			end: 'fails',
			endOfChange: 'isTaken',
			mayExist: true,
			title: `The service answered with ${what} instead of <what is expected>`,
			advice: checkTheAddress,
		}),
	),
];
