import type { INodeParameters } from 'n8n-workflow';

import {
	change,
	CLUSTER,
	clusterById,
	create,
	getAll,
	numbered,
	useSandbox,
} from '../support/fixture';

/*
 * The node refuses wrong values before it sends anything, and the error names the field. createJob.test.ts tests that
 * valid values arrive.
 */

const fixture = useSandbox();

const BIG = '7615917337495251231';

const of = (name: string) => (value: string) => create({ [name]: value });
const added = (name: string) => (value: string) => create({ additionalFields: { [name]: value } });
const option = (name: string) => (value: string) => create({ options: { [name]: value } });
const input = (part: string) => (value: string) =>
	create({ inputs: { input: [{ id: 'a', [part]: value }] } });

/** For each field, by the name that errors use, a function that returns the parameters of a node with this value. */
const fields = {
	Namespace: of('namespace'),
	'Workflow UID': of('workflowUid'),
	'Work Cluster': (id) => create({ workCluster: clusterById(id) }),
	'Display Name': of('displayName'),
	'Specify Inputs and Outputs': of('specifyParameters'),
	'Job Inputs (JSON)': (inputsJson) => create({ specifyParameters: 'json', inputsJson }),
	'Job Outputs (JSON)': (outputsJson) => create({ specifyParameters: 'json', outputsJson }),
	'Job Inputs (JSON) 2': (inputsJson) => create({ specifyParameters: 'json', inputsJson }),
	'Job Outputs (JSON) 1': (outputsJson) => create({ specifyParameters: 'json', outputsJson }),
	'Job Inputs 2 › ID': (id) => create({ inputs: { input: [{ id: 'a' }, { id }] } }),
	'Job Outputs 3 › ID': (id) => create({ outputs: { output: [{ id: 'b' }, { id: 'a' }, { id }] } }),
	'Job Inputs 1 › Value': input('value'),
	'Job Outputs 1 › Value': (value) => create({ outputs: { output: [{ id: 'a', value }] } }),
	'Job Inputs 1 › Value Type': input('type'),
	'Job Inputs 1 › Display Name': input('displayName'),
	'Metadata (JSON)': added('metadata'),
	Group: of('group'),
	Priority: added('priority'),
	Type: added('type'),
	'Max Job Retries': added('maxRetry'),
	'Job Retry Interval': added('retryInterval'),
	Workspace: added('workspace'),
	Simplify: of('simplify'),
	Concurrency: option('concurrency'),
	'Max Request Retries': option('maxRetries'),
	Timeout: option('timeout'),
	'Wait Until Called': option('waitUntilCalled'),
	'Wait Limit': (waitLimit) => create({ options: { waitUntilCalled: 'a', waitLimit } }),
	'Job ID': (jobId) => change('terminate', { jobId }),
	Limit: (limit) => getAll({ limit }),
	'Return All': (returnAll) => getAll({ returnAll }),
	'Raw Page': (rawPage) => getAll({ options: { rawPage } }),
	'Continue From': (token) => getAll({ options: { continue: token } }),
	'Create Again If Uncertain': option('createUncertainAgain'),
	'Page Size': (pageSize) => getAll({ options: { pageSize } }),
	Phase: (phase) => getAll({ filters: { phase } }),
} satisfies Record<string, (value: string) => INodeParameters>;

type Field = keyof typeof fields;

type Refused = Partial<Record<Field, string[]>>;

const js = (code: string) => `={{ ${code} }}`;
const inEach = (names: Field[], ...values: string[]): Refused =>
	Object.fromEntries(names.map((name) => [name, values]));

/**
 * Adds a test that the node refuses values with this kind of fault, and that each error has this advice. The messages
 * are in the snapshot.
 */
