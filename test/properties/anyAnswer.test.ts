import fc from 'fast-check';
import type { INodeParameters, OnError } from 'n8n-workflow';

import type { CalledOperation, Fault, Sandbox } from '../../sandbox';
import { startSandbox } from '../../sandbox';
import { change, create, credentialFor, getAll, numbered } from '../engine/fixture';
import { Engine } from '../engine/run';

/*
 * Whatever the service answers, to whatever call: the node ends with items, or with an error of n8n's that
 * says something.
 */

/** Names that mean something to the node, so that answers come close to what it looks for. */
const names = fc.constantFrom(
	'metadata',
	'uid',
	'namespace',
	'displayName',
	'items',
	'continue',
	'access_token',
	'message',
	'error',
	'errors',
	'msg',
	'detail',
	'data',
	'body',
	'toString',
	'toJSON',
	'valueOf',
	'then',
	'length',
	'constructor',
	'__proto__',
	'',
);

const scalars = fc.oneof(
	fc.constant(null),
	fc.boolean(),
	fc.integer(),
	fc.double({ noNaN: true }),
	fc.string({ unit: 'binary', maxLength: 12 }),
	fc.constantFrom('', ' ', '=1+1', '{{ $json }}', 'ECONNREFUSED', 'EPERM in experiment'),
);

const { values } = fc.letrec<{ values: unknown; entries: [string, unknown] }>((tie) => ({
	values: fc.oneof(
		{ depthSize: 'small', withCrossShrink: true },
		scalars,
		fc.array(tie('values'), { maxLength: 3 }),
		fc.array(tie('entries'), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
	),
	entries: fc.tuple(names, tie('values')),
}));

/** Answers that are nearly right. */
const nearlyRight = fc.oneof(
	fc.record({ metadata: fc.record({ uid: values, namespace: values }), displayName: values }),
	fc.record({
		metadata: fc.record({ uid: fc.constant('job-1'), namespace: values }),
		displayName: values,
	}),
	fc.record({ items: fc.array(values), metadata: fc.record({ continue: values }) }),
	fc.record({ access_token: values }),
	fc.record({ error: fc.record({ message: values }), message: values }),
);

const bodies = fc.oneof(
	values.map((value) => JSON.stringify(value) ?? ''),
	nearlyRight.map((value) => JSON.stringify(value)),
	fc.string({ unit: 'binary', maxLength: 60 }),
	fc.constantFrom(
		'',
		'{',
		'[1,',
		'null',
		'"text"',
		'<html><title></title>',
		'<?xml version="1.0"?>',
	),
);

const headers = fc.record(
	{
		'content-type': fc.constantFrom(
			'application/json',
			'application/json; charset=utf-8',
			'application/problem+json',
			'application/octet-stream',
			'text/html',
			'text/plain; charset=utf-16le',
			'text/event-stream',
			'multipart/form-data',
			'image/png',
			'nonsense',
		),
		'content-encoding': fc.constantFrom('gzip', 'br', 'identity', 'nonsense'),
		'retry-after': fc.constantFrom(
			'0',
			'-1',
			'soon',
			'99999999999999999999',
			'Thu, 01 Jan 1970 00:00:00 GMT',
			'',
		),
		location: fc.constantFrom(
			'/',
			'//',
			'http://',
			'mailto:a@b',
			'%',
			'http://127.0.0.1:9/x?y#z',
			'',
		),
		'set-cookie': fc.constant('a=b'),
		'www-authenticate': fc.constant('Basic realm="x"'),
	},
	{ requiredKeys: [] },
);

const statuses = fc.oneof(
	fc.constantFrom(200, 201, 204, 301, 304, 400, 401, 404, 409, 429, 500, 503),
	fc.integer({ min: 200, max: 599 }),
);

const answers: fc.Arbitrary<Fault> = fc
	.record({ status: statuses, headers, body: bodies })
	.map((answer) => ({ kind: 'answer', when: 'beforeActing', ...answer }));

const options = { maxRetries: 0, timeout: 2_000, concurrency: 1 };
const operations: Array<[CalledOperation, INodeParameters]> = [
	['createJob', create({ options })],
	['changeJobState', change('stop', { jobId: 'a-job', options })],
	['listClusters', getAll({ options })],
	['listClusters', getAll({ returnAll: true, options })],
	['listClusters', getAll({ options: { ...options, rawPage: true } })],
];

const modes = fc.constantFrom<OnError>(
	'stopWorkflow',
	'continueRegularOutput',
	'continueErrorOutput',
);

let engine: Engine;
let sandbox: Sandbox;

beforeAll(async () => {
	engine = await Engine.load();
	sandbox = await startSandbox();
});
afterAll(async () => await sandbox.close());

/** Runs the node, and expects an end that a person can do something with. */
async function expectGoodEnd(parameters: INodeParameters, onError: OnError): Promise<void> {
	const { error, items } = await engine.run({ parameters, onError }, numbered(2));
	if (error === undefined) {
		expect(items).toBeInstanceOf(Array);
		return;
	}
	expect(onError).toBe('stopWorkflow');
	expect(['NodeApiError', 'NodeOperationError']).toContain(error.name);
	expect(error.message).toMatch(/\S/);
	expect(error.description).toMatch(/\S/);
	expect(error).toMatchObject({ context: { itemIndex: expect.any(Number) } });
}

test.each(operations)('to %s, %j', async (operation, parameters) => {
	await fc.assert(
		fc.asyncProperty(answers, answers, modes, async (first, second, onError) => {
			engine.saveCredential(credentialFor(sandbox));
			sandbox.faults.plan((call) => {
				if (call.operation !== operation) return undefined;
				return call.nOfOperation === 1 ? first : second;
			});
			await expectGoodEnd(parameters, onError);
		}),
		{ numRuns: 70 },
	);
});

test('to the log-in', async () => {
	let users = 0;
	await fc.assert(
		fc.asyncProperty(answers, modes, async (answer, onError) => {
			users += 1;
			// Each as another user: what is known of an account is remembered for a while.
			engine.saveCredential({ ...credentialFor(sandbox), userName: `user-${users}` });
			sandbox.faults.plan(({ operation }) => (operation === 'login' ? answer : undefined));
			await expectGoodEnd(getAll({ options }), onError);
		}),
		{ numRuns: 80 },
	);
});
