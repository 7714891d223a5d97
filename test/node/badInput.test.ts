import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { change, clusterById, create, getAll, useSandbox } from '../support/fixture';

/*
 * Bad input is found before anything is sent: the item before it would have made a job.
 */

const fixture = useSandbox();

const record = { id: 'in-1' };
const withAnchors = (...anchor: INodeParameters[]) => ({ ...record, anchors: { anchor } });
const half = { sourceAnchor: '={{ $json.v }}' };

const cases: Array<[string, INodeParameters, RegExp]> = [
	['an empty namespace', create({ namespace: '={{ $json.v }}' }), /^'Namespace' is empty$/],
	[
		'a namespace of spaces',
		create({ namespace: '={{ $json.first ? "default" : "  " }}' }),
		/^'Namespace' is empty$/,
	],
	[
		'a namespace that is ..',
		create({ namespace: '={{ $json.first ? "default" : ".." }}' }),
		/^'Namespace' is "\.\."/,
	],
	['an empty workflow', create({ workflowUid: '={{ $json.v }}' }), /^'Workflow UID' is empty$/],
	[
		'an empty cluster',
		create({ workCluster: clusterById('={{ $json.v }}') }),
		/^'Work Cluster' is empty$/,
	],
	['an empty display name', create({ displayName: '={{ $json.v }}' }), /^'Display Name' is empty$/],
	[
		'a display name that is an object',
		create({ displayName: '={{ $json.first ? "a" : {a: 1} }}' }),
		/^'Display Name' is an object, not text$/,
	],
	[
		'inputs that are no JSON',
		create({ specifyParameters: 'json', inputsJson: '={{ $json.first ? "[]" : "[{" }}' }),
		/^'Job Inputs \(JSON\)' is not valid JSON$/,
	],
	[
		'inputs that are no list',
		create({ specifyParameters: 'json', inputsJson: '={{ $json.first ? "[]" : "{}" }}' }),
		/^'Job Inputs \(JSON\)' is an object, not a list$/,
	],
	[
		'outputs with something else than records',
		create({ specifyParameters: 'json', outputsJson: '={{ $json.first ? [] : [{}, 3] }}' }),
		/^'Job Outputs \(JSON\)' has 3 at position 2, not an object$/,
	],
	[
		'a parameter without an id',
		create({ inputs: { input: [record, { id: '={{ $json.v }}' }] } }),
		/^'Job Inputs 2 › ID' is empty$/,
	],
	[
		'half an anchor, without its source anchor',
		create({
			outputs: {
				output: [record, withAnchors({ source: 'a', sourceAnchor: 'b' }, { source: 'a', ...half })],
			},
		}),
		/^'Job Outputs 2 › Anchors 2 › Source Anchor' is empty$/,
	],
	[
		'half an anchor, without its source',
		create({ inputs: { input: [withAnchors({ sourceAnchor: 'b', source: half.sourceAnchor })] } }),
		/^'Job Inputs 1 › Anchors 1 › Source' is empty$/,
	],
	[
		'a priority that is no number',
		create({ additionalFields: { priority: '={{ $json.first ? 1 : "high" }}' } }),
		/^'Priority' is "high", not a number$/,
	],
	[
		'a priority of a space, which is not 0',
		create({ additionalFields: { priority: '={{ $json.first ? 1 : " " }}' } }),
		/^'Priority' is " ", not a number$/,
	],
	[
		'an infinite priority',
		create({ additionalFields: { priority: '={{ $json.first ? 1 : Infinity }}' } }),
		/^'Priority' is Infinity, not a number$/,
	],
	[
		'a priority that is a list',
		create({ additionalFields: { priority: '={{ $json.first ? 1 : [2] }}' } }),
		/^'Priority' is a list, not a number$/,
	],
	[
		'Simplify as a word that is neither true nor false',
		create({ simplify: '={{ $json.first ? true : "yes" }}' }),
		/^'Simplify' is "yes", not true or false$/,
	],
	[
		'one record in place of a list of them',
		create({ specifyParameters: 'json', inputsJson: '={{ $json.first ? [] : { id: "a" } }}' }),
		/^'Job Inputs \(JSON\)' is an object, not a list$/,
	],
	[
		'a filter that is a list',
		getAll({ filters: { phase: '={{ $json.first ? "" : ["Running"] }}' } }),
		/^'Phase' is a list, not text$/,
	],
	[
		'a maximum of retries below 0',
		create({ additionalFields: { maxRetry: '={{ $json.first ? 1 : -1 }}' } }),
		/^'Max Job Retries' is -1, which is too small$/,
	],
	[
		'a half retry',
		create({ additionalFields: { maxRetry: '={{ $json.first ? 1 : 1.5 }}' } }),
		/^'Max Job Retries' is 1\.5, not a whole number$/,
	],
	[
		'metadata that is a list',
		create({ additionalFields: { metadata: '={{ $json.first ? {} : [] }}' } }),
		/^'Metadata \(JSON\)' is a list, not an object$/,
	],
	[
		'a timeout of nothing',
		create({ options: { timeout: '={{ $json.first ? 1000 : 0 }}' } }),
		/^'Timeout' is 0/,
	],
	[
		'retries without number',
		create({ options: { maxRetries: '={{ $json.first ? 1 : "many" }}' } }),
		/^'Max Request Retries' is "many", not a number$/,
	],
	[
		'a retry interval below 0',
		create({ additionalFields: { retryInterval: '={{ $json.first ? 1 : -1 }}' } }),
		/^'Job Retry Interval' is -1, which is too small$/,
	],
	[
		'retries below 0',
		create({ options: { maxRetries: '={{ $json.first ? 1 : -1 }}' } }),
		/^'Max Request Retries' is -1, which is too small$/,
	],
	[
		'half a retry',
		create({ options: { maxRetries: '={{ $json.first ? 1 : 0.5 }}' } }),
		/^'Max Request Retries' is 0\.5, not a whole number$/,
	],
	[
		'a concurrency of nothing',
		create({ options: { concurrency: '={{ $json.first ? 1 : 0 }}' } }),
		/^'Concurrency' is 0, which is too small$/,
	],
	[
		'half a request at once',
		create({ options: { concurrency: '={{ $json.first ? 1 : 1.5 }}' } }),
		/^'Concurrency' is 1\.5, not a whole number$/,
	],
	[
		'half a cluster',
		getAll({ limit: '={{ $json.first ? 1 : 1.5 }}' }),
		/^'Limit' is 1\.5, not a whole number$/,
	],
	[
		'a page of nothing',
		getAll({ options: { pageSize: '={{ $json.first ? 1 : 0 }}' } }),
		/^'Page Size' is 0, which is too small$/,
	],
	[
		'a page of a cluster and a half',
		getAll({ options: { pageSize: '={{ $json.first ? 1 : 1.5 }}' } }),
		/^'Page Size' is 1\.5, not a whole number$/,
	],
	[
		'a concurrency without number, of a later item',
		create({ options: { concurrency: '={{ $json.first ? 5 : "many" }}' } }),
		/^'Concurrency' is "many", not a number$/,
	],
	[
		'another end for the jobs, of a later item',
		create({ options: { ifStopped: '={{ $json.first ? "stop" : "end" }}' } }),
		/^'If Interrupted' is "end", not one of the choices$/,
	],
	[
		'another way to specify parameters',
		create({ specifyParameters: '={{ $json.first ? "json" : "JSON" }}' }),
		/^'Specify Parameters' is "JSON", not one of the choices$/,
	],
	[
		'metadata that is a date',
		create({ additionalFields: { metadata: '={{ $json.first ? {} : new Date(0) }}' } }),
		/^'Metadata \(JSON\)' is a date, not an object$/,
	],
	[
		'an empty job id',
		change('stop', { jobId: '={{ $json.first ? "a" : "" }}' }),
		/^'Job ID' is empty$/,
	],
	[
		'a job id that is .',
		change('stop', { jobId: '={{ $json.first ? "a" : "." }}' }),
		/^'Job ID' is "\."/,
	],
	[
		'half a character in an id',
		change('stop', { jobId: '={{ $json.first ? "a" : "\\ud83d" }}' }),
		/^'Job ID' contains half a character$/,
	],
	['a limit of 0', getAll({ limit: '={{ $json.first ? 1 : 0 }}' }), /^'Limit' is 0/],
	[
		'a page size that is no number',
		getAll({ options: { pageSize: '={{ $json.first ? 1 : "big" }}' } }),
		/^'Page Size' is "big", not a number$/,
	],
];