function areRefused(kind: string, advice: RegExp, refused: Refused): void {
	const cases = Object.entries(refused) as Array<[Field, string[]]>;
	const pairs = cases.flatMap(([field, values]) => values.map((value) => [field, value] as const));
	test(`the node sends nothing, and the error names the field, for ${kind}`, async () => {
		const said: string[] = [];
		for (const [field, value] of pairs) {
			const { error } = await fixture.engine.run({ parameters: fields[field](value) });
			const wanted = {
				name: 'NodeOperationError',
				context: { itemIndex: 0, httpStatus: null, jobMayExist: false },
				message: expect.stringMatching(/^Nothing was sent\. '.*\.$/) as unknown,
				description: expect.stringMatching(advice) as unknown,
			};
			expect([field, value, error]).toMatchObject([field, value, wanted]);
			said.push(`${error?.message.replace('Nothing was sent. ', '')} ${inAscii(value)}`);
		}
		expect(said.join('\n')).toMatchSnapshot();
		expect(fixture.sandbox.calls).toEqual([]);
	});
}

const inAscii = (text: string) =>
	text.replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The required fields that contain IDs. */
const ids: Field[] = [
	'Namespace',
	'Workflow UID',
	'Work Cluster',
	'Job Inputs 2 › ID',
	'Job Outputs 3 › ID',
	'Job ID',
];

areRefused('an empty required field', /^Fill it in\./, {
	...inEach([...ids, 'Display Name'], js('"  "'), js('null')),
	'Job Inputs (JSON)': ['[{"default":"5"}]', '[{"id":null}]'],
	'Job Outputs (JSON)': [js('[{ id: "a" }, { id: " " }]')],
});

/** The fields whose values are single expressions. Others are parts of JSON. */
const single = Object.keys(fields).filter((name) => !/JSON\) \d$/.test(name)) as Field[];

areRefused('an expression that gives nothing', /If nothing is meant, /, {
	...inEach(single, js('$json.absent'), js('undefined')),
	'Job Inputs (JSON)': [
		js('$json.absent'),
		'=[{ "id": "a", "default": "{{ $json.absent }}" }]',
		'=[{ "id": "a", "default": "{{ $json.absent ?? null }}" }, { "id": "b{{ $json.absent }}" }]',
	],
	'Job Inputs (JSON) 2': [js('[{ id: "a" }, { id: "b", default: $json.absent }]')],
	'Job Outputs (JSON) 1': [js('[{ id: "a", displayName: $json.absent }]')],
});

const withGap = '=Report {{ $json.nmae }}';
const jsonWithGap = '={ "a": "{{ $json.nmae }}" }';
const ownExpression =
	/^Check that the item has the field .* If nothing is meant, use \{\{ \$json\.nmae \?\? '' \}\}\.$/;
const longerExpression = /use \{\{ \(\$json\.a \? \$json\.b : undefined\) \?\? '' \}\}\.$/;

areRefused('a text with a longer expression that gives nothing', longerExpression, {
	'Display Name': ['=Report {{ $json.a ? $json.b : undefined }}'],
});

areRefused('a text with an expression that gives nothing', ownExpression, {
	...inEach(
		[...ids, 'Display Name', 'Group', 'Workspace', 'Type', 'Priority', 'Wait Until Called'],
		withGap,
	),
	...inEach(['Job Inputs 1 › Display Name', 'Job Inputs 1 › Value Type'], withGap),
	...inEach(['Phase', 'Continue From', 'Limit', 'Page Size', 'Timeout', 'Raw Page'], withGap),
	...inEach(
		['Job Inputs 1 › Value', 'Job Outputs 1 › Value'],
		'=/data/{{ $json.nmae }}/in.csv',
		'=/data/{{ $json.v ?? "" }}{{ $json.nmae }}\n',
		'={{ $json.nmae }} ',
		// Two backslashes don't escape the braces.
		'=\\\\srv\\\\{{ $json.nmae }}',
	),
	Group: [withGap, '=of {{$json.nmae}}'],
	'Metadata (JSON)': [jsonWithGap],
	'Job Inputs (JSON)': [`=[${jsonWithGap.slice(1)}]`],
});

areRefused('JSON from an expression in which a part is nothing', /let it give null\.$/, {
	'Metadata (JSON)': [js('({ a: [{ b: $json.nmae }] })')],
	'Job Inputs 1 › Value': [js('({ customer: $json.nmae })')],
	'Job Inputs (JSON)': [js('[{ id: "a", default: $json.nmae }]')],
});

test.each([
	['[{ "id": "a", "default": "5" }, { "id": "b" "default": "6" }]', /in JSON at position \d+/],
	['=[{ "id": "a", "default": "{{ $json.quoted }}" }]', /in JSON at position \d+/],
	['=[{ "id": "a", "default": "{{ $json.lines }}" }]', /in JSON at position \d+/],
])('the error for invalid JSON says where the fault is: %s', async (inputsJson, position) => {
	const items = [{ quoted: 'a "b" c', lines: 'a\nb' }];
	const parameters = fields['Job Inputs (JSON)'](inputsJson);
	const { error } = await fixture.engine.run({ parameters }, items);
	expect(error?.message).toBe("Nothing was sent. 'Job Inputs (JSON)' is not valid JSON.");
	expect(error?.description).toMatch(position);
	const [, expression] = /\{\{ (.*) \}\}/.exec(inputsJson) ?? [];
	const advice = `put it in by {{ JSON.stringify(${expression}) }}, without quotes around it`;
	if (expression !== undefined) expect(error?.description).toContain(advice);
});

