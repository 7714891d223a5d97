import { readFileSync } from 'node:fs';

import { retryAfterIn } from '../../nodes/JobOrchestration/service/errors/result';
import { cancelled, type Failure } from '../../nodes/JobOrchestration/service/errors/failure';
import {
	type CallState,
	consequenceOf,
	mayResend,
	next,
	type Resend,
} from '../../nodes/JobOrchestration/service/policy';
import { Secrets } from '../../nodes/JobOrchestration/service/errors/secrets';
import { accountOf } from '../../nodes/JobOrchestration/service/session/account';
import { type Helpers, sendLogin } from '../../nodes/JobOrchestration/service/session/http';
import {
	broken,
	failureWith,
	statusFailure as status,
	timedOut,
	unreachable,
} from './statusFailure';

/*
 * The retry policy never sends a create again that may have created a job, for any status and any other failure. Each
 * line of the snapshot says what follows from a failure.
 */

type Named = [name: string, failure: Failure];

/** Returns a failure for each status from 100 to 999. */
const withEach = (failureOf: (code: number) => Failure) =>
	Array.from({ length: 900 }, (_, n): Named => [String(100 + n), failureOf(100 + n)]);

const statuses = withEach((code) => status(code));
const others: Named[] = [
	['a cancel before it is sent', cancelled({ sent: false })],
	['a cancel after it was sent', cancelled({ sent: true })],
	['no connection', unreachable],
	['a failure of n8n', failureWith({ condition: 'n8nFailed' })],
	['a time-out', timedOut],
	['a broken connection', broken],
];

/** Returns all consequences of a failure as a text. */
function consequencesOf(failure: Failure): string {
	const { mayHaveActed, condition, token, retryAfterMs } = failure;
	const resent = [false, true].map((idempotent) => mayResend(failure, idempotent));
	return [
		resent[0] ? 'resent' : resent[1] ? 'resent unless a create' : 'not resent',
		mayHaveActed ? 'may have acted' : 'has not acted',
		...[condition, token ?? []].flat(),
		...(condition === 'throttled' && retryAfterMs !== undefined ? ['all wait'] : []),
	].join(', ');
}

/** Returns a line for each failure. Consecutive statuses with the same consequences share a line. */
function linesOf(failures: Named[]): string {
	const lines: Array<{ text: string; first: string; last?: string }> = [];
	for (const [name, failure] of failures) {
		const text = consequencesOf(failure);
		const line = lines.at(-1);
		if (line?.text === text && /\d/.test(name)) line.last = name;
		else lines.push({ text, first: name });
	}
	return lines
		.map(({ text, first, last }) => `${first}${last ? ` to ${last}` : ''}: ${text}`)
		.join('\n');
}

/** Returns the failure of a login that ends in this answer or this error of n8n. */
async function failureOfLogin(end: object): Promise<Failure> {
	const account = accountOf({ baseUrl: 'https://x', userName: 'u', password: 'p' });
	const answered = end instanceof Error ? Promise.reject(end) : Promise.resolve(end);
	const helpers: unknown = { httpRequest: async () => await answered };
	const result = await sendLogin(helpers as Helpers, { account, secrets: new Secrets('p') });
	if ('token' in result) throw new Error('The login has succeeded');
	return result.failure;
}
const answersWith = (headers: object) =>
	statuses.map(([code]) => [code, { statusCode: Number(code), headers, body: {} }] as const);

test.each([
	['a status', answersWith({})],
	['a status with Retry-After', answersWith({ 'retry-after': '1' })],
	[
		'an exception',
		[
			['no connection', new Error('connect ECONNREFUSED')],
			['a broken connection', new Error('read ECONNRESET')],
			['a certificate', new Error('CERT_HAS_EXPIRED')],
			['a blocked address', new Error('The request was blocked because it is restricted')],
		],
	],
] as const)('The consequences are those in the snapshot if a login ends in %s', async (_, ends) => {
	const failures = await Promise.all(
		ends.map(async ([name, end]): Promise<Named> => [name, await failureOfLogin(end)]),
	);
	expect(linesOf(failures)).toMatchSnapshot();
	// The request that waits for the login was not sent.
	expect(failures.filter(([, { mayHaveActed }]) => mayHaveActed)).toEqual([]);
});

test.each([
	['a status', statuses],
	['a status with Retry-After', withEach((code) => status(code, 1_000))],
	['something else', others],
])(
	'The consequences are those in the snapshot, and no job is created twice, if a request ends in %s',
	(_, failures) => {
		expect(linesOf(failures)).toMatchSnapshot();
		// No create is sent again if the service may have acted on it.
		const doubled = failures.filter(
			([, failure]) => mayResend(failure, false) && failure.mayHaveActed,
		);
		expect(doubled).toEqual([]);
	},
);

test('docs/retries.md names each status below 500 after which a request is sent again', () => {
	const section = /^## When a request is sent again$.*?^## /ms;
	const [text = ''] = section.exec(readFileSync('docs/retries.md', 'utf8')) ?? [];
	const resent = statuses.filter(([code, failure]) => code < '500' && mayResend(failure, true));
	expect(text.match(/\b4\d\d\b/g)).toEqual(expect.arrayContaining(resent.map(([code]) => code)));
});

