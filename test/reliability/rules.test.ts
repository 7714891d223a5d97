import { readFileSync } from 'node:fs';

import type { Failure } from '../../nodes/JobOrchestration/service/errors/failure';
import { mayRetry, meaningOf } from '../../nodes/JobOrchestration/service/errors/failure';
import { parseRetryAfter } from '../../nodes/JobOrchestration/service/errors/response';
import { AccountLimiter } from '../../nodes/JobOrchestration/service/pace/limiter';
import { LimitedRequest } from '../../nodes/JobOrchestration/service/pace/requests';
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
	['a bad Base URL', { kind: 'baseUrl', problem: 'is empty' }],
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
	const resent = [false, true].map((idempotent) => mayRetry(failure, { idempotent }));
	return [
		resent[0] ? 'resent' : resent[1] ? 'resent unless a create' : 'not resent',
		mayHaveActed ? 'may have acted' : 'has not acted',
		...[condition, token ?? []].flat(),
		...(retryAfterMs === undefined ? [] : ['all wait']),
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
			([, failure]) => mayRetry(failure, { idempotent: false }) && meaningOf(failure).mayHaveActed,
		);
		expect(doubled).toEqual([]);
	});
});

test('docs/retries.md names each status below 500 after which a request is sent again', () => {
	const ownRetries = /^- \*\*The node's own retries\*\*.*$/m;
	const [text = ''] = ownRetries.exec(readFileSync('docs/retries.md', 'utf8')) ?? [];
	const resent = statuses.filter(
		([code, failure]) => code < '500' && mayRetry(failure, { idempotent: true }),
	);
	expect(text.match(/\b4\d\d\b/g)).toEqual(expect.arrayContaining(resent.map(([code]) => code)));
});

test('a request that is resent waits as long as the service asks for', () => {
	const options = { maxRetries: 1, timeout: 1_000 };
	const newRequest = () => new LimitedRequest(new AccountLimiter().begin(), options, false);
	expect(newRequest().sleepAfter(status(500, 7_000), 0, 0)).toBe(7_000);
	expect(newRequest().sleepAfter({ kind: 'timeout' }, 0, 0)).toBeLessThanOrEqual(300);
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