const items: IDataObject[] = [
	{ first: true, v: 'a' },
	{ first: false, v: '' },
];

test.each(cases)(
	'%s is an error that names the field and the item',
	async (_, parameters, message) => {
		const { error } = await fixture.engine.run({ parameters }, items);
		expect(error?.message).toMatch(message);
		expect(error).toMatchObject({ name: 'NodeOperationError', context: { itemIndex: 1 } });
		expect(error?.description).toMatch(/\S{3}.*\n\nThis is about item 1, counting from 0\.$/s);
		expect(fixture.sandbox.calls).toEqual([]);
	},
);

test('with the error output, a bad item is an error there and the others are sent', async () => {
	const { branches, error } = await fixture.engine.run(
		{ parameters: create({ displayName: '={{ $json.v }}' }), onError: 'continueErrorOutput' },
		[{ v: 'A' }, { v: '' }, { v: 'C' }],
	);
	expect(error).toBeUndefined();
	expect(branches[0]?.map(({ json }) => json.displayName)).toEqual(['A', 'C']);
	expect(branches[1]?.map(({ json }) => json)).toEqual([
		{
			v: '',
			message: "'Display Name' is empty",
			error: {
				description: expect.stringMatching(/^Fill it in/),
				itemIndex: 1,
				httpStatus: null,
				jobMayExist: false,
			},
		},
	]);
});

