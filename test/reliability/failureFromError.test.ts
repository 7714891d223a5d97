import { NodeApiError } from 'n8n-workflow';

import type { Failure } from '../../nodes/JobOrchestration/service/errors/failure';
import { failureFromError } from '../../nodes/JobOrchestration/service/errors/fromError';
import { ServiceError } from '../../nodes/JobOrchestration/service/errors/serviceError';

/*
 * What n8n's request helper throws differs between its releases. The engine tests see those of one; these are
 * the shapes of all.
 */

const node = {
	...{ id: '1', name: 'Node', type: 'n8n-nodes-base.httpRequest', typeVersion: 1 },
	...{ position: [0, 0] as [number, number], parameters: {} },
};
const aroundIt = (error: unknown) => new NodeApiError(node, error as never);

/** An error as Node.js or axios makes it. */
const systemError = (code: string, message = 'failed', syscall?: string) =>
	Object.assign(new Error(message), { code, syscall });

/** An error behind others. */
const inside = (depth: number, error: object): object =>
	depth === 0 ? error : { cause: inside(depth - 1, error) };

const refused = systemError('ECONNREFUSED', 'failed', 'connect');
const openSsl = (reason: string, call = 'write') =>
	systemError(
		'EPROTO',
		`${call} EPROTO 80CC:error:0A00010B:SSL routines:tls:${reason}:../x.c:1:\n`,
	);

const unreachable = (code: string, address = 'the service'): Failure => ({
	...{ kind: 'unreachable', code, address },
});
const tls = (reason: string): Failure => ({ kind: 'tls', code: `EPROTO, ${reason}` });
const certificate = (code: string): Failure => ({ kind: 'certificate', code });
const timeout: Failure = { kind: 'timeout' };
const cancelled: Failure = { kind: 'cancelled', sent: true };
const broken = (code: string): Failure => ({ kind: 'broken', code });

