import { NodeApiError } from 'n8n-workflow';

import type { Failure } from '../../nodes/JobOrchestration/service/errors/kinds';
import { failureFromError } from '../../nodes/JobOrchestration/service/errors/fromThrown';
import { ServiceError } from '../../nodes/JobOrchestration/service/errors/problem';

/*
 * The node recognizes the failure in every error that n8n's request helper throws. The errors differ between releases
 * of n8n; this file has the shapes of all releases, whereas the tests with the engine only see those of one.
 */

const node = {
	...{ id: '1', name: 'Node', type: 'n8n-nodes-base.httpRequest', typeVersion: 1 },
	...{ position: [0, 0] as [number, number], parameters: {} },
};
const aroundIt = (error: unknown) => new NodeApiError(node, error as never);

/** Returns an error like those of Node.js and axios. */
const systemError = (code: string, message = 'failed', syscall?: string) =>
	Object.assign(new Error(message), { code, syscall });

/** Returns an error that is the cause of another one, `depth` levels deep. */
const inside = (depth: number, error: object): object =>
	depth === 0 ? error : { cause: inside(depth - 1, error) };

const refused = systemError('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:80', 'connect');
const openSsl = (reason: string, call = 'write') =>
	systemError(
		'EPROTO',
		`${call} EPROTO 80CC:error:0A00010B:SSL routines:tls:${reason}:../x.c:1:\n`,
	);

const unreachable = (code: string, address = 'the service'): Failure => ({
	...{ kind: 'unreachable', code, address },
});
const broken = (code: string): Failure => ({ kind: 'broken', code });
const tls = (reason: string): Failure => ({ kind: 'tls', code: `EPROTO, ${reason}` });
const says = (message: string) => ({ message });

/** A failure, and the errors from which it must be recognized. */
type Read = [Failure, ...errors: unknown[]];
test.each<Read>([
	[
		unreachable('ECONNREFUSED', '127.0.0.1:80'),
		...[refused, aroundIt(refused), inside(9, refused), new AggregateError([refused, refused])],
	],
	[
		unreachable('ECONNREFUSED'),
		...[systemError('ECONNREFUSED'), says('The service refused the connection')],
	],
	[unreachable('ENOTFOUND'), systemError('ENOTFOUND'), says("incorrect host (domain) value 'x'")],
	[
		unreachable('ENOTFOUND', 'jobs.test'),
		{ message: 'odd', messages: [7, 'getaddrinfo ENOTFOUND jobs.test'] },
	],
	[unreachable('EAI_AGAIN'), systemError('EAI_AGAIN'), says('The DNS server returned an error')],
	[unreachable('ETIMEDOUT'), systemError('ETIMEDOUT', '', 'connect')],
	[unreachable('ESERVFAIL'), systemError('ESERVFAIL', '', 'getaddrinfo')],
	[unreachable('EHOSTUNREACH', '1.2.3.4:80'), says('connect EHOSTUNREACH 1.2.3.4:80')],
	[
		unreachable('ECONNRESET'),
		says('Client network socket disconnected before secure TLS connection was established'),
	],
	...['DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_HAS_EXPIRED', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'].map(
		(code): Read => [{ kind: 'certificate', code }, systemError(code)],
	),
	...['self signed certificate', 'unable to get issuer certificate', "certificate's altnames"].map(
		(code): Read => [{ kind: 'certificate', code }, says(`A ${code}: x`)],
	),
	// For any reason of OpenSSL: the request was still waiting for the handshake.
	...['wrong version number', 'dh key too small', 'a reason of a later release'].map(
		(text): Read => [tls(text), openSsl(text), aroundIt(openSsl(text))],
	),
	[tls('alert handshake failure'), openSsl('sslv3 alert handshake failure')],
	[{ kind: 'tls', code: 'EPROTO' }, systemError('EPROTO', 'write EPROTO')],
	[
		{ kind: 'timeout' },
		...['timeout of 60000ms exceeded', 'read ETIMEDOUT', 'The connection timed out, or'].map(says),
		systemError('ETIMEDOUT', 'read ETIMEDOUT', 'read'),
	],
	[{ kind: 'cancelled', sent: true }, { code: 'ERR_CANCELED' }, says('canceled')],
	// Anything else is a broken connection, after which no create is sent again.
	[broken('ECONNRESET'), systemError('ECONNRESET')],
	[broken('EHOSTUNREACH'), systemError('EHOSTUNREACH', '', 'read')],
	// An error while reading may follow the request: TLS 1.3 asks for a client certificate in this way.
	[broken('EPROTO'), openSsl('wrong version number', 'read')],
	...['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'ERR_SSL_WRONG_VERSION_NUMBER'].map(
		(code): Read => [
			broken(code),
			systemError(code, '80CC:error:0A00045C:SSL routines:x:tlsv13 alert:../x.c:1:'),
		],
	),
	...[
		...['socket hang up', 'we connect EPIPE', 'no timeout of 5ms exceeded', 'it was canceled'],
		...['timeout of 5ms exceeded twice', 'timeout exceeded twice', 'canceled by its owner'],
	].map((text): Read => [broken(text), says(text)]),
	[broken('x'.repeat(80)), says('x'.repeat(200))],
	[
		broken('odd'),
		{ response: { status: 500 }, message: 'odd' },
		{ response: { status: '401' }, message: 'odd' },
		{ httpCode: '404', message: 'odd' },
		{ code: 7, message: 'odd' },
	],
	[broken('unknown'), { message: 7 }, inside(10, refused), 'thrown', undefined],
	// The failure of another node.
	[broken('EPIPE'), { context: { failure: { kind: 7 } }, code: 'EPIPE' }],
])(
	'The errors of all n8n releases are recognized as the right failure: %j',
	(failure, ...errors) => {
		for (const error of errors) expect(failureFromError(error)).toEqual(failure);
	},
);

test('An error of this node is found inside any error that n8n wraps around it', () => {
	const failure = { kind: 'timeout', ofLogin: true } as const;
	const own = new ServiceError(failure, { message: 'm', detail: 'd', advice: 'a' });
	expect(failureFromError(own)).toEqual(failure);
	expect(failureFromError(aroundIt(own))).toEqual(failure);
	expect(failureFromError(new Error('around', { cause: own }))).toEqual(failure);
	// The user can fix the cause, so n8n must not report it as a fault of n8n.
	expect(own.level).toBe('warning');
});

test.each([
	['could not be sent', true, { kind: 'n8nFailed', reason: 'withheld' }],
	['was sent', false, broken('withheld')],
])(
	'The text of an unknown error is searched for secrets if the request %s',
	(_, isUnsent, found) => {
		// The secret crosses the points where the text is cut.
		for (const before of [75, 195]) {
			const error = new Error(`${'x'.repeat(before)} secret-token`);
			const redact = (text: string) => (text.includes('secret-token') ? 'withheld' : text);
			expect(failureFromError(error, { isUnsent, secrets: { redact } })).toEqual(found);
		}
	},
);

test('An error that is its own cause does not cause an endless loop', () => {
	const error: { message: string; cause?: object } = { message: 'round and round' };
	error.cause = { message: 'between', cause: error };
	expect(failureFromError(error)).toEqual(broken('round and round'));
});