test('a bad option of the first item is the error of that item alone', async () => {
	const ifStopped = '={{ $json.v === "A" ? "end" : "stop" }}';
	const { items: output } = await fixture.engine.run(
		{ parameters: create({ options: { ifStopped } }), onError: 'continueRegularOutput' },
		[{ v: 'A' }, { v: 'B' }],
	);
	expect(output.map(({ json }) => json)).toMatchObject([
		{
			message: `'If Interrupted' is "end", not one of the choices`,
			error: { itemIndex: 0, httpStatus: null, jobMayExist: false },
		},
		{ metadata: { uid: expect.any(String) } },
	]);
});

test.each(['stopWorkflow', 'continueErrorOutput'] as const)(
	'an expression that fails is an error of its field and item: %s',
	async (onError) => {
		const displayName = '={{ $json.first ? "a" : $("No such node").item.json.name }}';
		const { branches, error } = await fixture.engine.run(
			{ parameters: create({ displayName }), onError },
			items,
		);
		const message = "'Display Name' can't be read";
		const advice =
			'n8n says: "Referenced node doesn\'t exist". Check the expression that the field holds.';
		if (onError === 'stopWorkflow') {
			expect(error).toMatchObject({ message, context: { itemIndex: 1, createdJobs: [] } });
			expect(error?.description).toBe(`${advice}\n\nThis is about item 1, counting from 0.`);
			expect(fixture.sandbox.calls).toEqual([]);
		} else {
			expect(branches[0]).toHaveLength(1);
			expect(branches[1]?.map(({ json }) => json)).toMatchObject([
				{
					message,
					error: { description: advice, itemIndex: 1, httpStatus: null, jobMayExist: false },
				},
			]);
		}
	},
);

test.each([
	['a part that is no expression', { displayName: '={{ $json. }}' }, 'Display Name'],
	[
		'a member of a collection',
		{ additionalFields: { metadata: '={{ $("No such node").item.json }}' } },
		'Additional Fields',
	],
	['a resource locator', { workCluster: '={{ $json. }}' }, 'Work Cluster'],
])('an expression with a mistake names its field: %s', async (_, parameters, field) => {
	const { error } = await fixture.engine.run({ parameters: create(parameters) });
	expect(error?.message).toBe(`'${field}' can't be read`);
	expect(error?.description).toMatch(/^n8n says: "[^"]{5,}"\. Check the expression/);
	expect(fixture.sandbox.calls).toEqual([]);
});

test.each([
	['={{ new Set(["a", "b"]) }}', 'an object of the type Set'],
	['={{ [1, 2 / 0] }}', 'Infinity'],
	['={{ ({ rate: Number("n/a") }) }}', 'NaN'],
	['={{ ({ due: new Date("soon") }) }}', 'an invalid date'],
])('what JSON would lose of an expression makes no job: %s', async (expression, lost) => {
	const forms = {
		'Job Inputs 1 › Value': { inputs: { input: [{ id: 'a', value: expression }] } },
		'Metadata (JSON)': {
			additionalFields: { metadata: `={{ ({ it: ${expression.slice(3, -2)} }) }}` },
		},
	};
	for (const [field, form] of Object.entries(forms)) {
		const { error } = await fixture.engine.run({ parameters: create(form) });
		expect(error?.message).toBe(`'${field}' holds ${lost}, which can't be sent`);
	}
	expect(fixture.sandbox.calls).toEqual([]);
});

test.each([
	['={{ ({ count: BigInt(5) }) }}', 'holds the BigInt 5'],
	[
		'={{ ({ it: { toJSON: () => { throw new Error("no") } } }) }}',
		"holds an object whose 'toJSON' fails",
	],
])('what JSON has no form for makes no job, and names the field: %s', async (metadata, holds) => {
	const { error } = await fixture.engine.run({
		parameters: create({ additionalFields: { metadata } }),
	});
	expect(error?.message).toBe(`'Metadata (JSON)' ${holds}, which can't be sent`);
	expect(fixture.sandbox.calls).toEqual([]);
});

