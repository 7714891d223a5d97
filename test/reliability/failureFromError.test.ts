import { NodeApiError } from 'n8n-workflow';

import type { Failure } from '../../nodes/JobOrchestration/service/errors/kinds';
import { failureFromError } from '../../nodes/JobOrchestration/service/errors/fromThrown';
import { ServiceError } from '../../nodes/JobOrchestration/service/errors/problem';

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

/** A failure, and the errors that are read as such. */
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
	// Whatever OpenSSL says: the request still waited for the handshake.
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
	// What is read may come after the request: TLS 1.3 asks for a certificate so.
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
	// Another node's failure.
	[broken('EPIPE'), { context: { failure: { kind: 7 } }, code: 'EPIPE' }],
])(
	"The errors of n8n's releases are read as the failure that they are: %j",
	(failure, ...errors) => {
		for (const error of errors) expect(failureFromError(error)).toEqual(failure);
	},
);

test("An error of this node's own is found behind whatever n8n puts around it", () => {
	const failure = { kind: 'timeout', ofLogin: true } as const;
	const own = new ServiceError(failure, { message: 'm', detail: 'd', advice: 'a' });
	expect(failureFromError(own)).toEqual(failure);
	expect(failureFromError(aroundIt(own))).toEqual(failure);
	expect(failureFromError(new Error('around', { cause: own }))).toEqual(failure);
	// A user can mend it: n8n doesn't report it as its own fault.
	expect(own.level).toBe('warning');
});

test.each([
	['could not be sent', true, { kind: 'n8nFailed', reason: 'withheld' }],
	['was sent', false, broken('withheld')],
])(
	'The text of an unknown error is searched for secrets if the request %s',
	(_, isUnsent, found) => {
		// The secret lies across the limits of what is shown.
		for (const before of [75, 195]) {
			const error = new Error(`${'x'.repeat(before)} secret-token`);
			const redact = (text: string) => (text.includes('secret-token') ? 'withheld' : text);
			expect(failureFromError(error, { isUnsent, redact })).toEqual(found);
		}
	},
);

test('An error that is its own cause is read once', () => {
	const error: { message: string; cause?: object } = { message: 'round and round' };
	error.cause = { message: 'between', cause: error };
	expect(failureFromError(error)).toEqual(broken('round and round'));
});
