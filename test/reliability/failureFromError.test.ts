import { NodeApiError } from 'n8n-workflow';

import {
	failureBeforeSending,
	failureFromError,
} from '../../nodes/JobOrchestration/service/request/failure';
import { ServiceError } from '../../nodes/JobOrchestration/service/messages/serviceError';

/*
 * What n8n's request helper throws differs between its releases. The engine tests see those of one; these are
 * the shapes of all.
 */

const node = {
	id: '1',
	name: 'Node',
	type: 'n8n-nodes-base.httpRequest',
	typeVersion: 1,
	position: [0, 0] as [number, number],
	parameters: {},
};

/** An error as Node.js or axios makes it. */
const systemError = (fields: object, message = 'failed') =>
	Object.assign(new Error(message), fields);

/** An error behind so many others. */
const inside = (depth: number, error: object): object =>
	depth === 0 ? error : { cause: inside(depth - 1, error) };

const refused = { code: 'ECONNREFUSED', syscall: 'connect' };

describe('no connection', () => {
	test.each([
		['a code', systemError({ code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
		['a name that is not known', systemError({ code: 'ENOTFOUND' }), 'ENOTFOUND'],
		['a name that can not be looked up', systemError({ code: 'EAI_AGAIN' }), 'EAI_AGAIN'],
		[
			'a connect that timed out',
			systemError({ code: 'ETIMEDOUT', syscall: 'connect' }),
			'ETIMEDOUT',
		],
		[
			'a look-up that failed',
			systemError({ code: 'ESERVFAIL', syscall: 'getaddrinfo' }),
			'ESERVFAIL',
		],
		[
			'a cause',
			new Error('outside', {
				cause: new Error('between', { cause: systemError(refused) }),
			}),
			'ECONNREFUSED',
		],
		['nine errors around it', inside(9, refused), 'ECONNREFUSED'],
		[
			'two addresses of a name',
			new AggregateError([systemError(refused), systemError(refused)]),
			'ECONNREFUSED',
		],
		[
			'a text alone',
			{ message: 'connect ECONNREFUSED 127.0.0.1:80' },
			'ECONNREFUSED',
			'127.0.0.1:80',
		],
		[
			'a text of a look-up',
			{ message: 'getaddrinfo ENOTFOUND nowhere.example' },
			'ENOTFOUND',
			'nowhere.example',
		],
		['a text without an address', { message: 'connect ETIMEDOUT' }, 'ETIMEDOUT'],
		[
			'a code, with the text behind it',
			systemError(refused, 'connect ECONNREFUSED ::1:80 - Local (::1:0)'),
			'ECONNREFUSED',
			'::1:80',
		],
		[
			"n8n 1.x, which keeps the system's text among its messages",
			{ message: 'something', messages: [17, 'connect EHOSTUNREACH 10.0.0.1:80'] },
			'EHOSTUNREACH',
			'10.0.0.1:80',
		],
		[
			'n8n 1.x, in its words',
			{ message: 'The service refused the connection - perhaps it is offline' },
			'ECONNREFUSED',
		],
		[
			'n8n 1.x, in its words for a name',
			{ message: 'The DNS server returned an error, perhaps the server is offline' },
			'EAI_AGAIN',
		],
		[
			'n8n 1.x, in its words for a host',
			{ message: "incorrect host (domain) value 'x'" },
			'ENOTFOUND',
		],
		[
			"n8n's own error around it",
			new NodeApiError(node, systemError(refused, 'connect ECONNREFUSED 127.0.0.1:80') as never),
			'ECONNREFUSED',
			'127.0.0.1:80',
		],
	])('%s', (...[, error, code, address]) => {
		expect(failureFromError(error)).toEqual({ kind: 'unreachable', code, address });
	});
});

describe('an untrusted certificate', () => {
	test.each([
		['DEPTH_ZERO_SELF_SIGNED_CERT'],
		['SELF_SIGNED_CERT_IN_CHAIN'],
		['CERT_HAS_EXPIRED'],
		['UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
		['ERR_TLS_CERT_ALTNAME_INVALID'],
		['HOSTNAME_MISMATCH'],
	])('%s', (code) => {
		expect(failureFromError(systemError({ code }))).toEqual({ kind: 'certificate', code });
	});

	test.each([
		['self-signed certificate', 'self-signed certificate'],
		['self signed certificate in certificate chain', 'self signed certificate'],
		['unable to verify the first certificate', 'unable to verify the first certificate'],
		['unable to get local issuer certificate', 'unable to get local issuer certificate'],
		['unable to get issuer certificate', 'unable to get issuer certificate'],
		['certificate has expired', 'certificate has expired'],
		[
			"Hostname/IP does not match certificate's altnames: Host: x. is not in the cert's altnames",
			"certificate's altnames",
		],
	])('"%s"', (message, code) => {
		expect(failureFromError({ message })).toEqual({ kind: 'certificate', code });
	});
});

test.each([
	['timeout of 60000ms exceeded'],
	['timeout of 5 ms exceeded'],
	['timeout exceeded'],
	['read ETIMEDOUT'],
	['The connection timed out, consider setting the "Retry on Fail" option'],
])('a time-out: "%s"', (message) => {
	expect(failureFromError({ message })).toEqual({ kind: 'timeout' });
});

test.each([
	['ETIMEDOUT', 'timeout'],
	['EHOSTUNREACH', 'broken'],
])('%s while an answer is read is "%s"', (code, kind) => {
	const error = systemError({ code, syscall: 'read' }, `read ${code}`);
	expect(failureFromError(error).kind).toBe(kind);
});

test.each([[{ code: 'ERR_CANCELED' }], [{ message: 'canceled' }]])('a cancel: %j', (error) => {
	expect(failureFromError(error)).toEqual({ kind: 'cancelled', sent: true });
});

test.each([
	[{ response: { status: 401 } }],
	[{ httpCode: '401' }],
	[{ message: 'outside', cause: { httpCode: '401' } }],
])('a rejected token: %j', (error) => {
	expect(failureFromError(error)).toEqual({
		kind: 'status',
		status: 401,
		text: undefined,
		retryAfter: undefined,
	});
});

describe('a TLS handshake that failed', () => {
	const openSsl = (reason: string) =>
		`write EPROTO 80CC131769:error:0A00010B:SSL routines:tls_get_more_records:${reason}:../deps/x.c:1:\n`;

	test.each([
		['wrong version number'],
		['packet length too long'],
		['unsupported protocol'],
		['unknown protocol'],
		['ssl/tls alert handshake failure'],
		['tlsv1 alert protocol version'],
		['tlsv1 unrecognized name'],
		['no protocols available'],
		['no shared cipher'],
		['http request'],
	])('%s', (reason) => {
		const error = systemError({ code: 'EPROTO' }, openSsl(reason));
		const code = expect.stringMatching(/^EPROTO, [a-z ]+$/) as string;
		expect(failureFromError(error)).toEqual({ kind: 'tls', code });
		expect(failureFromError(new NodeApiError(node, error as never))).toEqual({ kind: 'tls', code });
		expect(failureFromError({ message: 'something', messages: [openSsl(reason)] }).kind).toBe(
			'tls',
		);
	});

	test.each([
		['an alert that comes after the request', openSsl('tlsv1 alert internal error')],
		['a record that was spoiled', openSsl('decryption failed or bad record mac')],
		['nothing that was to be written', openSsl('wrong version number').replace('write', 'read')],
	])('is not: %s', (_name, message) => {
		expect(failureFromError(systemError({ code: 'EPROTO' }, message)).kind).toBe('broken');
	});
});

describe('anything else is a broken connection, after which no create is sent again', () => {
	test.each([
		['a code', systemError({ code: 'ECONNRESET' }), 'ECONNRESET'],
		['a text', { message: 'socket hang up' }, 'socket hang up'],
		['a long text', { message: 'x'.repeat(200) }, 'x'.repeat(80)],
		['another status', { response: { status: 500 }, message: 'odd' }, 'odd'],
		['a status that is none', { response: { status: '401' }, message: 'odd' }, 'odd'],
		['another httpCode', { httpCode: '404', message: 'odd' }, 'odd'],
		['a code that is no text', { code: 7, message: 'odd' }, 'odd'],
		[
			'a text with a connection in its middle',
			{ message: 'we connect Everything' },
			'we connect Everything',
		],
		[
			'a time-out in the middle of a text',
			{ message: 'no timeout of 5ms exceeded here' },
			'no timeout of 5ms exceeded here',
		],
		[
			'a text that begins with a time-out',
			{ message: 'timeout of 5ms exceeded twice' },
			'timeout of 5ms exceeded twice',
		],
		[
			'a text that ends with a time-out',
			{ message: 'no timeout of 5ms exceeded' },
			'no timeout of 5ms exceeded',
		],
		[
			'a text that begins with another time-out',
			{ message: 'timeout exceeded twice' },
			'timeout exceeded twice',
		],
		[
			'a text that ends with another time-out',
			{ message: 'no timeout exceeded' },
			'no timeout exceeded',
		],
		[
			'a text that begins with a cancel',
			{ message: 'canceled by its owner' },
			'canceled by its owner',
		],
		['a text that ends with a connection', { message: 'we connect EPIPE' }, 'we connect EPIPE'],
		['a message that is no text', { message: 7 }, 'unknown'],
		['a code that lies too deep', inside(10, refused), 'unknown'],
		['a cancel in the middle of a text', { message: 'it was canceled' }, 'it was canceled'],
		['nothing at all', {}, 'unknown'],
		['a text that was thrown', 'thrown', 'unknown'],
		['undefined', undefined, 'unknown'],
	])('%s', (_name, error, code) => {
		expect(failureFromError(error)).toEqual({ kind: 'broken', code });
	});
});

test("an error of this node's own is found behind whatever n8n puts around it", () => {
	const failure = { kind: 'login', cause: { kind: 'timeout' } } as const;
	const own = new ServiceError(failure, { message: 'm', detail: 'd', advice: 'a' });
	expect(failureFromError(own)).toEqual(failure);
	expect(failureFromError(new NodeApiError(node, own as never))).toEqual(failure);
	expect(failureFromError(new Error('around', { cause: own }))).toEqual(failure);
	// What a user can mend is none of n8n's faults: n8n does not report it.
	expect(own.level).toBe('warning');
});

test('what n8n says when it could not send a request is cut after its secrets are struck out', () => {
	const error = new Error(`${'x'.repeat(195)} secret-token`);
	const redact = (text: string) => text.replace('secret-token', '***');
	expect(failureBeforeSending(error, redact)).toEqual({
		kind: 'n8nFailed',
		reason: `${'x'.repeat(195)} ***`,
	});
});

test('a context of another kind is none of its own', () => {
	expect(failureFromError({ context: { failure: 'broken' }, code: 'ECONNRESET' })).toEqual({
		kind: 'broken',
		code: 'ECONNRESET',
	});
	expect(failureFromError({ context: { failure: { kind: 7 } }, code: 'ECONNRESET' })).toMatchObject(
		{
			kind: 'broken',
		},
	);
});

test('an error that is its own cause is read once', () => {
	const error: { message: string; cause?: object } = { message: 'round and round' };
	error.cause = { message: 'between', cause: error };
	expect(failureFromError(error)).toEqual({ kind: 'broken', code: 'round and round' });
});
