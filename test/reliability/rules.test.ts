import { readFileSync } from 'node:fs';

import type { Failure, FailureOf } from '../../nodes/JobOrchestration/service/errors/failure';
import { mayRetry, meaningOf } from '../../nodes/JobOrchestration/service/errors/failure';
import type { TokenDoubt } from '../../nodes/JobOrchestration/service/errors/meaning';
import { parseRetryAfter } from '../../nodes/JobOrchestration/service/errors/response';
import { statusFailure as status } from './statusFailure';

const login = (failure: Failure): Failure => ({ ...failure, ofLogin: true });
const redirect = (code: number): FailureOf<'redirect'> => ({
	kind: 'redirect',
	status: code,
	location: '/x',
});

const unreachable = { kind: 'unreachable', code: 'ECONNREFUSED', address: 'a:1' } as const;
const broken = { kind: 'broken', code: 'ECONNRESET' } as const;
const timeout = { kind: 'timeout' } as const;
const unexpected: Failure = {
	...{ kind: 'unexpectedResponse', status: 200, expected: 'a job' },
	...{ what: 'nothing', received: 'nothing' },
};

/**
 * Whether an idempotent request and a create are sent again after a failure, whether the service may have acted: then a
 * create's job may exist; and what the limiter makes of it.
 */
type Row = [name: string, Failure, idempotent: boolean, create: boolean, acted: boolean, string];
const each = (codes: number[], ...rest: [boolean, boolean, boolean, string]): Row[] =>
	codes.map((code) => [String(code), status(code), ...rest]);

const rows: Row[] = [
	// Nothing was sent.
	['a bad Base URL', { kind: 'baseUrl', problem: 'is empty' }, false, false, false, 'unknown'],
	['a blocked address', { kind: 'blocked', reason: 'restricted' }, false, false, false, 'unknown'],
	['a certificate', { kind: 'certificate', code: 'CERT' }, false, false, false, 'unknown'],
	['a TLS handshake', { kind: 'tls', code: 'EPROTO' }, false, false, false, 'unknown'],
	['another address', { kind: 'foreignAddress', address: 'x' }, false, false, false, 'unknown'],
	['a cancel before', { kind: 'cancelled', sent: false }, false, false, false, 'unknown'],
	['no connection', unreachable, true, true, false, 'unreachable'],
	['a failure of n8n', { kind: 'n8nFailed', reason: 'busy' }, true, true, false, 'unknown'],

	// It was sent, and nothing is known of it.
	['a time-out', timeout, true, false, true, 'timedOut'],
	['a broken connection', broken, true, false, true, 'broken'],
	['an abort after sending', { kind: 'cancelled', sent: true }, false, false, true, 'unknown'],
	['an odd answer', unexpected, false, false, true, 'answered'],

	// It was answered.
	['a list without end', { kind: 'endlessList' }, false, false, false, 'answered'],
	...[300, 301, 302, 303, 304, 305, 399].map(
		(code): Row => [String(code), redirect(code), false, false, true, 'failed'],
	),
	...[307, 308].map((code): Row => [String(code), redirect(code), false, false, false, 'answered']),
	...each([400, 401, 403, 404, 405, 407, 409, 410, 413, 419], false, false, false, 'answered'),
	...each([422, 440, 451, 498], false, false, false, 'answered'),
	...each([200], false, false, true, 'answered'),
	...each([408, 500, 506, 507, 511, 519], true, false, true, 'failed'),
	...each([502, 503, 504, 520, 524, 530, 599], true, false, true, 'unavailable'),
	...each([429], true, true, false, 'throttled'),
	...each([100, 199, 452, 499, 501, 505, 600, 999], false, false, true, 'failed'),

	// "Not now": the service has done nothing, and says when it would.
	...[400, 403, 404, 408, 409, 423, 425, 429, 451, 499, 503].map(
		(code): Row => [`${code}, Retry-After`, status(code, 0), true, true, false, 'throttled'],
	),
	['401, Retry-After', status(401, 1_000), false, false, false, 'answered'],
	...[500, 507].map(
		(code): Row => [`${code}, Retry-After`, status(code, 1_000), true, false, true, 'failed'],
	),
	['502, Retry-After', status(502, 1_000), true, false, true, 'unavailable'],

	// Its login failed, so it was not sent, or answered with 401.
	['a login without connection', login(unreachable), true, true, false, 'unreachable'],
	['a login that timed out', login(timeout), false, false, false, 'unknown'],
	['a login that broke', login(broken), true, true, false, 'loginFailed'],
	['a login with 408', login(status(408)), false, false, false, 'unknown'],
	['a login with 423', login(status(423)), false, false, false, 'unknown'],
	['a login with 423 and a Retry-After', login(status(423, 1)), true, true, false, 'throttled'],
	['a login with 500', login(status(500)), false, false, false, 'unknown'],
	['a login with 500 and a Retry-After', login(status(500, 1)), true, true, false, 'throttled'],
	['a login with 503', login(status(503)), true, true, false, 'unavailable'],
	['a login with 429', login(status(429)), true, true, false, 'throttled'],
	['a login with 302', login(redirect(302)), false, false, false, 'unknown'],
	['a login with 401', login(status(401)), false, false, false, 'unknown'],
	['a login with 401 and a Retry-After', login(status(401, 1)), false, false, false, 'unknown'],
	['a login with 403', login(status(403)), false, false, false, 'unknown'],
	['a login with an odd answer', login(unexpected), false, false, false, 'unknown'],
	['a cancelled login', login({ kind: 'cancelled', sent: true }), false, false, false, 'unknown'],
];