const never = { failure: 0, wait: 0 };
/** The state of a create that was sent once. */
const once: CallState = {
	...{ isIdempotent: false, othersAreAnswered: false },
	...{ resends: never, waitedMs: 0, maxRetries: 3, patienceMs: 70_000, remainingMs: Infinity },
};
/** Returns that the call was sent again before, this often for this reason. */
const after = (reason: Resend['because'], times: number) => ({
	resends: { ...never, [reason]: times },
});
const list = { isIdempotent: true };
/** The request is throttled while others are answered. */
const alone = { othersAreAnswered: true };
const page = (code: number, retryAfterMs?: number) =>
	failureWith(consequenceOf({ status: code, mayBePage: true, retryAfterMs }));
const saysNo = failureWith({ ...consequenceOf({ status: 200 }), mayHaveActed: false });

type Fact = [what: string, does: number | 'fail', because: string, Failure, Partial<CallState>?];
test.each<Fact>([
	['a list is answered 502', 300, 'wait', status(502), list],
	['a list is answered 502 again', 5_000, 'wait', status(502), { ...list, ...after('wait', 5) }],
	['a list has waited for 70 s', 'fail', '', status(502), { ...list, waitedMs: 70_000 }],
	['a list is answered 500', 300, 'failure', status(500), list],
	['it is for the third time', 1_200, 'failure', status(500), { ...list, ...after('failure', 2) }],
	['it is for the fourth time', 'fail', '', status(500), { ...list, ...after('failure', 3) }],
	['a list is answered 500 with Retry-After 7', 7_000, 'failure', status(500, 7_000), list],
	['a connection of a list breaks', 300, 'failure', broken, list],
	['a tool with 300 ms left is throttled', 'fail', '', status(429), { remainingMs: 300 }],
	['a tool with 301 ms left is throttled', 300, 'wait', status(429), { remainingMs: 301 }],
	['a create is answered 503 with Retry-After 30', 30_000, 'wait', status(503, 30_000)],
	['a create is answered 503 with Retry-After 5 and a page', 'fail', '', page(503, 5_000)],
	['a list is answered 503 with Retry-After 5 and a page', 5_000, 'wait', page(503, 5_000), list],
	['a create is answered 429 with a page', 300, 'wait', page(429)],
	['a create is answered 429 again', 5_000, 'wait', status(429), after('wait', 5)],
	['a Retry-After is as long as the patience', 70_000, 'wait', status(429, 70_000)],
	['a Retry-After is longer than the patience', 'fail', '', status(429, 70_001)],
	['a create throttled alone has such a Retry-After', 71_000, 'wait', status(429, 71_000), alone],
	['it is throttled alone again', 4_800, 'wait', status(429), { ...alone, ...after('wait', 4) }],
	['it was for four minutes', 'fail', '', status(429), { ...alone, waitedMs: 240_000 }],
	['a create is refused', 'fail', '', status(403)],
	['a create gets a 200 that says that it was refused', 'fail', '', saysNo],
	['no connection is made', 300, 'wait', unreachable],
	['a login is refused', 'fail', '', failureWith({}), list],
	['n8n fails', 300, 'failure', failureWith({ condition: 'n8nFailed' })],
	['a request was sent again 43 times', 'fail', '', status(429), after('wait', 43)],
])('If %s, the policy returns this delay in milliseconds or fails the call: %p %s', (...fact) => {
	jest.spyOn(Math, 'random').mockReturnValue(0);
	const [, does, because, failure, call] = fact;
	const decision = next(failure, { ...once, ...call });
	const expected = does === 'fail' ? undefined : { because, afterMs: does };
	expect(decision).toEqual(expected);
	jest.restoreAllMocks();
});

const now = 'Sat, 21 Nov 2026 12:00:00 GMT';

test.each<[header: string | undefined, milliseconds: number | undefined, date?: string]>([
	[' 12 ', 12_000],
	['1.5', 1_500],
	['Sat, 21 Nov 2026 12:00:05 GMT', 5_000],
	['Saturday, 21-Nov-26 12:00:05 GMT', 5_000],
	['2026-11-21T12:00:05', 5_000],
	['Sat, 21 Nov 2026 11:59:00 GMT', 0],
	// A date is relative to the Date of the response, if that is valid.
	['Sat, 21 Nov 2026 12:05:05 GMT', 5_000, 'Sat, 21 Nov 2026 12:05:00 GMT'],
	['Sat, 21 Nov 2026 12:05:05 GMT', 305_000, 'not a date'],
	// The date as seconds or milliseconds since 1970, and waits of more than a year.
	[String(Date.parse(now) / 1_000 + 9), 9_000],
	[String(Date.parse(now) + 9_000), 9_000],
	['1771404540', 0],
	[String(365 * 86_400), 365 * 86_400_000],
	[String(365 * 86_400 + 1), undefined],
	['2553984000', undefined],
	['9'.repeat(20), undefined],
	['Sat, 21 Nov 2028 12:00:05 GMT', undefined],
	['-5', undefined],
	['1e3', undefined],
	['never 5', undefined],
	[undefined, undefined],
])('The Retry-After %p is read as %p ms', (...[header, milliseconds, date]) => {
	const headers = { 'retry-after': header, ...(date !== undefined && { date }) };
	expect(retryAfterIn(headers, Date.parse(now))).toBe(milliseconds);
});
