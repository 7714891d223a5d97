import fc from 'fast-check';
import type { INodeParameters } from 'n8n-workflow';

import { contractOperation } from '../../sandbox/contract/contract';
import '../reliability/seed';
import { clusterById, CLUSTER, create, useSandbox } from '../support/fixture';

declare const requireOnce: NodeJS.Require | undefined;

/*
 * Create sends exactly the job that the user entered, and returns the whole job or the wanted part of it.
 */

const fixture = useSandbox();

/**
 * Returns the body of the only create, and checks that the contract allows it. A cluster that the sandbox doesn't know
 * is the only reason that it may give for a refusal.
 */
function sentBody(): unknown {
	const calls = fixture.callsOf('createJob');
	expect(calls).toHaveLength(1);
	expect(calls[0]?.reason ?? 'none').toMatch(/^none$|cluster/);
	return calls[0]?.body;
}

test('Create sends the required fields, the fields with a default value, and no others', async () => {
	await fixture.succeeds(create());
	expect(sentBody()).toEqual({
		namespace: 'default',
		job: {
			namespace: 'default',
			displayName: 'Report',
			group: '',
			workCluster: CLUSTER,
			workflow: { uid: 'template-1' },
			type: 'normal',
			metadata: {},
			inputs: [],
			outputs: [],
		},
	});
});

/** The example of a created job in the contract. */
const { value: created = {} } = contractOperation('createJob').examples.find(
	({ name }) => name === 'created',
) as { value?: object };

const SIMPLE =
	'metadata name displayName group workflow priority status workspace workCluster'.split(' ');
const ALL = [...SIMPLE, 'type', 'inputs', 'outputs', 'retryOption', 'engineWorkflow'];

test.each<[string, INodeParameters, fields: string[], asTool?: boolean]>([
	['simplified by default', {}, SIMPLE],
	['simplified by an expression', { simplify: '={{ "true" }}' }, SIMPLE],
	['simplified if an expression has no value', { simplify: '={{ null }}' }, SIMPLE],
	['the whole job without Simplify', { simplify: false }, ALL],
	['the whole job by an expression', { simplify: '={{ "false" }}' }, ALL],
	['simplified for a tool by default', {}, SIMPLE, true],
	['the whole job for a tool without Simplify', { simplify: false }, ALL, true],
])('the output of Create is %s', async (_, parameters, fields, asTool = false) => {
	fixture.answerWith('createJob', created);
	const { items } = await fixture.engine.run({ parameters: create(parameters), asTool });
	const wanted = Object.entries(created).filter(([name]) => fields.includes(name));
	expect(wanted).toHaveLength(fields.length);
	expect(items).toEqual([{ json: Object.fromEntries(wanted), pairedItem: { item: 0 } }]);
});

const record = {
	id: 'in-1',
	displayName: 'A',
	controls: 'slider',
	default: '1',
	type: 'number',
	anchors: [{ source: 'step-1', sourceAnchor: 'threshold' }],
};
/** A record as the form stores it, and as it is sent. */
const inForm = { id: 'in-1', displayName: 'A', value: '1', type: 'number' };
const sent = { ...record, controls: 'input', anchors: [] };
/** The record that is sent if only its ID is entered. */
const usual = { ...sent, displayName: '', default: '', type: 'string' };
const date = 'DateTime.fromISO("2026-11-22T08:00:00", { zone: "utc" })';
const isoDate = '2026-11-22T08:00:00.000Z';

const input = (fields: INodeParameters) => ({ inputs: { input: [{ id: 'in-1', ...fields }] } });
const additional = (additionalFields: INodeParameters) => ({ additionalFields });

const allAdditional = {
	priority: 0,
	maxRetry: 2,
	retryInterval: 3000,
	type: 'special',
	workspace: 'ws-1',
	metadata: '{"team": "data"}',
};

test('these tests have a value for each additional field, so that each is checked against the contract', () => {
	const { properties } = fixture.engine.loaded.node.description;
	const { options = [] } = properties.find(({ name }) => name === 'additionalFields') ?? {};
	expect(Object.keys(allAdditional).sort()).toEqual(options.map(({ name }) => name).sort());
});
const list = (inputsJson: string) => ({ specifyParameters: 'json', inputsJson });
const text = '[{"id":"a","default":"5"}]';
const BIG = '7615917337495251231';
/** JSON with keys that JavaScript's objects inherit, or that an HTTP client may drop. */
const oddJson = [
	'{"constructor":"Hochtief","prototype":"P-7","a":{"constructor":"x","b":1}}',
	`{"__proto__":{"isAdmin":true},"b":"${BIG}"}`,
	'{"a":[{"__proto__":null,"constructor":{"prototype":{}}}]}',
	'{"toString":"x","valueOf":1,"hasOwnProperty":false,"toJSON":"y","length":0}',
	'{"名前":"é😀\\u2028","0":"zero","":" ","a":"\\ud83d\\ude80 ```json []```"}',
];

