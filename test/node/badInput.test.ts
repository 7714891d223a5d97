import type { INodeParameters } from 'n8n-workflow';

import {
	additionalFieldsOf,
	change,
	clusterById,
	create,
	getAll,
	numbered,
	useSandbox,
} from '../support/fixture';

/*
 * Bad input is found before anything is sent: the first item would have made a job.
 */

const fixture = useSandbox();

const additional = (name: string) => (value: string) =>
	create({ additionalFields: { [name]: value } });
const option = (name: string) => (value: string) => create({ options: { [name]: value } });
const anchors = (...anchor: INodeParameters[]) => ({ id: 'in-1', anchors: { anchor } });

/** The fields by what errors call them: a node that holds a value in the field, and a value that is right. */
const fields = {
	Namespace: [(namespace: string) => create({ namespace }), '"default"'],
	'Workflow UID': [(workflowUid: string) => create({ workflowUid }), '"a"'],
	'Work Cluster': [(id: string) => create({ workCluster: clusterById(id) }), '"a"'],
	'Display Name': [(displayName: string) => create({ displayName }), '"a"'],
	'Specify Inputs and Outputs': [
		(specifyParameters: string) => create({ specifyParameters }),
		'"json"',
	],
	'Job Inputs (JSON)': [
		(inputsJson: string) => create({ specifyParameters: 'json', inputsJson }),
		'"[]"',
	],
	'Job Outputs (JSON)': [
		(outputsJson: string) => create({ specifyParameters: 'json', outputsJson }),
		'[]',
	],
	'Job Inputs 2 › ID': [
		(id: string) => create({ inputs: { input: [{ id: 'a' }, { id }] } }),
		'"b"',
	],
	'Job Inputs 1 › Value': [
		(value: string) => create({ inputs: { input: [{ id: 'a', value }] } }),
		'"a"',
	],
	'Job Outputs 1 › Anchors 2 › Source Anchor': [
		(sourceAnchor: string) =>
			create({
				outputs: {
					output: [anchors({ source: 'a', sourceAnchor: 'b' }, { source: 'a', sourceAnchor })],
				},
			}),
		'"a"',
	],
	'Job Inputs 1 › Anchors 1 › Source': [
		(source: string) => create({ inputs: { input: [anchors({ source, sourceAnchor: 'b' })] } }),
		'"a"',
	],
	'Metadata (JSON)': [additional('metadata'), '{}'],
	Group: [(group: string) => create({ group }), '"a"'],
	Priority: [additional('priority'), '1'],
	Type: [additional('type'), '"a"'],
	'Max Job Retries': [additional('maxRetry'), '1'],
	'Job Retry Interval': [additional('retryInterval'), '1'],
	Workspace: [additional('workspace'), '"a"'],
	Simplify: [(simplify: string) => create({ simplify }), 'true'],
	Concurrency: [option('concurrency'), '5'],
	'If It Fails or Is Cancelled': [option('ifStopped'), '"stop"'],
	'Max Request Retries': [option('maxRetries'), '1'],
	Timeout: [option('timeout'), '1000'],
	'Job ID': [(jobId: string) => change('terminate', { jobId }), '"a"'],
	Limit: [(limit: string) => getAll({ limit }), '1'],
	'Page Size': [(pageSize: string) => getAll({ options: { pageSize } }), '1'],
	Phase: [(phase: string) => getAll({ filters: { phase } }), '""'],
} satisfies Record<string, [(value: string) => INodeParameters, string]>;

type Field = keyof typeof fields;

/** What can lead a request elsewhere once a proxy or a server has decoded it, and what of it is named. */
const unsafe = {
	'..%2f..%2fx': '"%2f"',
	'%2e%2e/x': '"%2e"',
	'a/../../b': '"/"',
	'..\\\\x': '"\\"',
	'x%2F..%2F..': '"%2F"',
	'x;%3bx': '"%3b"',
	'x%0d%0ay': '"%0d"',
	'%252e%252e%252fx': '"%25"',
	'a%5Cb': '"%5C"',
	'a\\0b': 'a control character',
	'a\\nb': 'a control character',
	'a\\u0085b': 'a control character',
};

