import { NodeApiError } from 'n8n-workflow';

import type { Failure } from '../../nodes/JobOrchestration/service/errors/failure';
import { failureFromError } from '../../nodes/JobOrchestration/service/errors/thrown';

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

const says = (message: string) => ({ message });

/** An error that is its own cause. */
const circular: { message: string; cause?: object } = says('round and round');
circular.cause = { message: 'between', cause: circular };

const baseUrl = 'https://jobs.example.com';
const request = { address: `GET ${baseUrl}/jobs`, baseUrl, timeoutMs: 5_000 };
const of = (
	title: string,
	condition: Failure['condition'] = 'noOutcome',
	said = /^Nothing was sent\. n8n says: ".+"\.$/,
): Partial<Failure> => ({
	...{ title, condition, httpStatus: null, mayHaveActed: condition === 'broken' },
	facts: [expect.stringMatching(said) as string],
});
const tls = of(`No secure connection to ${baseUrl} is possible`);
const broken = (said: string) =>
	of(
		'The connection broke before the answer was complete',
		'broken',
		new RegExp(`"${said}"\\. GET .+ was sent\\.$`),
	);

/** A failure, and the errors from which it must be recognized. */
type Read = [Partial<Failure>, ...errors: unknown[]];
test.each<Read>([
	[
		of(`The service at ${baseUrl} can't be reached`, 'unreachable'),
		...[refused, aroundIt(refused), inside(9, refused), new AggregateError([refused, refused])],
		...[systemError('ECONNREFUSED'), says('The service refused the connection')],
		...[systemError('ENOTFOUND'), says("incorrect host (domain) value 'x'")],
		{ message: 'odd', messages: [7, 'getaddrinfo ENOTFOUND jobs.example.com'] },
		...[systemError('EAI_AGAIN'), says('The DNS server returned an error')],
		...[systemError('ETIMEDOUT', '', 'connect'), systemError('ESERVFAIL', '', 'getaddrinfo')],
		says('connect EHOSTUNREACH 1.2.3.4:80'),
		says('Client network socket disconnected before secure TLS connection was established'),
	],
	[
		of(`The certificate of ${baseUrl} isn't trusted`),
		...['DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_HAS_EXPIRED'].map((code) => systemError(code)),
		...['A self signed certificate: x', "A certificate's altnames: x"].map(says),
	],
	// For any reason of OpenSSL: the request was still waiting for the handshake.
	[tls, openSsl('wrong version number'), aroundIt(openSsl('a reason of a later release'))],
	[
		of(`n8n doesn't allow requests to ${baseUrl}`),
		...['Domain not allowed: x', 'The request was blocked because it is restricted'].map(says),
	],
	[
		of(
			"The proxy between n8n and the service can't be reached, or refuses the connection",
			'unreachable',
			/^Nothing was sent\.$/,
		),
		says('Proxy connection ended before receiving CONNECT response'),
	],
	[
		{ title: "The service didn't answer within 5 s", condition: 'timedOut', mayHaveActed: true },
		...['timeout of 60000ms exceeded', 'read ETIMEDOUT', 'The connection timed out, or'].map(says),
		systemError('ETIMEDOUT', 'read ETIMEDOUT', 'read'),
	],
	[
		{ title: 'The execution was cancelled', condition: 'noOutcome', mayHaveActed: true },
		...[{ code: 'ERR_CANCELED' }, says('canceled')],
	],
	// Anything else is a broken connection, after which no create is sent again.
	[broken('failed'), systemError('ECONNRESET')],
	[broken('read EHOSTUNREACH'), systemError('EHOSTUNREACH', '', 'read')],
	// An error while reading may follow the request: TLS 1.3 asks for a client certificate in this way.
	[broken('read EPROTO .*wrong version number.*'), openSsl('wrong version number', 'read')],
	[broken('80CC:.*'), systemError('ERR_SSL_WRONG_VERSION_NUMBER', '80CC:error:0A00045C:SSL:x:1:')],
	...[
		...['socket hang up', 'we connect EPIPE', 'no timeout of 5ms exceeded', 'it was canceled'],
		...['timeout of 5ms exceeded twice', 'timeout exceeded twice', 'canceled by its owner'],
	].map((text): Read => [broken(text), says(text)]),
	[broken(`${'x'.repeat(199)}…`), says('x'.repeat(300))],
	[broken('odd'), { response: { status: 500 }, message: 'odd' }, { code: 7, message: 'odd' }],
	[broken('unknown error'), { message: 7 }, inside(10, refused), undefined],
	[broken('thrown'), 'thrown'],
	[broken('between'), circular],
	// The failure of another node.
	[broken('EPIPE'), { context: { failure: { kind: 7 } }, code: 'EPIPE' }],
])(
	'The errors of all n8n releases are recognized as the right failure: %j',
	(failure, ...errors) => {
		for (const error of errors) {
			const found = failureFromError(error, undefined, request);
			expect(found).toMatchObject(failure);
		}
	},
);

test('The text of an unknown error is searched for secrets before it is cut', () => {
	for (const before of [75, 195]) {
		const error = new Error(`${'x'.repeat(before)} secret-token`);
		const redact = (text: string) => (text.includes('secret-token') ? 'withheld' : text);
		for (const sent of [request, undefined]) {
			const found = failureFromError(error, { redact }, sent);
			expect(JSON.stringify(found)).toContain('withheld');
			expect(JSON.stringify(found)).not.toContain('secret');
		}
	}
});
