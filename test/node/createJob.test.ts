import { contractOperation } from '../../sandbox/contract/contract';
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import type { NodeOptions } from '../support/run';
import { clusterById, CLUSTER, create, numbered, useSandbox } from '../support/fixture';

const fixture = useSandbox();

/** The body of the only create. */
function sentBody(): unknown {
	const calls = fixture.callsOf('createJob');
	expect(calls).toHaveLength(1);
	return calls[0]?.body;
}

test('with the required fields alone, what has a default is sent and nothing else', async () => {
	const { error } = await fixture.engine.run({ parameters: create() });
	expect(error).toBeUndefined();
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

test('the output is the job as the service sent it, paired with its item', async () => {
	const { items } = await fixture.engine.run({ parameters: create() });
	expect(items).toHaveLength(1);
	expect(items[0]?.pairedItem).toEqual({ item: 0 });
	const [job] = [...fixture.sandbox.store.jobs.values()];
	expect(items[0]?.json).toMatchObject({
		metadata: { uid: job?.uid, namespace: 'default' },
		name: `job-${job?.uid}`,
		status: { finishedAt: null },
		workCluster: CLUSTER,
	});
});

/** The fields of the one job that a node gives, in their order, and what was sent for them. */
async function fieldsGiven(node: NodeOptions, items?: IDataObject[]): Promise<string[]> {
	const { items: given, error } = await fixture.engine.run(node, items);
	expect(error).toBeUndefined();
	const json: IDataObject = given[0]?.json ?? {};
	const [job] = [...fixture.sandbox.store.jobs.values()];
	expect(json.metadata).toEqual({ namespace: 'default', uid: job?.uid });
	expect(json.displayName).toBe('Report');
	return Object.keys(json);
}

const SIMPLE = [
	'metadata',
	'name',
	'displayName',
	'group',
	'workflow',
	'priority',
	'status',
	'workspace',
	'workCluster',
];
const NOISE = ['type', 'inputs', 'outputs', 'retryOption', 'engineWorkflow'];
const everything = { additionalFields: { workspace: 'ws-1', maxRetry: 1 } };

describe('the output is', () => {
	test.each<[string, INodeParameters]>([
		['by default', {}],
		['with Simplify', { simplify: true }],
		['with Simplify by an expression', { simplify: '={{ "true" }}' }],
		['where an expression for Simplify gives nothing', { simplify: '={{ null }}' }],
	])('the job without what is noise, its paths as they were: %s', async (_, parameters) => {
		const fields = await fieldsGiven({ parameters: create({ ...everything, ...parameters }) });
		expect(fields.sort()).toEqual([...SIMPLE].sort());
	});

	test.each<[string, INodeParameters]>([
		['without Simplify', { simplify: false }],
		['by an expression', { simplify: '={{ "false" }}' }],
	])('the whole job as the service sent it: %s', async (_, parameters) => {
		const fields = await fieldsGiven({ parameters: create({ ...everything, ...parameters }) });
		expect(fields.sort()).toEqual([...SIMPLE, ...NOISE].sort());
	});

	test.each<[string, INodeParameters, string[]]>([
		['simplified by default', {}, SIMPLE],
		['simplified', { output: 'simplified' }, SIMPLE],
		['raw', { output: 'raw' }, [...SIMPLE, ...NOISE]],
		[
			'selected fields, with what names the job',
			{ output: 'selectedFields', outputFields: ['status', 'inputs'] },
			['metadata', 'displayName', 'status', 'inputs'],
		],
		['nothing selected', { output: 'selectedFields' }, ['metadata', 'displayName']],
		['raw, whatever Simplify says', { output: 'raw', simplify: true }, [...SIMPLE, ...NOISE]],
	])('as a tool, by the field Output: %s', async (_, parameters, fields) => {
		const node = { parameters: create({ ...everything, ...parameters }), asTool: true };
		expect((await fieldsGiven(node)).sort()).toEqual([...fields].sort());
	});

	test('an error before anything is sent, where Output is none of its choices', async () => {
		const { error } = await fixture.engine.run({
			parameters: create({ output: 'everything' }),
			asTool: true,
		});
		expect(error).toMatchObject({
			message: `'Output' is "everything", not one of the choices`,
			description: expect.stringMatching(/^Enter one of these: simplified, raw, selectedFields\./),
		});
		expect(fixture.sandbox.calls).toEqual([]);
	});
});

test('an agent reads a fifth of the text where the job is simplified', async () => {
	const { examples } = contractOperation('createJob');
	const body = examples.find(({ name }) => name === 'created')?.value;
	fixture.answerWith('createJob', body);
	const lengthOf = async (output: string) => {
		const { answers } = await fixture.engine.callTool({ parameters: create({ output }) }, [{}]);
		return answers.join().length;
	};
	const [simplified, raw] = [await lengthOf('simplified'), await lengthOf('raw')];
	expect(raw).toBeGreaterThan(1_500);
	expect(simplified / raw).toBeCloseTo(1 / 5, 1);
});

test('a simplified job is listed by name in an error that stops the batch after it', async () => {
	const { error } = await fixture.engine.run(
		{
			parameters: create({
				workCluster: clusterById('={{ $json.cluster }}'),
				output: 'selectedFields',
				options: { concurrency: 1 },
			}),
			asTool: true,
		},
		[{ cluster: CLUSTER }, { cluster: 'none' }],
	);
	const [job] = [...fixture.sandbox.store.jobs.values()];
	expect(error).toMatchObject({
		context: { createdJobs: [{ itemIndex: 0, uid: job?.uid, displayName: 'Report' }] },
	});
});

test('inputs and outputs in the form become records, with their value as default', async () => {
	await fixture.engine.run({
		parameters: create({
			inputs: {
				input: [
					{
						id: 'in-1',
						value: '0.5',
						displayName: 'Threshold',
						type: 'number',
						controls: 'slider',
						anchors: { anchor: [{ source: 'step-1', sourceAnchor: 'threshold' }] },
					},
				],
			},
			outputs: {
				output: [
					{
						id: 'out-1',
						value: 'out.csv',
						displayName: 'Result',
						type: 'file',
						controls: 'upload',
						anchors: { anchor: [{ source: 'step-2', sourceAnchor: 'result' }] },
					},
				],
			},
		}),
	});
	expect(sentBody()).toMatchObject({
		job: {
			inputs: [
				{
					id: 'in-1',
					default: '0.5',
					displayName: 'Threshold',
					type: 'number',
					controls: 'slider',
					anchors: [{ source: 'step-1', sourceAnchor: 'threshold' }],
				},
			],
			outputs: [
				{
					id: 'out-1',
					default: 'out.csv',
					displayName: 'Result',
					type: 'file',
					controls: 'upload',
					anchors: [{ source: 'step-2', sourceAnchor: 'result' }],
				},
			],
		},
	});
});

test.each([
	['what the form adds', { id: 'in-1', value: '5' }],
	['fields that were emptied', { id: 'in-1', value: '5', type: '', controls: '', displayName: '' }],
])('an input of ID and Value is sent with what is usual for the rest: %s', async (_, input) => {
	await fixture.engine.run({ parameters: create({ inputs: { input: [input] } }) });
	expect(sentBody()).toMatchObject({
		job: {
			inputs: [
				{
					id: 'in-1',
					default: '5',
					displayName: '',
					type: 'string',
					controls: 'input',
					anchors: [],
				},
			],
			outputs: [],
		},
	});
});

test.each([
	['a text', 'a text'],
	['={{ 3 }}', '3'],
	['={{ 0 }}', '0'],
	['={{ false }}', 'false'],
	['={{ [1, "b"] }}', '[1,"b"]'],
	['={{ ({ a: { b: 1 } }) }}', '{"a":{"b":1}}'],
	['={{ null }}', ''],
	['={{ $json.absent }}', ''],
])('the value %s is sent as the text %j', async (value, sent) => {
	await fixture.engine.run({ parameters: create({ inputs: { input: [{ id: 'in-1', value }] } }) });
	expect(sentBody()).toMatchObject({ job: { inputs: [{ default: sent }] } });
});

test.each([[{}], [{ source: '', sourceAnchor: '' }], [{ source: ' ', sourceAnchor: '' }]])(
	'an anchor with nothing in it is not sent: %j',
	async (empty) => {
		const anchors = { anchor: [empty, { source: 'step-1', sourceAnchor: 'a' }, empty] };
		await fixture.engine.run({
			parameters: create({ inputs: { input: [{ id: 'in-1', value: '', anchors }] } }),
		});
		expect(sentBody()).toMatchObject({
			job: { inputs: [{ anchors: [{ source: 'step-1', sourceAnchor: 'a' }] }] },
		});
	},
);

const record = {
	id: 'in-1',
	displayName: 'A',
	controls: 'input',
	default: '1',
	type: 'string',
	anchors: [],
};

test.each([
	['text', JSON.stringify([record])],
	['a list from an expression', '={{ $json.list }}'],
])('parameters as JSON are sent as given: %s', async (_, inputsJson) => {
	await fixture.engine.run(
		{ parameters: create({ specifyParameters: 'json', inputsJson, outputsJson: '[]' }) },
		[{ list: [record] }],
	);
	expect(sentBody()).toMatchObject({ job: { inputs: [record], outputs: [] } });
});

test('additional fields go where the interface has them, and 0 is something', async () => {
	await fixture.engine.run({
		parameters: create({
			group: 'reports',
			additionalFields: {
				priority: 0,
				maxRetry: 2,
				retryInterval: 3000,
				type: 'normal',
				workspace: 'ws-1',
				metadata: '{"team": "data"}',
			},
		}),
	});
	expect(sentBody()).toMatchObject({
		job: {
			group: 'reports',
			priority: 0,
			retryOption: { maxretry: 2, retryInterval: 3000 },
			workspace: 'ws-1',
			metadata: { team: 'data' },
		},
	});
});

test.each([
	['as a new field has them', {}, { maxretry: 0, retryInterval: 3000 }],
	['of 0', { retryInterval: 0 }, { maxretry: 0, retryInterval: 0 }],
	[
		'as text',
		{ maxRetry: '={{ "2" }}', retryInterval: '={{ "10" }}' },
		{ maxretry: 2, retryInterval: 10 },
	],
])('Max Job Retries and Job Retry Interval %s are sent', async (_, changed, retryOption) => {
	await fixture.engine.run({
		parameters: create({ additionalFields: { maxRetry: 0, retryInterval: 3000, ...changed } }),
	});
	expect(sentBody()).toMatchObject({ job: { retryOption } });
});

test.each([
	[{ maxRetry: 2 }, { maxretry: 2 }],
	[{ retryInterval: 10 }, { retryInterval: 10 }],
])('one of them goes alone: %j', async (additionalFields, retryOption) => {
	await fixture.engine.run({ parameters: create({ additionalFields }) });
	expect(sentBody()).toHaveProperty('job.retryOption', retryOption);
});

test('an additional field whose expression gives nothing is not given', async () => {
	await fixture.engine.run(
		{
			parameters: create({
				additionalFields: {
					priority: '={{ $json.absent }}',
					workspace: '={{ $json.absent }}',
					maxRetry: '={{ $json.empty }}',
				},
			}),
		},
		[{ empty: '' }],
	);
	expect(sentBody()).toEqual({
		namespace: 'default',
		job: expect.not.objectContaining({
			priority: expect.anything(),
			retryOption: expect.anything(),
			workspace: expect.anything(),
		}),
	});
});

test.each([-5, 1.5])('a priority of %s is sent', async (priority) => {
	await fixture.engine.run({ parameters: create({ additionalFields: { priority } }) });
	expect(sentBody()).toMatchObject({ job: { priority } });
});

test('a type of job that is given is sent', async () => {
	await fixture.engine.run({ parameters: create({ additionalFields: { type: 'special' } }) });
	expect(sentBody()).toMatchObject({ job: { type: 'special' } });
});

test('the namespace is sent as the text given, three times', async () => {
	await fixture.engine.run({ parameters: create({ namespace: '={{ 42 }}' }) });
	expect(fixture.callsOf('createJob')[0]?.path).toBe('/api/v1/namespaces/42/jobs');
	expect(sentBody()).toMatchObject({ namespace: '42', job: { namespace: '42' } });
});

test('each item has its own values, and a job of its own in their order', async () => {
	const { items } = await fixture.engine.run(
		{
			parameters: create({
				displayName: '=Job {{ $json.n }}',
				workCluster: clusterById(`={{ $json.n % 2 ? "wc-000001" : "wc-000002" }}`),
			}),
		},
		numbered(25),
	);
	expect(items.map(({ json }) => json.displayName)).toEqual(
		numbered(25).map(({ n }) => `Job ${String(n)}`),
	);
	expect(items.map(({ pairedItem }) => pairedItem)).toEqual(
		numbered(25).map(({ n }) => ({ item: n })),
	);
	expect(fixture.sandbox.store.jobs.size).toBe(25);
});

test.each<[string, INodeParameters[string]]>([
	['as an API or a model stores it', { mode: 'id', value: CLUSTER }],
	['from an expression', `={{ ({ __rl: true, mode: 'list', value: '${CLUSTER}' }) }}`],
	['as text', CLUSTER],
])('the work cluster may be given %s', async (_, workCluster) => {
	const { error } = await fixture.engine.run({ parameters: create({ workCluster }) });
	expect(error).toBeUndefined();
	expect(sentBody()).toMatchObject({ job: { workCluster: CLUSTER } });
});

test('without items nothing is sent', async () => {
	const { items, error } = await fixture.engine.run({ parameters: create() }, []);
	expect(error).toBeUndefined();
	expect(items).toEqual([]);
	expect(fixture.sandbox.calls).toEqual([]);
});
