import fc from 'fast-check';
import type { INodeParameters, OnError } from 'n8n-workflow';

import type { Fault, OperationId } from '../../sandbox';
import { answer } from '../support/answer';
import { getAll, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import { oneOfEachCall } from '../support/operations';
import { anyText, onErrors } from './seed';

/*
 * After any answer to any call, the node returns items, or an n8n error with a message and a description.
 */

const fixture = useSandbox();
// All requests are of one account. After an unclear answer, its creates wait for each other.
beforeEach(() => void hurry());

/** Keys that the node looks for, so that random answers resemble valid ones. */
const key = fc.constantFrom(
	'',
	...'metadata uid namespace displayName items continue access_token'.split(' '),
	...'message error errors msg detail data body'.split(' '),
	...'toString toJSON valueOf then length constructor __proto__'.split(' '),
);
const scalars = [
	...[fc.constant(null), fc.boolean(), fc.double({ noNaN: true, noDefaultInfinity: true })],
	anyText(12),
	fc.constantFrom('', ' ', '=1+1', '{{ $json }}', 'ECONNREFUSED', 'EPERM in experiment'),
];
const values = fc.anything({ key, values: scalars, maxDepth: 3, maxKeys: 4 });

/** Headers and possible values, some of which are invalid. */
const oddHeaders: Record<string, string[]> = {
	'content-type': [
		...['application/json', 'application/json; charset=utf-8', 'application/problem+json'],
		...['application/octet-stream', 'text/html', 'text/plain; charset=utf-16le'],
		...['text/event-stream', 'multipart/form-data', 'image/png', 'nonsense'],
	],
	'content-encoding': ['gzip', 'br', 'identity', 'nonsense'],
	'retry-after': ['0', '-1', 'soon', '9'.repeat(20), 'Thu, 01 Jan 1970 00:00:00 GMT', ''],
	location: ['/', '//', 'http://', 'mailto:a@b', '%', 'http://127.0.0.1:9/x?y#z', ''],
	'set-cookie': ['a=b'],
	'www-authenticate': ['Basic realm="x"'],
};

const anyAnswer = fc
	.record({
		status: fc.oneof(
			fc.constantFrom(200, 201, 204, 301, 304, 400, 401, 404, 409, 500, 503),
			fc.integer({ min: 200, max: 599 }),
		),
		headers: fc.record(
			Object.fromEntries(
				Object.entries(oddHeaders).map(([name, texts]) => [name, fc.constantFrom(...texts)]),
			),
			{ requiredKeys: [] },
		) as fc.Arbitrary<Record<string, string>>,
		body: fc.oneof(
			values.map((value) => JSON.stringify(value) ?? ''),
			anyText(60),
			fc.constantFrom(...['{', '[1,', '<html><title></title>', '<?xml?>']),
		),
	})
	// The node waits before it sends throttled requests again. limits.test.ts tests this.
	.filter(
		({ status, headers }) =>
			status !== 429 && !(status >= 400 && status !== 401 && 'retry-after' in headers),
	)
	.map(({ status, headers, body }) => answer(status, body, headers));

const options = { maxRetries: 0, timeout: 10_000, concurrency: 1 };

const text = expect.stringMatching(/\S/) as unknown;

test.each<[OperationId, ...INodeParameters[]]>([
	...oneOfEachCall.map(({ calls, parameters }): [OperationId, INodeParameters] => [
		calls,
		parameters({ options }),
	]),
	[
		'listClusters',
		getAll({ returnAll: true, options }),
		getAll({ options: { ...options, rawPage: true } }),
	],
	['login', getAll({ options })],
])(
	'After any answer to %s, the node returns items or an error with a description',
	async (operation, ...operations) => {
		const { engine, sandbox } = fixture;
		const chosen = fc.constantFrom(...operations);
		let users = 0;
		const expectAnEnd = async (
			...[parameters, first, next, onError]: [INodeParameters, Fault, Fault, OnError]
		) => {
			// Each login is for another user, because the node remembers an account for a while.
			if (operation === 'login') engine.editCredential({ userName: `user-${(users += 1)}` });
			sandbox.faults.plan((call) => {
				// A throttled login is sent again for a minute. limits.test.ts tests this.
				const isOver = operation === 'login' && call.nOfOperation > 2;
				if (call.operation !== operation || isOver) return undefined;
				return call.nOfOperation === 1 ? first : next;
			});
			const { error, items } = await engine.run({ parameters, onError });
			if (error !== undefined) {
				expect(onError).toBe('stopWorkflow');
				expect(['NodeApiError', 'NodeOperationError']).toContain(error.name);
				const context = expect.objectContaining({ itemIndex: 0 }) as unknown;
				expect(error).toMatchObject({ message: text, description: text, context });
				return;
			}
			const output = items.map(({ json }) => json);
			if (!output.some((json) => Object(json.error).itemIndex === 0)) return;
			expect(onError).not.toBe('stopWorkflow');
			expect(output).toMatchObject([{ message: text, error: { description: text } }]);
		};
		await fc.assert(
			fc.asyncProperty(chosen, anyAnswer, anyAnswer, fc.constantFrom(...onErrors), expectAnEnd),
		);
	},
	60_000,
);
