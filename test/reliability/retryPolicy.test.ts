import type { Failure, RequestFailure } from '../../nodes/JobOrchestration/service/request/failure';
import {
	mayHaveActed,
	mayRetry,
	parseRetryAfter,
	retryDelay,
} from '../../nodes/JobOrchestration/service/request/retryPolicy';
import { statusFailure as status } from './statusFailure';

const login = (cause: RequestFailure): Failure => ({ kind: 'login', cause });
const redirect = (code: number): RequestFailure => ({
	kind: 'redirect',
	status: code,
	location: undefined,
});

/**
 * A failure, whether an idempotent request and a create are sent again, and whether the service may have acted: then a
 * create's job may exist.
 */
type Row = [name: string, failure: Failure, idempotent: boolean, create: boolean, acted: boolean];

const unreachable = { kind: 'unreachable', code: 'ECONNREFUSED' } as const;
const broken = { kind: 'broken', code: 'ECONNRESET' } as const;
const timeout = { kind: 'timeout' } as const;
const unexpected = {
	kind: 'unexpectedResponse',
	status: 200,
	received: 'nothing',
	expected: 'a job',
} as const;

const rows: Row[] = [
	// Nothing was sent.
	['a bad Base URL', { kind: 'baseUrl', problem: 'empty' }, false, false, false],
	['an address that n8n blocks', { kind: 'blocked', reason: 'restricted' }, false, false, false],
	['an untrusted certificate', { kind: 'certificate', code: 'CERT' }, false, false, false],
	['a TLS handshake that failed', { kind: 'tls', code: 'EPROTO' }, false, false, false],
	['another address', { kind: 'foreignAddress', address: 'elsewhere' }, false, false, false],
	["a workflow's proxy", { kind: 'proxy' }, false, false, false],
	['a store of credentials that hangs', { kind: 'n8nTimeout', after: 1 }, false, false, false],
	['a cancel before sending', { kind: 'cancelled', sent: false }, false, false, false],
	['no connection', unreachable, true, true, false],
	['a failure of n8n', { kind: 'n8nFailed', reason: 'busy' }, true, true, false],

	// It was sent, and nobody knows what came of it.
	['a time-out', timeout, true, false, true],
	['a broken connection', broken, true, false, true],
	['an abort after sending', { kind: 'cancelled', sent: true }, false, false, true],
	['an odd answer', unexpected, false, false, true],
	['an answer without a status', { ...unexpected, status: null }, false, false, true],
	['what nobody knows', { kind: 'new' } as unknown as Failure, false, false, true],

	// It was answered.
	['a list without end', { kind: 'endlessList', sign: '' }, false, false, false],
	...[300, 301, 302, 303, 304, 305, 399].map(
		(code): Row => [String(code), redirect(code), false, false, true],
	),
	...[307, 308].map((code): Row => [String(code), redirect(code), false, false, false]),
	...[400, 401, 403, 404, 405, 409, 410, 413, 422, 451].map(
		(code): Row => [String(code), status(code), false, false, false],
	),
	['408', status(408), true, false, true],
	['429', status(429), true, true, false],
	['429 with a time to come back', status(429, 1_000), true, true, false],
	...[500, 502, 504].map((code): Row => [String(code), status(code), true, false, true]),
	['500 with a time to come back', status(500, 1_000), true, false, true],
	...[501, 505, 599].map((code): Row => [String(code), status(code), false, false, true]),
	['503', status(503), true, false, true],
	['503 with a time to come back', status(503, 0), true, true, false],
	...[100, 199, 452, 499, 600, 999].map(
		(code): Row => [String(code), status(code), false, false, true],
	),

	// Its login failed, so it was not sent, or answered with 401.
	['a log-in without connection', login(unreachable), true, true, false],
	['a log-in that timed out', login(timeout), false, false, false],
	['a log-in that broke', login(broken), true, true, false],
	['a log-in with 500', login(status(500)), true, true, false],
	['a log-in with 503', login(status(503)), true, true, false],
	['a log-in with 302', login(redirect(302)), false, false, false],
	['a log-in with 401', login(status(401)), false, false, false],
	['a log-in with 403', login(status(403)), false, false, false],
	['a log-in with an odd answer', login(unexpected), false, false, false],
	['a cancelled log-in', login({ kind: 'cancelled', sent: true }), false, false, false],
];

test.each(rows)('after %s', (_name, failure, idempotent, create, acted) => {
	expect({
		idempotent: mayRetry(failure, { idempotent: true }),
		create: mayRetry(failure, { idempotent: false }),
		acted: mayHaveActed(failure),
	}).toEqual({ idempotent, create, acted });
});

test('no create is sent again where the service may have acted', () => {
	const doubled = rows.filter(
		([, failure]) => mayRetry(failure, { idempotent: false }) && mayHaveActed(failure),
	);
	expect(doubled).toEqual([]);
});

test('waits double, and are spread over half of their length', () => {
	const waits = (random: number) =>
		[1, 2, 3, 4].map((failures) => retryDelay(timeout, failures, random));
	expect(waits(0)).toEqual([150, 300, 600, 1_200]);
	expect(waits(1)).toEqual([300, 600, 1_200, 2_400]);
	const [first = NaN] = Array.from({ length: 20 }, () => retryDelay(timeout, 1));
	expect(first).toBeGreaterThanOrEqual(150);
	expect(first).toBeLessThanOrEqual(300);
});

test('a wait is a whole number of milliseconds, and no longer than half a minute', () => {
	expect(retryDelay(timeout, 1, 0.123)).toBe(168);
	expect(retryDelay(timeout, 60, 1)).toBe(30_000);
	expect(retryDelay(status(503, 3_600_000), 1)).toBe(30_000);
});

test('a wait is as long as the service asks for, also where it turns a log-in away', () => {
	expect(retryDelay(status(503, 7_000), 3)).toBe(7_000);
	expect(retryDelay(status(429, 0), 1)).toBe(0);
	expect(retryDelay(login(status(503, 2_000)), 1)).toBe(2_000);
	expect(retryDelay(login(timeout), 1, 1)).toBe(300);
});

describe('Retry-After', () => {
	const now = Date.parse('Sat, 21 Nov 2026 12:00:00 GMT');

	test.each([
		['0', 0],
		['3', 3_000],
		[' 12 ', 12_000],
		['Sat, 21 Nov 2026 12:00:05 GMT', 5_000],
		['Sat, 21 Nov 2026 11:59:00 GMT', 0],
		['', undefined],
		['  ', undefined],
		['soon', undefined],
		['-5', undefined],
		['1.5', 1_500],
		['1.', undefined],
		['.5', undefined],
		['1e3', undefined],
		['2026-11-22', undefined],
		['2026-11-21T12:00:05Z', 5_000],
		['Saturday, 21-Nov-26 12:00:05 GMT', 5_000],
		['21 Nov 2026 12:00:05 GMT', 5_000],
		['Sunset 5', undefined],
		['in 5', undefined],
		['never 5', undefined],
		['7 8', undefined],
		[5, undefined],
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