type Sent = [INodeParameters, job: object];

test.each<Sent>([
	[
		{ inputs: { input: [inForm] }, outputs: { output: [{ ...inForm, id: 'out-1' }] } },
		{ inputs: [sent], outputs: [{ ...sent, id: 'out-1' }] },
	],
	[input({}), { inputs: [usual], outputs: [] }],
	[{ specifyParameters: null, ...input({}) }, { inputs: [usual] }],
	[input({ value: '', type: '', displayName: '' }), { inputs: [usual] }],
	...[
		['a text', 'a text'],
		[BIG, BIG],
		['={{ 3 }}', '3'],
		['={{ 0 }}', '0'],
		['={{ false }}', 'false'],
		['={{ [1, "b"] }}', '[1,"b"]'],
		['={{ ({ a: { b: 1 }, none: null }) }}', '{"a":{"b":1},"none":null}'],
		[`={{ ${date} }}`, isoDate],
		['={{ null }}', ''],
		['={{ $json.absent ?? null }}', ''],
	].map(
		([value = '', text]): Sent => [input({ value }), { inputs: [{ ...usual, default: text }] }],
	),
	[list(JSON.stringify([record])), { inputs: [record], outputs: [] }],
	[list('={{ $json.list }}'), { inputs: [record], outputs: [] }],
	...[
		'=[{ "id": "a", "default": "{{ $json.absent ?? null }}{{ 5 }}" }]',
		// As language models write JSON.
		`\`\`\`json\n${text}\n\`\`\``,
		`\`\`\`\n${text}\n\`\`\`\n`,
		`\n  ~~~ JSON\r\n${text}\r\n~~~`,
		`\`\`\`\`json title="a"\n${text}\n\`\`\`\``,
		`\`\`\`json ${text} \`\`\``,
		`\ufeff${text}`,
	].map((json): Sent => [list(json), { inputs: [{ id: 'a', default: '5' }] }]),
	// A "default" that isn't a text is sent as the text that the form sends.
	...['0.5', '-1000', '0', 'false', '[1,"b"]', '{"a":null}'].flatMap((given) =>
		[`[{"id":"a","default":${given}}]`, `={{ [{ id: "a", default: ${given} }] }}`].map(
			(json): Sent => [list(json), { inputs: [{ id: 'a', default: given }] }],
		),
	),
	[
		// The records that the expression doesn't choose aren't checked.
		{ ...list('[]'), specifyParameters: '={{ "json" }}', ...input({ id: 'a/b' }) },
		{ inputs: [] },
	],
	[list(' '), { inputs: [] }],
	[list('={{ null }}'), { inputs: [] }],
	[
		additional(allAdditional),
		{
			...{ priority: 0, type: 'special', workspace: 'ws-1', metadata: { team: 'data' } },
			retryOption: { maxretry: 2, retryInterval: 3000 },
		},
	],
	[additional({ metadata: '```\n{"a":1}\n```' }), { metadata: { a: 1 } }],
	[additional({ metadata: `={{ ({ at: ${date} }) }}` }), { metadata: { at: isoDate } }],
	// The retry fields as they are added.
	[
		additional({ maxRetry: 0, retryInterval: 0 }),
		{ retryOption: { maxretry: 0, retryInterval: 0 } },
	],
	[additional({ maxRetry: '={{ "2" }}' }), { retryOption: { maxretry: 2 } }],
	[additional({ retryInterval: 10 }), { retryOption: { retryInterval: 10 } }],
	[additional({ priority: '={{ "-5" }}' }), { priority: -5 }],
	[additional({ priority: 1.5 }), { priority: 1.5 }],
	// Spaces around an ID are taken off.
	[{ namespace: ' default\n' }, { namespace: 'default' }],
	[{ workflowUid: '\ttemplate-1 ' }, { workflow: { uid: 'template-1' } }],
	[{ workCluster: clusterById(` ${CLUSTER} `) }, { workCluster: CLUSTER }],
	[additional({ workspace: ' ws-1 ' }), { workspace: 'ws-1' }],
	[{ workflowUid: 'Zürich–東京 🚀' }, { workflow: { uid: 'Zürich–東京 🚀' } }],
	[{ displayName: ' A  name ' }, { displayName: ' A  name ' }],
	...['=Report{{ $json.none ?? "" }}', '=Report{{ $json.none ?? null }}'].map(
		(displayName): Sent => [{ displayName }, { displayName: 'Report' }],
	),
	[{ displayName: '=Report {{ 0 }}' }, { displayName: 'Report 0' }],
	[{ displayName: '=Report \\{{ braces }}' }, { displayName: 'Report \\{{ braces }}' }],
	[{ displayName: `={{ ${date} }}` }, { displayName: isoDate }],
	[{ displayName: '👩‍🚀 e\u0301\u200b' }, { displayName: '👩‍🚀 e\u0301\u200b' }],
	[{ group: 'reports' }, { group: 'reports' }],
	// The same ID twice, which only the service can judge.
	[{ inputs: { input: [{ id: 'a' }, { id: ' a' }] } }, { inputs: [{ id: 'a' }, { id: 'a' }] }],
])('Create sends the entered values: %j', async (parameters, job) => {
	await fixture.engine.run({ parameters: create(parameters) }, [{ list: [record] }]);
	expect(sentBody()).toMatchObject({ namespace: 'default', job: { workCluster: CLUSTER, ...job } });
});

