import { clusterById, CLUSTER, create, numbered, useSandbox } from '../engine/fixture';

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

test('parameters in the form become records', async () => {
	await fixture.engine.run({
		parameters: create({
			inputs: {
				parameter: [
					{
						id: 'in-1',
						displayName: 'Threshold',
						controls: 'input',
						default: '0.5',
						type: 'string',
						anchors: { anchor: [{ source: 'step-1', sourceAnchor: 'threshold' }] },
					},
					{
						id: 'in-2',
						displayName: '',
						controls: 'input',
						default: '',
						type: 'string',
						anchors: {},
					},
				],
			},
			outputs: { parameter: [{ id: 'out-1', default: '={{ 3 }}' }] },
		}),
	});
	expect(sentBody()).toMatchObject({
		job: {
			inputs: [
				{
					id: 'in-1',
					displayName: 'Threshold',
					controls: 'input',
					default: '0.5',
					type: 'string',
					anchors: [{ source: 'step-1', sourceAnchor: 'threshold' }],
				},
				{
					id: 'in-2',
					displayName: '',
					controls: 'input',
					default: '',
					type: 'string',
					anchors: [],
				},
			],
			outputs: [
				{
					id: 'out-1',
					displayName: '',
					controls: 'input',
					default: '3',
					type: 'string',
					anchors: [],
				},
			],
		},
	});
});

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

test('without items nothing is sent', async () => {
	const { items, error } = await fixture.engine.run({ parameters: create() }, []);
	expect(error).toBeUndefined();
	expect(items).toEqual([]);
	expect(fixture.sandbox.calls).toEqual([]);
});
