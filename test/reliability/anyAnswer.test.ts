import fc from 'fast-check';
import type { INodeParameters, OnError } from 'n8n-workflow';

import { type OperationId, type Sandbox, startSandbox } from '../../sandbox';
import { answer } from '../support/answer';
import { credentialFor, getAll } from '../support/fixture';
import { hurry } from '../support/hurry';
import { oneOfEachCall } from '../support/operations';
import { Engine } from '../support/run';
import './seed';

/*
 * After any answer to any call, the node returns items, or an n8n error with a message and a description.
 */

const options = { maxRetries: 0, timeout: 10_000, concurrency: 1 };
const numRuns = 40;

/** Keys that the node looks for, so that random answers resemble valid ones. */
const key = fc.constantFrom(
	'',
	...'metadata uid namespace displayName items continue access_token'.split(' '),
	...'message error errors msg detail data body'.split(' '),
	...'toString toJSON valueOf then length constructor __proto__'.split(' '),
);
const scalars = [
	...[fc.constant(null), fc.boolean(), fc.double({ noNaN: true, noDefaultInfinity: true })],
	fc.string({ unit: 'binary', maxLength: 12 }),
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
			fc.string({ unit: 'binary', maxLength: 60 }),
			fc.constantFrom(...['{', '[1,', '<html><title></title>', '<?xml?>']),
		),
	})
	// The node waits before it sends throttled requests again. limits.test.ts tests this.
	.filter(
		({ status, headers }) =>
			status !== 429 && !(status >= 400 && status !== 401 && 'retry-after' in headers),
	)
	.map(({ status, headers, body }) => answer(status, body, headers));

const modes = fc.constantFrom<OnError>(
	...(['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const),
);

let engine: Engine;
let sandbox: Sandbox;

beforeAll(async () => {
	engine = await Engine.load();
	sandbox = await startSandbox();
	// All requests are of one account. After an unclear answer, its creates wait for each other.
	hurry();
});
afterAll(async () => {
	jest.restoreAllMocks();
	await sandbox.close();
});

/** Runs the node with one item. Checks that it returns items, or an error with a message and a description. */
async function expectAnEnd(parameters: INodeParameters, onError: OnError): Promise<void> {
	const { error, items } = await engine.run({ parameters, onError });
	const saysSomething = expect.stringMatching(/\S/) as unknown;
	if (error !== undefined) {
		expect(onError).toBe('stopWorkflow');
		expect(['NodeApiError', 'NodeOperationError']).toContain(error.name);
		const context = expect.objectContaining({ itemIndex: 0 }) as unknown;
		expect(error).toMatchObject({ message: saysSomething, description: saysSomething, context });
		return;
	}
	const output = items.map(({ json }) => json);
	if (!output.some((json) => Object(json.error).itemIndex === 0)) return;
	expect(onError).not.toBe('stopWorkflow');
	expect(output).toMatchObject([{ message: saysSomething, error: { description: saysSomething } }]);
}

const cases: Array<[OperationId, INodeParameters]> = [
	...oneOfEachCall.map(({ calls, parameters }): [OperationId, INodeParameters] => [
		calls,
		parameters({ options }),
	]),
	['listClusters', getAll({ returnAll: true, options })],
	['listClusters', getAll({ options: { ...options, rawPage: true } })],
	['login', getAll({ options })],
];

test.each(cases)(
	'After any answer to %s, the node returns items or an error with a description: %j',
	async (operation, parameters) => {
		let users = 0;
		await fc.assert(
			fc.asyncProperty(anyAnswer, anyAnswer, modes, async (first, next, onError) => {
				const credential = credentialFor(sandbox);
				// Each login is for another user, because the node remembers an account for a while.
				const userName = operation === 'login' ? `user-${(users += 1)}` : credential.userName;
				engine.saveCredential({ ...credential, userName });
				sandbox.faults.plan((call) => {
					if (call.operation !== operation) return undefined;
					return call.nOfOperation === 1 ? first : next;
				});
				await expectAnEnd(parameters, onError);
			}),
			{ numRuns },
		);
	},
	60_000,
);