areRefused('an ID that could change the path of the request', /^Enter the ID alone/, {
	...inEach([...ids, 'Workspace', 'Wait Until Called'], 'a/b', 'a\\b', 'a%2Fb', 'a;b', '..'),
	'Job ID': [
		...['.', '..', '..;x', '..;/x', '.. ;x', '..%2f..%2fx', '%2e%2e/x', 'a/../../b', '..\\\\x'],
		...['x%2F..%2F..', 'x;%3bx', 'x%0d%0ay', '%252e%252e%252fx', 'a%5Cb'],
		...['a\\0b', 'a\\nb', 'a\\u0085b'],
	].map((id) => js(`"${id}"`)),
	Namespace: ['..', '..%2f..%2fx', '%2e%2e/x'],
});

areRefused('a value that is not text', /^Enter text\. /, {
	...inEach(['Display Name', 'Group'], js('({ a: 1 })')),
	...inEach(['Type', 'Phase'], js('["Running"]')),
	'Work Cluster': [js('({ id: "wc-000001" })')],
	// Versions before the first release stored this shape.
	'Wait Until Called': [js('({ values: { limit: 5 } })')],
	'Job Inputs (JSON)': ['[{"id":["a"]}]'],
});

areRefused(
	'a value that is not a list of objects',
	/^Enter a list of objects|^[^.]*\. Check quotes/,
	{
		'Job Inputs (JSON)': [
			...['[{', '{}'],
			...['({ id: "a" })', '[{}, 3]', '[null]', '[{}, [1]]'].map(js),
			...['[new Date(0)]', '["x".repeat(41)]'].map(js),
		],
		'Job Outputs (JSON)': [js('[null]')],
	},
);

areRefused('a value that is not an object', /^Enter an object/, {
	'Metadata (JSON)': ['[]', js('7'), js('new Date(0)')],
});

areRefused('a value that is not one of the choices', /^Enter one of these: /, {
	Simplify: [js('"yes"'), js('" "')],
	'Specify Inputs and Outputs': ['JSON'],
});

areRefused('a value that JSON would omit or change', /Check the expression in the field\.$/, {
	'Job Inputs 1 › Value': [
		...['[1, [NaN]]', '({ rate: 2 / 0 })', '({ due: new Date("soon") })'],
		...['({ run: () => 1 })', '({ count: BigInt(5) })'],
		'({ toJSON: () => { throw new Error("no") } })',
	].map(js),
	'Metadata (JSON)': [js('({ it: [NaN] })')],
	'Job Inputs (JSON)': [js('[{ it: NaN }]'), '[{ "it": 1e400 }]'],
	'Display Name': [js('0 / 0')],
});

areRefused("a value that isn't a number, or is out of bounds", /^Enter a (whole )?number/, {
	Priority: [
		...['high', '1,000', js('" "'), js('Infinity'), js('[2]')],
		...['9007199254740993', '0x10', 'Infinity', js(BIG)],
	],
	'Job Retry Interval': [js('-1')],
	Timeout: [js('0'), '60s'],
	'Wait Limit': ['1e300', '525601', '-1', '0 / 0', '1 / 0', '"1e12"', '"an hour"'].map(js),
	...inEach(['Max Job Retries', 'Max Request Retries'], 'many', js('-1'), js('1.5')),
	...inEach(['Concurrency', 'Limit', 'Page Size'], 'many', js('0'), js('1.5')),
});

areRefused('a job parameter that the service would not understand', /^Rename it/, {
	'Job Inputs (JSON)': [
		'[{"id":"a","value":"5"}]',
		'[{"id":"a","value":0}]',
		'[{"id":"a","value":"5","default":""}]',
	],
	'Job Outputs (JSON)': [js('[{ id: "b" }, { id: "a", value: "5" }]')],
});

areRefused('an ID with invisible characters', /^Enter the ID alone/, {
	...inEach([...ids, 'Workspace', 'Wait Until Called'], 'ab\u200b', js('"ab\\u200b"')),
	'Workflow UID': [...'\u200b\u200c\u200e\u202e\u2066\u2060\u00ad\ufeff\u2063\ufe0f\n\ud83d'].map(
		(unseen) => ` ab${unseen}c`,
	),
	'Job Inputs (JSON)': ['[{ "id": "ab\\u200b" }]'],
});

