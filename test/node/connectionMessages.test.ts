import { explain } from '../../nodes/JobOrchestration/service/errors/explain';

/*
 * Whom a message names that could not be reached: n8n's HTTP client says no more than an address, or nothing.
 */

const https = 'https://jobs.example.com';
const http = 'http://jobs.example.com';

test.each([
	[https, 'ECONNREFUSED', '10.0.0.1:443', `The service at ${https}`],
	[http, 'ECONNREFUSED', '10.0.0.1:80', `The service at ${http}`],
	[`${http}:8080`, 'ECONNREFUSED', '10.0.0.1:8080', `The service at ${http}:8080`],
	[http, 'ECONNREFUSED', '::1:80', `The service at ${http}`],
	[https, 'ECONNREFUSED', '10.0.0.1:80', 'The proxy at 10.0.0.1:80'],
	[http, 'ECONNREFUSED', '10.0.0.1:443', 'The proxy at 10.0.0.1:443'],
	[http, 'ECONNREFUSED', '10.0.0.80:3128', 'The proxy at 10.0.0.80:3128'],
	[http, 'ENOTFOUND', 'jobs.example.com', `The service at ${http}`],
	[`${http}:8080`, 'ENOTFOUND', 'jobs.example.com', `The service at ${http}:8080`],
	[http, 'ENOTFOUND', 'proxy.example.com', 'The proxy at proxy.example.com'],
	[http, 'ECONNREFUSED', undefined, `The service at ${http}`],
])('%s, %s at %s', (baseUrl, code, address, who) => {
	const failure = { kind: 'unreachable', code, ...(address && { address }) } as const;
	expect(explain(failure, { baseUrl }).message).toBe(`${who} can't be reached`);
});

test.each([
	['ENOTFOUND', 'jobs.example.com', 'The host jobs.example.com was not found (ENOTFOUND).'],
	['EAI_AGAIN', undefined, 'The host was not found (EAI_AGAIN).'],
	['ECONNREFUSED', '10.0.0.1:80', '10.0.0.1:80 refused the connection (ECONNREFUSED).'],
	['ECONNREFUSED', undefined, 'The host refused the connection (ECONNREFUSED).'],
	['EHOSTUNREACH', '10.0.0.1:80', 'No connection to 10.0.0.1:80 was possible (EHOSTUNREACH).'],
	['EHOSTUNREACH', undefined, 'No connection was possible (EHOSTUNREACH).'],
])('%s at %s is said so', (code, address, detail) => {
	const failure = { kind: 'unreachable', code, ...(address && { address }) } as const;
	expect(explain(failure, { baseUrl: http }).detail).toBe(detail);
});

test.each([
	[1, '1 ms'],
	[99, '99 ms'],
	[100, '0.1 s'],
	[1_250, '1.3 s'],
])('a time-out of %i ms is one of %s', (timeout, text) => {
	const { message } = explain({ kind: 'timeout' }, { timeout });
	expect(message).toBe(`The service didn't answer within ${text}`);
});

test('a time-out has nothing to add to its message and its advice', () => {
	expect(explain({ kind: 'timeout' }, { timeout: 60_000 })).toEqual({
		message: "The service didn't answer within 60 s",
		advice: "Try again later, or allow more time with the option 'Timeout'.",
	});
});