test.each<[name: string, error: unknown, failure: Failure]>([
	['a refusal', systemError('ECONNREFUSED'), unreachable('ECONNREFUSED')],
	['an unknown name', systemError('ENOTFOUND'), unreachable('ENOTFOUND')],
	['a look-up that fails', systemError('EAI_AGAIN'), unreachable('EAI_AGAIN')],
	['a slow connect', systemError('ETIMEDOUT', '', 'connect'), unreachable('ETIMEDOUT')],
	['another look-up', systemError('ESERVFAIL', '', 'getaddrinfo'), unreachable('ESERVFAIL')],
	['nine errors around it', inside(9, refused), unreachable('ECONNREFUSED')],
	['two addresses', new AggregateError([refused, refused]), unreachable('ECONNREFUSED')],
	[
		'a text',
		{ message: 'connect EHOSTUNREACH 1.2.3.4:80' },
		unreachable('EHOSTUNREACH', '1.2.3.4:80'),
	],
	[
		"n8n 1.x's texts",
		{ message: 'odd', messages: [7, 'getaddrinfo ENOTFOUND jobs.test'] },
		unreachable('ENOTFOUND', 'jobs.test'),
	],
	[
		"n8n 1.x's refusal",
		{ message: 'The service refused the connection' },
		unreachable('ECONNREFUSED'),
	],
	["n8n 1.x's look-up", { message: 'The DNS server returned an error' }, unreachable('EAI_AGAIN')],
	["n8n 1.x's host", { message: "incorrect host (domain) value 'x'" }, unreachable('ENOTFOUND')],
	[
		"n8n's error around it",
		aroundIt(systemError('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:80', 'connect')),
		unreachable('ECONNREFUSED', '127.0.0.1:80'),
	],
	...['DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_HAS_EXPIRED', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'].map(
		(code): [string, unknown, Failure] => [code, systemError(code), certificate(code)],
	),
	...['self signed certificate', 'unable to get issuer certificate', "certificate's altnames"].map(
		(text): [string, unknown, Failure] => [text, { message: `A ${text}: x` }, certificate(text)],
	),
	// Whatever OpenSSL says: the request still waited for the handshake.
	...[
		'wrong version number',
		'unsafe legacy renegotiation disabled',
		'dh key too small',
		'alert no application protocol',
		'a reason of a later release',
	].map((text): [string, unknown, Failure] => [text, openSsl(text), tls(text)]),
	['an alert', openSsl('sslv3 alert handshake failure'), tls('alert handshake failure')],
	['no reason', systemError('EPROTO', 'write EPROTO'), { kind: 'tls', code: 'EPROTO' }],
	["n8n's error around a handshake", aroundIt(openSsl('http request')), tls('http request')],
	[
		'an end in the handshake',
		{
			message: 'Client network socket disconnected before secure TLS connection was established',
			code: 'ECONNRESET',
		},
		unreachable('ECONNRESET'),
	],
	// What is read may come after the request: TLS 1.3 asks for a certificate so.
	...['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'ERR_SSL_WRONG_VERSION_NUMBER'].map(
		(code): [string, unknown, Failure] => [
			code,
			systemError(code, '80CC:error:0A00045C:SSL routines:x:tlsv13 alert:../x.c:1:'),
			broken(code),
		],
	),
	['nothing to be written', openSsl('wrong version number', 'read'), broken('EPROTO')],
	...['timeout of 60000ms exceeded', 'read ETIMEDOUT', 'The connection timed out, consider'].map(
		(message): [string, unknown, Failure] => [message, { message }, timeout],
	),
	['a slow read', systemError('ETIMEDOUT', 'read ETIMEDOUT', 'read'), timeout],
	['a cancel by its code', { code: 'ERR_CANCELED' }, cancelled],
	['a cancel by its text', { message: 'canceled' }, cancelled],
	// Anything else is a broken connection, after which no create is sent again.
	['a code', systemError('ECONNRESET'), broken('ECONNRESET')],
	['a read', systemError('EHOSTUNREACH', '', 'read'), broken('EHOSTUNREACH')],
	['a long text', { message: 'x'.repeat(200) }, broken('x'.repeat(80))],
	...[
		'socket hang up',
		'we connect EPIPE',
		'no timeout of 5ms exceeded',
		'timeout of 5ms exceeded twice',
		'no timeout exceeded',
		'timeout exceeded twice',
		'canceled by its owner',
		'it was canceled',
	].map((message): [string, unknown, Failure] => [message, { message }, broken(message)]),
	['another status', { response: { status: 500 }, message: 'odd' }, broken('odd')],
	['a status that is a text', { response: { status: '401' }, message: 'odd' }, broken('odd')],
	['another httpCode', { httpCode: '404', message: 'odd' }, broken('odd')],
	['a code that is no text', { code: 7, message: 'odd' }, broken('odd')],
	['a message that is no text', { message: 7 }, broken('unknown')],
	['a code that is too deep', inside(10, refused), broken('unknown')],
	['a text that was thrown', 'thrown', broken('unknown')],
	['undefined', undefined, broken('unknown')],
	["another node's failure", { context: { failure: { kind: 7 } }, code: 'EPIPE' }, broken('EPIPE')],
])('%s', (_, error, failure) => {
	expect(failureFromError(error)).toEqual(failure);
});

test("an error of this node's own is found behind whatever n8n puts around it", () => {
	const failure = { kind: 'timeout', ofLogin: true } as const;
	const own = new ServiceError(failure, { message: 'm', detail: 'd', advice: 'a' });
	expect(failureFromError(own)).toEqual(failure);
	expect(failureFromError(aroundIt(own))).toEqual(failure);
	expect(failureFromError(new Error('around', { cause: own }))).toEqual(failure);
	// A user can mend it: n8n doesn't report it as its own fault.
	expect(own.level).toBe('warning');
});

test('what n8n says if it could not send a request is searched for secrets before it is cut', () => {
	const error = new Error(`${'x'.repeat(195)} secret-token`);
	const redact = (text: string) => (text.includes('secret-token') ? 'withheld' : text);
	expect(failureFromError(error, { isUnsent: true, redact })).toEqual({
		kind: 'n8nFailed',
		reason: 'withheld',
	});
});

test('an error that is its own cause is read once', () => {
	const error: { message: string; cause?: object } = { message: 'round and round' };
	error.cause = { message: 'between', cause: error };
	expect(failureFromError(error)).toEqual(broken('round and round'));
});