describe('An ID', () => {
	const unsafe = [
		...[
			'..%2f..%2fx',
			'%2e%2e/x',
			'a/../../b',
			'..\\..\\x',
			'..;/x',
			'x%2F..%2F..',
			'..;x',
			'.. ',
			'..%3bx',
			'..%00',
			'x%0d%0ay',
		],
		...['%252e%252e%252fx', 'a%5Cb', 'a\0b', 'a\nb', 'a\u0085b', '/', '\\'],
	];
	const fields = {
		Namespace: (id: string) => create({ namespace: id }),
		'Job ID': (id: string) => change('terminate', { jobId: id }),
	};

	test.each(Object.entries(fields))(
		'that could lead elsewhere is not sent: %s',
		async (field, parameters) => {
			for (const id of unsafe) {
				const { error } = await fixture.engine.run(
					{ parameters: parameters('={{ $json.id ?? "default" }}') },
					[{}, { id }],
				);
				expect({ id, message: error?.message }).toEqual({
					id,
					message: expect.stringContaining(`'${field}' `),
				});
				expect(error).toMatchObject({ context: { itemIndex: 1 } });
			}
			expect(fixture.sandbox.calls).toEqual([]);
		},
	);

	test.each([
		'7c9e6679-7425-40de-944b-e07fc1f90ae7',
		'job:1',
		'Größe',
		'a b',
		'x@y',
		'1+1',
		'100%',
		'%41',
		'a..b',
		'...',
	])('as real services have it is sent as it is: %s', async (jobId) => {
		await fixture.engine.run({ parameters: change('terminate', { jobId }) });
		const paths = fixture.callsOf('changeJobState').map(({ path }) => path);
		expect(paths).toEqual([
			`/api/v1/namespaces/default/jobs/${encodeURIComponent(jobId)}/terminate`,
		]);
	});

	test.each(['={{ 12345678901234567890 }}', '={{ -9007199254740993 }}'])(
		'that is a number without all its digits is not sent: %s',
		async (jobId) => {
			const { error } = await fixture.engine.run({ parameters: change('terminate', { jobId }) });
			expect(error?.message).toMatch(/^'Job ID' is -?\d+, a number that has lost digits$/);
			expect(error?.description).toMatch(/in quotes/);
			expect(fixture.sandbox.calls).toEqual([]);
		},
	);

	test('that is not in the address may hold a slash', async () => {
		const parameters = create({ workflowUid: 'templates/etl', workCluster: clusterById('eu/c-1') });
		await fixture.engine.run({ parameters });
		expect(fixture.callsOf('createJob')).toMatchObject([
			{ body: { job: { workflow: { uid: 'templates/etl' }, workCluster: 'eu/c-1' } } },
		]);
	});

	test('that is a number with all its digits is sent', async () => {
		await fixture.engine.run({
			parameters: change('terminate', { jobId: '={{ 9007199254740991 }}' }),
		});
		expect(fixture.callsOf('changeJobState')).toMatchObject([
			{ path: expect.stringContaining('/9007199254740991/') },
		]);
	});
});

test.each([['9007199254740993'], ['={{ 1e300 }}']])(
	'a number that has lost digits: %s',
	async (priority) => {
		const { error } = await fixture.engine.run({
			parameters: create({ additionalFields: { priority } }),
		});
		expect(error?.message).toMatch(/^'Priority' is .*, which is too large to be exact$/);
		expect(fixture.sandbox.calls).toEqual([]);
	},
);

test('an operation that there is not, in a workflow that was not made in the editor', async () => {
	const { error } = await fixture.engine.run({
		parameters: { resource: 'job', operation: 'erase' },
	});
	expect(error).toMatchObject({
		message: 'The resource "job" has no operation "erase"',
		description: "Choose another 'Operation'.",
	});
	expect(fixture.sandbox.calls).toEqual([]);
});

test('a node that was given no credential', async () => {
	const { error } = await fixture.engine.run({
		parameters: create(),
		settings: { credentials: {} },
	});
	expect(error).toMatchObject({
		name: 'NodeOperationError',
		message: expect.stringMatching(/credential/),
		context: { itemIndex: 0 },
	});
	expect(fixture.sandbox.calls).toEqual([]);
});

test('a message of ours is not replaced by n8n, even with the name of a system error in it', async () => {
	const jobId = 'experiment-ENOENT';
	const { error } = await fixture.engine.run({ parameters: change('stop', { jobId }) });
	expect(error?.message).toBe(`No job '${jobId}' in namespace 'default'`);
});