test.each(oddJson)(
	'Create sends each key of JSON, in Metadata and in a record: %s',
	async (object) => {
		const records = `[{"id":"a","default":"b","more":${object}}]`;
		const json = { ...list(records), outputsJson: records };
		await fixture.engine.run({
			parameters: create({ ...json, ...additional({ metadata: object }) }),
		});
		const job = JSON.stringify(fixture.sentJob());
		const sent = JSON.stringify(JSON.parse(records));
		expect(job).toContain(`"inputs":${sent},"outputs":${sent}`);
		expect(job).toContain(`"metadata":${JSON.stringify(JSON.parse(object))}`);
	},
);

test('every whole number in JSON arrives, or is refused if JavaScript cannot tell it from another one', async () => {
	await fc.assert(
		fc.asyncProperty(fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }), async (number) => {
			for (const written of [number, number % 2n ** 53n]) {
				fixture.sandbox.clearCalls();
				const metadata = `{ "n": [${written}] }`;
				await fixture.engine.run({ parameters: create(additional({ metadata })) });
				const sent = { metadata: { n: [Number(written)] } };
				expect(fixture.sentJobs()).toMatchObject(
					Number.isSafeInteger(Number(written)) ? [sent] : [],
				);
			}
		}),
	);
});

test.each(['={{ null }}', '={{ "" }}', '', '={{ $json.empty }}', '={{ $json.none }}'])(
	'an optional field with the value %j is not sent, because it was left empty on purpose',
	async (value) => {
		const additionalFields = { priority: value, workspace: value, maxRetry: value };
		const parameters = create({ group: value, additionalFields, inputs: { input: [] } });
		const { hints } = await fixture.engine.run({ parameters }, [{ empty: '', none: null }]);
		for (const field of ['priority', 'retryOption', 'workspace'])
			expect(fixture.sentJob()).not.toHaveProperty(field);
		expect(hints).toEqual([]);
	},
);

test('the node sends nothing if it gets no items', async () => {
	const { items } = await fixture.succeeds(create(), []);
	expect(items).toEqual([]);
	expect(fixture.sandbox.calls).toEqual([]);
});

test("a Timeout that is longer than that of n8n's HTTP client applies to Create and its login", async () => {
	const load = typeof requireOnce === 'function' ? requireOnce : require;
	const path = load.resolve('axios', { paths: [load.resolve('n8n-core')] });
	const { defaults } = load(path) as { defaults: { timeout: number } };
	const parameters = create({ options: { timeout: 600_000, maxRetries: 0 } });
	// n8n sets its own default timeout with the first request, so the test changes the default after it.
	await fixture.succeeds(parameters);
	await fixture.start({ latency: 200 });
	jest.replaceProperty(defaults, 'timeout', 50);
	await fixture.succeeds(parameters);
	expect(fixture.sandbox.calls.map(({ operation }) => operation)).toEqual(['login', 'createJob']);
});
