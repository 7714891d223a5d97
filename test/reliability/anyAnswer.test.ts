import fc from 'fast-check';
import type { IDataObject, INodeParameters, OnError } from 'n8n-workflow';

import { type OperationId, type Sandbox, startSandbox } from '../../sandbox';
import { answer } from '../support/answer';
import { credentialFor, getAll } from '../support/fixture';
import { hurry } from '../support/hurry';
import { oneOfEachCall } from '../support/operations';
import { Engine } from '../support/run';
import './seed';

/*
 * After any answer to any call, the node returns items, or an n8n error with a message and a description. The content
 * of a valid answer is in the output.
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
const words = fc.string({ unit: 'binary', maxLength: 12 });

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
	.map(({ status, headers, body }) => ({ right: undefined, fault: answer(status, body, headers) }));

const rightAnswer = (messages: fc.Arbitrary<unknown>) =>
	messages.map((right) => ({ right, fault: answer(200, right) }));

const ids = fc.stringMatching(/^[^\s"'\\]{1,20}$/);

/** Valid answers for each kind of operation. */
const rightTo = {
	create: fc.record({ metadata: fc.record({ uid: ids, namespace: words }), status: values }),
	// Any answer but one that says that the request has failed.
	change: values.filter((value) => !/"(?:error|success|ok)":/.test(JSON.stringify(value) ?? '')),
	read: fc.record({
		items: fc.uniqueArray(fc.record({ metadata: fc.record({ uid: ids }), status: values }), {
			selector: ({ metadata }) => metadata.uid,
			maxLength: 4,
		}),
		metadata: fc.constantFrom(null, {}, { continue: '' }),
	}),
};
const passedOn = {
	create: (right: unknown) => [{ metadata: Object(right).metadata as unknown }],
	change: (right: unknown) => [{ response: right === '' ? null : right }],
	read: (right: unknown) => Object(right).items as unknown[],
};

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

/**
 * Returns the node's output for one item, or undefined after an error. Checks that the error has a message and a
 * description.
 */
async function outputOf(
	parameters: INodeParameters,
	onError: OnError,
): Promise<IDataObject[] | undefined> {
	const { error, items } = await engine.run({ parameters, onError });
	const saysSomething = expect.stringMatching(/\S/) as unknown;
	if (error !== undefined) {
		expect(onError).toBe('stopWorkflow');
		expect(['NodeApiError', 'NodeOperationError']).toContain(error.name);
		const context = expect.objectContaining({ itemIndex: 0 }) as unknown;
		expect(error).toMatchObject({ message: saysSomething, description: saysSomething, context });
		return undefined;
	}
	const output = items.map(({ json }) => json);
	const isFailed = ({ error }: IDataObject) => Object(error).itemIndex === 0;
	if (!output.some(isFailed)) return output;
	expect(onError).not.toBe('stopWorkflow');
	expect(output).toMatchObject([{ message: saysSomething, error: { description: saysSomething } }]);
	return undefined;
}

const cases: Array<[OperationId, keyof typeof rightTo, INodeParameters]> = [
	...oneOfEachCall.map(
		({ calls, kind, parameters }) => [calls, kind, parameters({ options })] as (typeof cases)[0],
	),
	['listClusters', 'read', getAll({ returnAll: true, options })],
	['listClusters', 'read', getAll({ options: { ...options, rawPage: true } })],
];

test.each(cases)(
	'After any answer to %s (%s), the node returns items or an error with a description: %j',
	async (operation, kind, parameters) => {
		const isRaw = JSON.stringify(parameters).includes('rawPage');
		const answers = fc.oneof(rightAnswer(rightTo[kind]), anyAnswer);
		await fc.assert(
			fc.asyncProperty(answers, anyAnswer, modes, async (first, next, onError) => {
				engine.saveCredential(credentialFor(sandbox));
				sandbox.faults.plan((call) => {
					if (call.operation !== operation) return undefined;
					return call.nOfOperation === 1 ? first.fault : next.fault;
				});
				const output = await outputOf(parameters, onError);
				if (first.right === undefined) return;
				const received: unknown = JSON.parse(JSON.stringify(first.right));
				expect(output).toMatchObject(isRaw ? [received] : passedOn[kind](received));
			}),
			{ numRuns },
		);
	},
);

test('After any answer to the login, the node returns items or an error with a description', async () => {
	const logins = rightAnswer(fc.record({ access_token: fc.stringMatching(/^[\w.~+/-]{5,60}=?$/) }));
	let users = 0;
	await fc.assert(
		fc.asyncProperty(fc.oneof(logins, anyAnswer), modes, async ({ right, fault }, onError) => {
			users += 1;
			// Each login is for another user, because the node remembers an account for a while.
			engine.saveCredential({ ...credentialFor(sandbox), userName: `user-${users}` });
			let sent: string | undefined;
			sandbox.faults.plan(({ operation, token }) => {
				if (operation === 'login') return fault;
				sent = token;
				return answer(200, { items: [] });
			});
			await outputOf(getAll({ options }), onError);
			if (right !== undefined) expect({ access_token: sent }).toEqual(right);
		}),
		{ numRuns },
	);
});