/** What JSON would leave out or change. */
const lost = [
	'[1, [NaN]]',
	'({ rate: 2 / 0 })',
	'({ due: new Date("soon") })',
	'new Set(["a"])',
	'({ map: new Map() })',
	'[/x/]',
	'({ run: () => 1 })',
	'({ count: BigInt(5) })',
	'({ toJSON: () => { throw new Error("no") } })',
];

/** A field, the JavaScript of a value that is wrong in it, and what the error says of it. */
const cases: Array<[Field, string, string]> = [
	...(
		[
			'Namespace',
			'Workflow UID',
			'Work Cluster',
			'Display Name',
			'Job Inputs 2 › ID',
			'Job Outputs 1 › Anchors 2 › Source Anchor',
			'Job Inputs 1 › Anchors 1 › Source',
			'Job ID',
		] as const
	).flatMap((field): typeof cases => [
		[field, '""', 'is empty'],
		[field, '"  "', 'is empty'],
	]),
	...(['Namespace', 'Job ID'] as const).flatMap((field): typeof cases => [
		...['.', '..', '..;x', '..;/x', '.. ;x'].map((id): (typeof cases)[number] => [
			field,
			`"${id}"`,
			`is "${id}", which isn't an ID`,
		]),
		...Object.entries(unsafe).map(([id, name]): (typeof cases)[number] => [
			field,
			`"${id}"`,
			`contains ${name}, which can change the address of the request`,
		]),
		[field, '"\\ud83d"', 'contains an incomplete character, such as half of an emoji'],
		[field, '12345678901234567890', 'is 12345678901234567000, a number that has lost digits'],
		[field, '-9007199254740993', 'is -9007199254740992, a number that has lost digits'],
	]),
	['Workspace', '9007199254740993', 'is 9007199254740992, a number that has lost digits'],
	['Display Name', '({ a: 1 })', 'is an object, not text'],
	['Display Name', '0 / 0', "can't be sent as JSON"],
	['Group', '({ a: 1 })', 'is an object, not text'],
	['Type', '["normal"]', 'is a list, not text'],
	['Phase', '["Running"]', 'is a list, not text'],
	...(['Job Inputs (JSON)', 'Job Outputs (JSON)'] as const).flatMap((field): typeof cases => [
		[field, '"[{"', 'is not valid JSON'],
		[field, '"{}"', 'is an object, not a list'],
		[field, '({ id: "a" })', 'is an object, not a list'],
		[field, '[{}, 3]', 'has 3 at position 2, not an object'],
		[field, '[null]', 'has nothing at position 1, not an object'],
		[field, '[{}, [1]]', 'has a list at position 2, not an object'],
		[field, '[new Date(0)]', 'has "1970-01-01T00:00:00.000Z" at position 1, not an object'],
		[field, '["x".repeat(41)]', 'has a long text at position 1, not an object'],
	]),
	['Metadata (JSON)', '[]', 'is a list, not an object'],
	['Metadata (JSON)', '7', 'is 7, not an object'],
	['Metadata (JSON)', 'new Date(0)', 'is "1970-01-01T00:00:00.000Z", not an object'],
	...lost.flatMap((value): typeof cases => [
		['Job Inputs 1 › Value', value, "can't be sent as JSON"],
		['Metadata (JSON)', `({ it: ${value} })`, "can't be sent as JSON"],
		['Job Inputs (JSON)', `[{ it: ${value} }]`, "can't be sent as JSON"],
	]),
	['Priority', '"high"', 'is "high", not a number'],
	['Priority', '"1,000"', 'is "1,000", not a number'],
	['Priority', '" "', 'is " ", not a number'],
	['Priority', 'Infinity', 'is Infinity, not a number'],
	['Priority', '[2]', 'is a list, not a number'],
	['Priority', '"9007199254740993"', 'is "9007199254740993", which is too large to be exact'],
	['Priority', '1e300', 'is 1e+300, which is too large to be exact'],
	['Job Retry Interval', '-1', 'is -1, which is too small'],
	['Timeout', '0', 'is 0, which is too small'],
	['Timeout', '"60s"', 'is "60s", not a number'],
	...(['Max Job Retries', 'Max Request Retries'] as const).flatMap((field): typeof cases => [
		[field, '"many"', 'is "many", not a number'],
		[field, '-1', 'is -1, which is too small'],
		[field, '1.5', 'is 1.5, not a whole number'],
	]),
	...(['Concurrency', 'Limit', 'Page Size'] as const).flatMap((field): typeof cases => [
		[field, '"many"', 'is "many", not a number'],
		[field, '0', 'is 0, which is too small'],
		[field, '1.5', 'is 1.5, not a whole number'],
	]),
	['Simplify', '"yes"', 'is "yes", not one of the choices'],
	['If It Fails or Is Cancelled', '"end"', 'is "end", not one of the choices'],
	['Specify Inputs and Outputs', '"JSON"', 'is "JSON", not one of the choices'],
];