const consequencesOf = (failure: Failure) => ({
	idempotent: mayRetry(failure, { idempotent: true }),
	create: mayRetry(failure, { idempotent: false }),
	acted: meaningOf(failure).mayHaveActed,
	condition: meaningOf(failure).condition,
});

test.each(rows)('after %s', (_name, failure, idempotent, create, acted, condition) => {
	expect(consequencesOf(failure)).toEqual({ idempotent, create, acted, condition });
});

test('a status with a rule of its own is among the rows above', () => {
	const ofRange = (code: number) =>
		[
			[452, 400],
			[500, 452],
			[520, 500],
			[600, 520],
		].find(([end = 0]) => code < end)?.[1] ?? 600;
	const isNamed = (code: number) => rows.some(([name]) => name === String(code));
	const missing = Array.from({ length: 600 }, (_, n) => 400 + n).filter(
		(code) =>
			!isNamed(code) &&
			JSON.stringify(consequencesOf(status(code))) !==
				JSON.stringify(consequencesOf(status(ofRange(code)))),
	);
	expect(missing).toEqual([]);
});

test('docs/retries.md names each status below 500 after which a request is sent again', () => {
	const ownRetries = /^- \*\*The node's own retries\*\*.*$/m;
	const [text = ''] = ownRetries.exec(readFileSync('docs/retries.md', 'utf8')) ?? [];
	const resent = Array.from({ length: 100 }, (_, n) => 400 + n).filter((code) =>
		mayRetry(status(code), { idempotent: true }),
	);
	expect(text.match(/\b4\d\d\b/g)).toEqual(expect.arrayContaining(resent.map(String)));
});

test('no create is sent again if the service may have acted', () => {
	const doubled = rows.filter(
		([, failure]) => mayRetry(failure, { idempotent: false }) && meaningOf(failure).mayHaveActed,
	);
	expect(doubled).toEqual([]);
});

test.each<[TokenDoubt | undefined, Failure[]]>([
	['rejected', [401, 419, 440, 498].map((code) => status(code))],
	['doubtful', [400, 403, 406, 408, 413, 418, 451, 500, 501, 505].map((code) => status(code))],
	['doubtful', [...[301, 302, 303, 307].map(redirect), unexpected]],
	[undefined, [404, 405, 409, 410, 422, 429, 502, 503, 504, 520, 530].map((code) => status(code))],
	[undefined, [unreachable, broken, timeout, login(status(401)), login(redirect(302))]],
])('a token is %s after %j', (doubt, failures) => {
	expect(failures.map((failure) => meaningOf(failure).token)).toEqual(failures.map(() => doubt));
});

test('the limiter learns from a rejection alone how long the service asks to wait', () => {
	const failures = [status(423, 7_000), status(503, 7_000), login(status(500, 7_000))];
	expect(failures.map((failure) => meaningOf(failure).retryAfterMs)).toEqual([7_000, 7_000, 7_000]);
	expect(meaningOf(status(500, 7_000)).retryAfterMs).toBeUndefined();
});

describe('Retry-After', () => {
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
	])('%p is %p ms', (header, milliseconds) => {
		expect(parseRetryAfter({ 'retry-after': header }, now)).toBe(milliseconds);
	});

	test.each([
		['Sat, 21 Nov 2026 12:05:00 GMT', 5_000],
		['not a date', 305_000],
	])("as a date counts from the answer's own date: %s", (date, milliseconds) => {
		const headers = { 'retry-after': 'Sat, 21 Nov 2026 12:05:05 GMT', date };
		expect(parseRetryAfter(headers, now)).toBe(milliseconds);
	});

	test('as a date counts from the present if the answer has none', () => {
		const headers = { 'retry-after': new Date(Date.now() + 60_000).toUTCString() };
		expect(parseRetryAfter(headers)).toBeGreaterThan(57_000);
		expect(parseRetryAfter(headers)).toBeLessThanOrEqual(60_000);
	});
});