areRefused('an expression with a mistake', /^n8n says: "[^"]{5,}"\. Correct the expression/, {
	'Display Name': [js('$("No such node").item.json.name'), js('$json.')],
	'Metadata (JSON)': [js('$("No such node").item.json')],
	'Work Cluster': [js('$json.')],
});

const withRef = (ref: string) => `[{ "id": "a", "default": "1", "ref": ${ref} }]`;

areRefused('a whole number that has too many digits', /put it in quotes/, {
	'Metadata (JSON)': [
		...['9007199254740992', '5.972e24', `-${BIG}`].map((number) => `{ "a": { "b": [${number}] } }`),
		js(`({ ref: ${BIG} })`),
	],
	'Job Inputs (JSON)': [
		withRef(BIG),
		withRef(`[1, 2.5, ${BIG}]`),
		`[{ "id": "a", "default": ${BIG} }]`,
		`\`\`\`json\n${withRef(BIG)}\n\`\`\``,
		`=${withRef(`{{ ${BIG} }}`)}`,
		js(withRef(`[${BIG}]`)),
	],
	'Job Outputs (JSON)': [withRef(BIG)],
	'Job Inputs 1 › Value': [js(`({ ref: [${BIG}] })`), js(BIG)],
	...inEach(['Job Inputs 1 › Display Name', 'Display Name', 'Workflow UID'], js(BIG)),
	Group: [js(`-${BIG}`)],
	Type: [js('1e20')],
	Workspace: [js('9007199254740993')],
	'Job ID': [js('12345678901234567890')],
});

test('long texts are read, and refused, without delay, and the error is short', async () => {
	const many = 200_000;
	const given = { n: '"\\'.repeat(many), digits: '1'.repeat(many), one: 1.5 };
	const startedAt = performance.now();
	await fixture.succeeds(fields['Metadata (JSON)'](JSON.stringify(given)));
	expect(fixture.sentJob()).toMatchObject({ metadata: given });
	for (const [field, value] of [
		['Priority', `${'1'.repeat(many)}x`],
		['Metadata (JSON)', `{"n":${'1'.repeat(many)}}`],
		['Metadata (JSON)', `{"n":"${'x'.repeat(many)}}`],
		['Metadata (JSON)', `{"n":[${'1,'.repeat(many)}]}`],
	] as const) {
		const { error } = await fixture.engine.run({ parameters: fields[field](value) });
		expect(error?.message).toContain(`Nothing was sent. '${field}' `);
		expect(`${error?.message} ${error?.description}`.length).toBeLessThan(400);
	}
	expect(performance.now() - startedAt).toBeLessThan(5_000);
});

describe('Several items with wrong values cause one error that', () => {
	const good = { v: 'a', g: '', p: 1, uid: 'a', json: '[]' };
	const parameters = create({
		workflowUid: '={{ $json.uid }}',
		displayName: '={{ $json.v }}',
		group: '={{ $json.g }}',
		additionalFields: { priority: '={{ $json.p }}' },
		...{ specifyParameters: 'json', inputsJson: '={{ $json.json }}' },
	});
	const empty = { v: '' };
	const invalid = { json: '[' };
	const kinds = numbered(12).map(({ n }) => [27 + Number(n), { p: `no ${n}` }] as const);
	const evenly = numbered(14).map(({ n }) => [2 * Number(n), empty] as const);

	test.each<[string, count: number, bad: Record<number, object>]>([
		['names ten others, and counts the rest', 40, Object.fromEntries([...evenly, ...kinds])],
		['names all items if all have the fault', 3, { 0: empty, 1: empty, 2: empty }],
		[
			'has the advice for the first fault',
			6,
			{ 1: { uid: 'a\u200b' }, 2: { v: 7e18 }, 3: invalid, 4: { json: '[{]' }, 5: invalid },
		],
	])('%s', async (_, count, bad) => {
		const items = numbered(count).map(({ n }) => ({ ...good, ...bad[Number(n)] }));
		const { error } = await fixture.engine.run({ parameters }, items);
		// Later releases of Node.js add the position in the text.
		const description = error?.description?.replace(/ \(line \d+ column \d+\)/g, '');
		expect(`${error?.message}\n${description}`).toMatchSnapshot();
		const itemIndex = Number(Object.keys(bad)[0]);
		expect(error).toMatchObject({ context: { itemIndex, httpStatus: null, jobMayExist: false } });
		expect(fixture.sandbox.calls).toEqual([]);
	});
});