test.each(cases)("'%s' that is %s %s", async (field, value, problem) => {
	const [nodeWith, right] = fields[field];
	const parameters = nodeWith(`={{ $json.n === 0 ? ${right} : ${value} }}`);
	const { error } = await fixture.engine.run({ parameters }, numbered(2));
	const comma = problem.includes(',') ? ',' : '';
	expect(error?.message).toBe(
		`Nothing was sent. '${field}' ${problem}${comma} for item 1 (counted from 0).`,
	);
	expect(error).toMatchObject({ name: 'NodeOperationError', context: { itemIndex: 1 } });
	expect(error?.description).toMatch(/\S{3}/);
	expect(fixture.sandbox.calls).toEqual([]);
});

test('each additional field has wrong values here', () => {
	const tried = new Set<string>(cases.map(([field]) => field));
	const labels = additionalFieldsOf(fixture.engine).map(({ label }) => label);
	expect(labels.filter((label) => !tried.has(label))).toEqual([]);
});

describe('Several bad items', () => {
	const parameters = create({ displayName: '={{ $json.v }}', group: '={{ $json.g }}' });
	const itemsWith = (bad: Record<number, object>, count = 20) =>
		numbered(count).map(({ n }) => ({ v: 'a', g: '', ...bad[Number(n)] }));

	test('are one error that names all of them', async () => {
		const bad = { 4: { v: '' }, 14: { v: '' } };
		const { error } = await fixture.engine.run({ parameters }, itemsWith(bad));
		expect(error?.message).toBe(
			"Nothing was sent. 'Display Name' is empty for items 4 and 14 (counted from 0).",
		);
		expect(error?.description).toMatch(/^Fill it in\. .*$/);
		expect(error).toMatchObject({ context: { itemIndex: 4, createdJobs: [], uncertainItems: [] } });
		expect(fixture.sandbox.calls).toEqual([]);
	});

	test('of different kinds are listed by what is wrong', async () => {
		const bad = { 2: { v: '' }, 3: { g: [] }, 5: { v: '' }, 7: { v: {} }, 9: { v: '' } };
		const { error } = await fixture.engine.run({ parameters }, itemsWith(bad));
		expect(error?.message).toBe(
			"Nothing was sent. 'Display Name' is empty for items 2, 5 and 9 (counted from 0).",
		);
		expect(error?.description?.split('\n').slice(1)).toEqual([
			expect.stringMatching(/^'Group' is a list, not text, for item 3\. Enter text\. /),
			expect.stringMatching(/^'Display Name' is an object, not text, for item 7\. Enter text\. /),
		]);
	});

	test('are ten by number, and ten by kind, with the rest counted', async () => {
		const empty = Object.fromEntries(numbered(14).map(({ n }) => [2 * Number(n), { v: '' }]));
		const kinds = numbered(12).map(({ n }) => [27 + Number(n), { p: `no ${n}` }]);
		const { error } = await fixture.engine.run(
			{ parameters: { ...parameters, additionalFields: { priority: '={{ $json.p }}' } } },
			itemsWith({ ...empty, ...Object.fromEntries(kinds) }, 40),
		);
		expect(error?.message).toBe(
			"Nothing was sent. 'Display Name' is empty for items 0, 2, 4, 6, 8, 10, 12, 14, 16, 18 and 4 more (counted from 0).",
		);
		expect(error?.description).toContain(`'Priority' is "no 9", not a number, for item 36. Enter`);
		expect(error?.description).toMatch(/\nAnd 2 more\.$/);
		expect(error?.description).not.toContain('no 10');
	});

	test('are not listed if they are all', async () => {
		const all = Object.fromEntries(numbered(20).map(({ n }) => [n, { v: '' }]));
		const { error } = await fixture.engine.run({ parameters }, itemsWith(all));
		expect(error?.message).toBe("Nothing was sent. 'Display Name' is empty for all 20 items.");
	});

	test('an only item needs no number', async () => {
		const { error } = await fixture.engine.run({
			parameters: create({ displayName: '={{ "" }}' }),
		});
		expect(error?.message).toBe("Nothing was sent. 'Display Name' is empty.");
		expect(error?.description).toMatch(/^Fill it in\. [^\n]*$/);
	});
});

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
			message: `'If It Fails or Is Cancelled' is "end", not one of the choices`,
			error: { itemIndex: 0, httpStatus: null, jobMayExist: false },
		},
		{ metadata: { uid: expect.any(String) } },
	]);
});

