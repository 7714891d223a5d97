import { readFileSync } from 'node:fs';

import type { Failure } from '../../nodes/JobOrchestration/service/errors/kinds';
import { meaningOf } from '../../nodes/JobOrchestration/service/errors/kinds';
import { parseRetryAfter } from '../../nodes/JobOrchestration/service/errors/fromResponse';
import type { CallState } from '../../nodes/JobOrchestration/service/retry/facts';
import { mayResend, next } from '../../nodes/JobOrchestration/service/retry/policy';
import { statusFailure as status } from './statusFailure';

/*
 * What follows from each status and each other failure: a line of the snapshot. What must always be so is here.
 */

type Named = [name: string, failure: Failure];

/** Failures with each status from 100 to 999. */
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
	['no connection', { kind: 'unreachable', code: 'ECONNREFUSED', address: 'a:1' }],
	['a failure of n8n', { kind: 'n8nFailed', reason: 'busy' }],
	['a time-out', { kind: 'timeout' }],
	['a broken connection', { kind: 'broken', code: 'ECONNRESET' }],
	[
		'an odd answer',
		{
			...{ kind: 'unexpectedResponse', status: 200, expected: 'a job' },
			...{ what: 'nothing', received: 'nothing' },
		},
	],
	['a list without end', { kind: 'endlessList' }],
];

/** All that follows from a failure, in words. */
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

/** The same of many, a line each; statuses in a row that end alike have one. */
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

describe.each(['a request', 'a login'])('What follows if %s ends in', (what) => {
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
		// No create is sent again if the service may have acted.
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

/** A create that was sent once. */
const once: CallState = {
	...{ attempts: 1, retries: 0, waits: 0, tokenRejections: 0, notFounds: 0, waitedMs: 0 },
	...{ isIdempotent: false, isOfNewJob: false, isHealthCheck: false, isAlone: false },
	...{ maxRetries: 3, patienceMs: 70_000, wasAnswered: true, tokenAgeMs: Infinity, random: 0 },
	remainingMs: Infinity,
};
const list = { isIdempotent: true };
const broken: Failure = { kind: 'broken', code: 'ECONNRESET' };
const unreachable: Failure = { kind: 'unreachable', code: 'ECONNREFUSED', address: 'a:1' };
const page = (code: number, retryAfterMs?: number): Failure => ({
	...{ kind: 'status', status: code, mayBePage: true, retryAfterMs },
});
const json404: Failure = { kind: 'status', status: 404, bodyType: 'json' };
const text404: Failure = { kind: 'status', status: 404, bodyType: 'text' };

test.each<[what: string, failure: Failure, call: Partial<CallState>, does: number | string]>([
	['a create is answered 502', status(502), {}, 'fail'],
	['a list is answered 502', status(502), list, 300],
	['a list is answered 502 for the third time', status(502), { ...list, retries: 2 }, 1_200],
	['a list is answered 502 for the fourth time', status(502), { ...list, retries: 3 }, 'fail'],
	[
		'a list is answered 500 with Retry-After 7',
		status(500, 7_000),
		{ ...list, cause: 'call' },
		7_000,
	],
	['a connection of a create breaks', broken, {}, 'fail'],
	['a connection of a list breaks', broken, list, 300],
	['a tool with 300 ms left is throttled', status(429), { remainingMs: 300 }, 'fail'],
	['a tool with 301 ms left is throttled', status(429), { remainingMs: 301 }, 300],
	['a create is answered 503 with Retry-After 30', status(503, 30_000), {}, 30_000],
	['a create is answered 503 with Retry-After 5', status(503, 5_000), {}, 5_000],
	['a create is answered 503 with Retry-After 5 and a page', page(503, 5_000), {}, 'fail'],
	['a list is answered 503 with Retry-After 5 and a page', page(503, 5_000), list, 5_000],
	[
		'a create is answered 403 with Retry-After 5 and a page',
		page(403, 5_000),
		{ cause: 'call' },
		'fail',
	],
	['a create is answered 429 with a page', page(429), {}, 300],
	['a create is answered 429 for the sixth time', status(429), { waits: 5 }, 5_000],
	['a Retry-After is longer than the patience', status(429, 71_000), {}, 'fail'],
	['the same while others are answered', status(429, 71_000), { isAlone: true }, 71_000],
	[
		'a create is throttled for the fifth time while others are answered',
		status(429),
		{ isAlone: true, waits: 4 },
		4_800,
	],
	[
		'a create has waited four minutes by itself',
		status(429),
		{ isAlone: true, waitedMs: 240_000 },
		'fail',
	],
	['a create with an old token is answered 403', status(403), {}, 'check health'],
	['the service accepts that token', status(403), { cause: 'call' }, 'fail'],
	["the service doesn't accept it", status(403), { cause: 'token' }, 0],
	[
		"the service doesn't accept the token of a create that was answered 500",
		status(500),
		{ cause: 'token' },
		'fail',
	],
	[
		"the service doesn't accept the token of a list that was answered 500",
		status(500),
		{ ...list, cause: 'token' },
		0,
	],
	[
		'a new token is rejected that the service accepts',
		status(401),
		{ cause: 'call', tokenAgeMs: 9_000 },
		1_000,
	],
	[
		'a new token is rejected for the fifth time',
		status(401),
		{ cause: 'call', tokenAgeMs: 9_000, tokenRejections: 4 },
		'fail',
	],
	['an old token is rejected that the service accepts', status(401), { cause: 'call' }, 'fail'],
	['a job is not found', json404, {}, 'fail'],
	['a job is not found that was just created', json404, { ...list, isOfNewJob: true }, 500],
	[
		'it is not found for the fifth time',
		json404,
		{ ...list, isOfNewJob: true, notFounds: 4 },
		'fail',
	],
	['a 404 comes that is no JSON', text404, {}, 'check health'],
	['such a 404 comes at first contact', text404, { wasAnswered: false }, 'fail'],
	['a health check gets such a 404, too', { ...text404, cause: 'outage' }, {}, 300],
	[
		'a health check gets one, but never got another answer',
		text404,
		{ cause: 'maybe outage' },
		1_000,
	],
	['no connection is made', unreachable, {}, 300],
	[
		'a health check in place of the create gets a 500',
		status(500),
		{ cause: 'call', isHealthCheck: true },
		0,
	],
	[
		'a login in place of it is refused',
		{ ...status(401), ofLogin: true },
		{ isHealthCheck: true },
		'fail',
	],
	['n8n fails', { kind: 'n8nFailed', reason: 'busy' }, {}, 300],
	['a create was cancelled', { kind: 'cancelled', sent: true }, {}, 'fail'],
	['it was sent as often as it may be', status(429), { attempts: 43 }, 'fail'],
])('what happens if %s', (_, failure, call, does) => {
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
])('the Retry-After %p is %p ms', (header, milliseconds) => {
	expect(parseRetryAfter({ 'retry-after': header }, now)).toBe(milliseconds);
});

test.each([
	['Sat, 21 Nov 2026 12:05:00 GMT', 5_000],
	['not a date', 305_000],
])("a Retry-After with a date counts from the answer's own date %s", (date, milliseconds) => {
	const headers = { 'retry-after': 'Sat, 21 Nov 2026 12:05:05 GMT', date };
	expect(parseRetryAfter(headers, now)).toBe(milliseconds);
});