test('with the error output, an item with a wrong value or option leaves through it, and the others are sent', async () => {
	const timeout = '={{ $json.v === "A" ? "soon" : 1000 }}';
	const parameters = create({ displayName: '={{ $json.v }}', options: { timeout } });
	const items = ['A', '', 'C'].map((v) => ({ v }));
	const onError = 'continueErrorOutput';
	const { branches, error } = await fixture.engine.run({ parameters, onError }, items);
	expect(error).toBeUndefined();
	expect(branches[0]?.map(({ json }) => json.displayName)).toEqual(['C']);
	const messages = [`'Timeout' is "soon", not a number of 1 or more`, "'Display Name' is empty"];
	const failed = branches[1]?.map(({ json }) => [json.v, json.message, json.error]);
	const unsent = { httpStatus: null, jobMayExist: false };
	expect(failed).toMatchObject([
		['A', messages[0], { itemIndex: 0, ...unsent }],
		['', messages[1], { itemIndex: 1, ...unsent }],
	]);
});

describe('In a workflow that was written by hand or by a language model,', () => {
	const { resource, operation, ...rest } = create();

	test.each<[string, INodeParameters]>([
		['The resource "job" has no operation "erase"', { resource, operation: 'erase' }],
		['The resource "job" has no operation "Create"', { resource, operation: 'Create' }],
		['The resource "job" has no operation "getAll"', { operation: 'getAll' }],
		['The resource "job" has no operation ""', { resource, operation: '' }],
		['There is no resource "Job"', { resource: 'Job', operation }],
		['There is no resource "{{ "job" }}"', { resource: '={{ "job" }}', operation }],
	])('the error says what to do, after: %s', async (message, named) => {
		const { error } = await fixture.engine.run({ parameters: { ...rest, ...named } });
		expect(error).toMatchObject({
			name: 'NodeOperationError',
			message,
			description: "Choose the node's Resource and Operation again, each from its list.",
		});
		expect(fixture.sandbox.calls).toEqual([]);
	});

	const wanted: INodeParameters[string][] = [
		CLUSTER,
		js(`"${CLUSTER}"`),
		...['', 'mode: "list"', 'mode: "name"', 'mode: null'].map((mode) =>
			js(`({ __rl: true, value: "${CLUSTER}", ${mode} })`),
		),
		js(`({ value: "${CLUSTER}" })`),
		{ mode: 'name', value: CLUSTER },
		// The value of Work Cluster in another node.
		clusterById(js(`({ __rl: true, mode: "list", value: "${CLUSTER}" })`)),
	];
	test.each<INodeParameters>([
		// A missing resource or operation has the value that it has in a new node.
		...[rest, { resource, ...rest }, { operation, ...rest }],
		...wanted.map((workCluster) => create({ workCluster })),
	])('Create runs with %j', async (parameters) => {
		await fixture.succeeds(parameters);
		expect(fixture.sentJob()).toMatchObject({ displayName: 'Report', workCluster: CLUSTER });
	});

	test.each<[INodeParameters, number]>([
		[{ returnAll: 'false', limit: 5 }, 5],
		[{ returnAll: js('"false"'), limit: '5' }, 5],
		[{ returnAll: '', limit: 5 }, 5],
		[{ returnAll: 'true', limit: 5 }, 6],
		[{ returnAll: js('true'), limit: 0, options: { rawPage: js('true') } }, 6],
		[{ limit: 5 }, 5],
	])('Get Many with %j lists %i clusters', async (parameters, count) => {
		expect((await fixture.succeeds(getAll(parameters))).items).toHaveLength(count);
	});
});

test('n8n can do other work while the node reads thousands of items', async () => {
	// By this clock, each look at it takes a millisecond, so the test doesn't depend on the speed of the machine.
	let now = Date.now();
	jest.spyOn(Date, 'now').mockImplementation(() => (now += 1));
	let readInTurn = 0;
	let mostInTurn = 0;
	fixture.engine.credentials.onRead = () => {
		mostInTurn = Math.max(mostInTurn, (readInTurn += 1));
	};
	const ticking = setInterval(() => (readInTurn = 0), 1);
	// Because of one wrong value, the node reads all items but sends nothing.
	const displayName = '={{ $json.n < 1499 ? `Job ${$json.n}` : "" }}';
	const parameters = create({ displayName });
	const { error } = await fixture.engine.run({ parameters }, numbered(1_500));
	clearInterval(ticking);
	expect(error).toMatchObject({ context: { itemIndex: 1_499 } });
	// A pause is due after ten milliseconds. Twenty items are read at the same time.
	expect(mostInTurn).toBeGreaterThan(0);
	expect(mostInTurn).toBeLessThan(100);
});
