import { readFileSync } from 'node:fs';

import type { Failure } from '../../nodes/JobOrchestration/service/errors/kinds';
import { meaningOf } from '../../nodes/JobOrchestration/service/errors/kinds';
import { parseRetryAfter } from '../../nodes/JobOrchestration/service/errors/fromResponse';
import type { CallState } from '../../nodes/JobOrchestration/service/retry/facts';
import { mayResend, next } from '../../nodes/JobOrchestration/service/retry/policy';
import { broken, statusFailure as status, unreachable } from './statusFailure';

/*
 * The retry policy never sends a create again that may have created a job, for any status and any other failure. Each
 * line of the snapshot says what follows from a failure.
 */

type Named = [name: string, failure: Failure];

/** Returns a failure for each status from 100 to 999. */
const withEach = (failureOf: (code: number) => Failure) =>
	Array.from({ length: 900 }, (_, n): Named => [String(100 + n), failureOf(100 + n)]);

const statuses = withEach((code) => status(code));
const redirects = withEach((code) => ({ kind: 'redirect', status: code, location: '/x' }));
const others: Named[] = [
	[
		'a bad Base URL',
		{ kind: 'credentialField', field: 'Base URL', problem: 'is empty', advice: '' },
	],
	['a blocked address', { kind: 'blocked', reason: 'restricted' }],
	['a certificate', { kind: 'certificate', code: 'CERT' }],
	['a TLS handshake', { kind: 'tls', code: 'EPROTO' }],
	['another address', { kind: 'foreignAddress', address: 'x' }],
	['a cancel before it is sent', { kind: 'cancelled', sent: false }],
	['a cancel after it was sent', { kind: 'cancelled', sent: true }],
	['no connection', unreachable],
	['a failure of n8n', { kind: 'n8nFailed', reason: 'busy' }],
	['a time-out', { kind: 'timeout' }],
	['a broken connection', broken],
	[
		'an odd answer',
		{
			...{ kind: 'unexpectedResponse', status: 200, expected: 'a job' },
			...{ what: 'nothing', received: 'nothing' },
		},
	],
	['a list without end', { kind: 'endlessList' }],
];