test.each<[string, INodeParameters, string]>([
	[
		'a node that is gone',
		{ displayName: '={{ $("No such node").item.json.name }}' },
		'Display Name',
	],
	['a part that is no expression', { displayName: '={{ $json. }}' }, 'Display Name'],
	[
		'a member of a collection',
		{ additionalFields: { metadata: '={{ $("No such node").item.json }}' } },
		'Additional Fields',
	],
	['a resource locator', { workCluster: '={{ $json. }}' }, 'Work Cluster'],
])('an expression with a mistake names its field: %s', async (_, parameters, field) => {
	const { error } = await fixture.engine.run({ parameters: create(parameters) });
	expect(error?.message).toBe(`Nothing was sent. '${field}' has an invalid expression.`);
	expect(error?.description).toMatch(/^n8n says: "[^"]{5,}"\. Correct the expression/);
	expect(fixture.sandbox.calls).toEqual([]);
});

test('an operation that there is not, in a workflow that was not made in the editor', async () => {
	const { error } = await fixture.engine.run({
		parameters: { resource: 'job', operation: 'erase' },
	});
	expect(error).toMatchObject({
		message: 'The resource "job" has no operation "erase"',
		description: expect.stringContaining('job: create, job: resume'),
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
	const sent = await fixture.engine.run({ parameters: change('stop', { jobId }) });
	expect(sent.error?.message).toBe(`No job '${jobId}' in namespace 'default'`);
	const bad = await fixture.engine.run({
		parameters: change('stop', { jobId: '%2fECONNREFUSED/' }),
	});
	expect(bad.error?.message).toMatch(/^Nothing was sent\. 'Job ID' contains "%2f"/);
	const option = await fixture.engine.run({ parameters: getAll({ limit: '={{ "ENOENT" }}' }) });
	expect(option.error?.message).toBe(`Nothing was sent. 'Limit' is "ENOENT", not a number.`);
});