/** Returns all consequences of a failure as a text. */
function consequencesOf(failure: Failure): string {
	const { mayHaveActed, condition, token, retryAfterMs } = meaningOf(failure);
	const resent = [false, true].map((idempotent) => mayResend(meaningOf(failure), idempotent));
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

const title =
	'The consequences are those in the snapshot, and no job is created twice, if %s ends in';
describe.each(['a request', 'a login'])(title, (what) => {
	test.each([
		['a status', statuses],
		['a status with Retry-After', withEach((code) => status(code, 1_000))],
		['a redirect', redirects.slice(200, 300)],
		['something else', others],
	])('%s', (_, rows) => {
		const failures = rows.map(
			([name, failure]): Named => [
				name,
				what === 'a login' ? { ...failure, ofLogin: true } : failure,
			],
		);
		expect(linesOf(failures)).toMatchSnapshot();
		// No create is sent again if the service may have acted on it.
		const doubled = failures.filter(
			([, failure]) => mayResend(meaningOf(failure), false) && meaningOf(failure).mayHaveActed,
		);
		expect(doubled).toEqual([]);
	});
});

test('docs/retries.md names each status below 500 after which a request is sent again', () => {
	const section = /^## When a request is sent again$.*?^## /ms;
	const [text = ''] = section.exec(readFileSync('docs/retries.md', 'utf8')) ?? [];
	const resent = statuses.filter(
		([code, failure]) => code < '500' && mayResend(meaningOf(failure), true),
	);
	expect(text.match(/\b4\d\d\b/g)).toEqual(expect.arrayContaining(resent.map(([code]) => code)));
});

/** The state of a create that was sent once. */
const once: CallState = {
	...{ attempts: 1, retries: 0, waits: 0, tokenRejections: 0, notFounds: 0, waitedMs: 0 },
	...{ isIdempotent: false, isHealthCheck: false, othersAreAnswered: false },
	...{ maxRetries: 3, patienceMs: 70_000, wasAnswered: true, tokenAgeMs: Infinity, random: 0 },
	remainingMs: Infinity,
};
const list = { isIdempotent: true };
/** The result of a health check: the service accepts the token, or rejects it. */
const byCall = { cause: 'call' } as const;
const byToken = { cause: 'token' } as const;
/** The request is throttled while others are answered. */
const alone = { othersAreAnswered: true };
/** The service has rejected a new token, but accepts it in a health check: perhaps the token becomes valid later. */
const young = { ...byCall, tokenAgeMs: 9_000 };
const fourBefore = { tokenRejections: 4 };
const check = { isHealthCheck: true };
const page = (code: number, retryAfterMs?: number): Failure => ({
	...{ kind: 'status', status: code, mayBePage: true, retryAfterMs },
});
const json404: Failure = { kind: 'status', status: 404, bodyType: 'json' };
const text404: Failure = { kind: 'status', status: 404, bodyType: 'text' };

type Fact = [what: string, does: number | 'fail' | 'check health', Failure, Partial<CallState>?];
test.each<Fact>([
	['a create is answered 502', 'fail', status(502)],
	['a list is answered 502', 300, status(502), list],
	['a list is answered 502 for the third time', 1_200, status(502), { ...list, retries: 2 }],
	['a list is answered 502 for the fourth time', 'fail', status(502), { ...list, retries: 3 }],
	['a list is answered 500 with Retry-After 7', 7_000, status(500, 7_000), { ...list, ...byCall }],
	['a connection of a create breaks', 'fail', broken],
	['a connection of a list breaks', 300, broken, list],
	['a tool with 300 ms left is throttled', 'fail', status(429), { remainingMs: 300 }],
	['a tool with 301 ms left is throttled', 300, status(429), { remainingMs: 301 }],
	['a create is answered 503 with Retry-After 30', 30_000, status(503, 30_000)],
	['a create is answered 503 with Retry-After 5', 5_000, status(503, 5_000)],
	['a create is answered 503 with Retry-After 5 and a page', 'fail', page(503, 5_000)],
	['a list is answered 503 with Retry-After 5 and a page', 5_000, page(503, 5_000), list],
	['a create is answered 403 with Retry-After 5 and a page', 'fail', page(403, 5_000), byCall],
	['a create is answered 429 with a page', 300, page(429)],
	['a create is answered 429 for the sixth time', 5_000, status(429), { waits: 5 }],
	['a Retry-After is longer than the patience', 'fail', status(429, 71_000)],
	['a create throttled alone has such a Retry-After', 71_000, status(429, 71_000), alone],
	['a create is throttled alone for the fifth time', 4_800, status(429), { ...alone, waits: 4 }],
	[
		'a create was throttled alone for four minutes',
		'fail',
		status(429),
		{ ...alone, waitedMs: 240_000 },
	],
	['a create with an old token is answered 403', 'check health', status(403)],
	['the service accepts that token', 'fail', status(403), byCall],
	["the service doesn't accept it", 0, status(403), byToken],
	["the service doesn't accept the token of a create that got a 500", 'fail', status(500), byToken],
	["the service doesn't accept the token of such a list", 0, status(500), { ...list, ...byToken }],
	['a new token is rejected that the service accepts', 1_000, status(401), young],
	['a new token is rejected for the fifth time', 'fail', status(401), { ...young, ...fourBefore }],
	['an old token is rejected that the service accepts', 'fail', status(401), byCall],
	['a job is not found', 'fail', json404],
	["a 404 isn't JSON", 'check health', text404],
	['a service that has never answered sends such a 404', 'fail', text404, { wasAnswered: false }],
	['a health check gets such a 404, too', 300, { ...text404, cause: 'outage' }],
	[
		'a health check gets it from a service that has never answered',
		1_000,
		text404,
		{ cause: 'maybe outage' },
	],
	['no connection is made', 300, unreachable],
	['a health check in place of the create gets a 500', 0, status(500), { ...byCall, ...check }],
	['a login in place of it is refused', 'fail', { ...status(401), ofLogin: true }, check],
	['n8n fails', 300, { kind: 'n8nFailed', reason: 'busy' }],
	['a create was cancelled', 'fail', { kind: 'cancelled', sent: true }],
	['a request was sent the maximum number of times', 'fail', status(429), { attempts: 43 }],
])('If %s, the policy returns this delay in milliseconds or this action: %p', (...fact) => {
	const [, does, failure, call] = fact;
	const decide = () => next(meaningOf(failure), { ...once, ...call });
	const decision = decide();
	expect('afterMs' in decision ? decision.afterMs : decision.do).toBe(does);
	expect(decide()).toEqual(decision);
});

const now = Date.parse('Sat, 21 Nov 2026 12:00:00 GMT');

test.each([
	[' 12 ', 12_000],
	['1.5', 1_500],
	['Sat, 21 Nov 2026 12:00:05 GMT', 5_000],
	['Saturday, 21-Nov-26 12:00:05 GMT', 5_000],
	['Sat, 21 Nov 2026 11:59:00 GMT', 0],
	['-5', undefined],
	['1e3', undefined],
	['never 5', undefined],
	[undefined, undefined],
])('The Retry-After %p is read as %p ms', (header, milliseconds) => {
	expect(parseRetryAfter({ 'retry-after': header }, now)).toBe(milliseconds);
});

test.each([
	['Sat, 21 Nov 2026 12:05:00 GMT', 5_000],
	['not a date', 305_000],
])(
	"A Retry-After with a date is relative to the response's Date, if that is valid: %s",
	(date, milliseconds) => {
		const headers = { 'retry-after': 'Sat, 21 Nov 2026 12:05:05 GMT', date };
		expect(parseRetryAfter(headers, now)).toBe(milliseconds);
	},
);
