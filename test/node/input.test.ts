import fc from 'fast-check';
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import {
	additionalFieldsOf,
	change,
	CLUSTER,
	clusterById,
	create,
	getAll,
	numbered,
	useSandbox,
} from '../support/fixture';
import '../reliability/seed';

/*
 * What goes in is what was meant: it arrives as it is, or it is refused before anything is sent, by the name of its field.
 */

const fixture = useSandbox();

const BIG = '7615917337495251231';
/** The same once JavaScript has read it. */
const ROUNDED = '7615917337495251000';

const of = (name: string) => (value: string) => create({ [name]: value });
const added = (name: string) => (value: string) => create({ additionalFields: { [name]: value } });
const option = (name: string) => (value: string) => create({ options: { [name]: value } });
const input = (part: string) => (value: string) =>
	create({ inputs: { input: [{ id: 'a', [part]: value }] } });
const anchored = (...anchor: INodeParameters[]) =>
	create({ inputs: { input: [{ id: 'a', anchors: { anchor } }] } });

/** A node that holds a value in a field, by what errors call the field. */
const fields = {
	Namespace: of('namespace'),
	'Workflow UID': of('workflowUid'),
	'Work Cluster': (id) => create({ workCluster: clusterById(id) }),
	'Display Name': of('displayName'),
	'Specify Inputs and Outputs': of('specifyParameters'),
	'Job Inputs (JSON)': (inputsJson) => create({ specifyParameters: 'json', inputsJson }),
	'Job Outputs (JSON)': (outputsJson) => create({ specifyParameters: 'json', outputsJson }),
	'Job Inputs 2 › ID': (id) => create({ inputs: { input: [{ id: 'a' }, { id }] } }),
	'Job Outputs 3 › ID': (id) => create({ outputs: { output: [{ id: 'b' }, { id: 'a' }, { id }] } }),
	'Job Inputs 1 › Value': input('value'),
	'Job Inputs 1 › Value Type': input('type'),
	'Job Inputs 1 › Display Name': input('displayName'),
	'Job Inputs 1 › Anchors 1 › Source': (source) => anchored({ source, sourceAnchor: 'b' }),
	'Job Inputs 1 › Anchors 2 › Source Anchor': (sourceAnchor) =>
		anchored({ source: 'a', sourceAnchor: 'b' }, { source: 'a', sourceAnchor }),
	'Metadata (JSON)': added('metadata'),
	Group: of('group'),
	Priority: added('priority'),
	Type: added('type'),
	'Max Job Retries': added('maxRetry'),
	'Job Retry Interval': added('retryInterval'),
	Workspace: added('workspace'),
	Simplify: of('simplify'),
	Concurrency: option('concurrency'),
	'If It Fails or Is Cancelled': option('ifStopped'),
	'Max Request Retries': option('maxRetries'),
	Timeout: option('timeout'),
	'Job ID': (jobId) => change('terminate', { jobId }),
	Limit: (limit) => getAll({ limit }),
	'Page Size': (pageSize) => getAll({ options: { pageSize } }),
	Phase: (phase) => getAll({ filters: { phase } }),
} satisfies Record<string, (value: string) => INodeParameters>;

type Field = keyof typeof fields;

/** A field, what it holds, and what the error says of it, or of a part of it. */
type Refused = [field: Field, value: string, problem: string, part?: string];

const js = (code: string) => `={{ ${code} }}`;

const tried = new Set<string>();

function areRefused(advice: RegExp, cases: Refused[]): void {
	for (const [field] of cases) tried.add(field);
	test.each(cases)("'%s' that is %s %s", async (field, value, problem, part = '') => {
		const { error } = await fixture.engine.run({ parameters: fields[field](value) });
		expect(error?.message).toBe(`Nothing was sent. '${field}${part}' ${problem}.`);
		expect(error?.description).toMatch(advice);
		expect(error).toMatchObject({ name: 'NodeOperationError', context: { itemIndex: 0 } });
		expect(fixture.sandbox.calls).toEqual([]);
	});
}

/** The job of the only create. */
function sentJob(): unknown {
	const calls = fixture.callsOf('createJob');
	expect(calls).toHaveLength(1);
	return (calls[0]?.body as { job: object }).job;
}

/** The fields that hold IDs, which have to be there. */
const ids: Field[] = [
	'Namespace',
	'Workflow UID',
	'Work Cluster',
	'Job Inputs 2 › ID',
	'Job Outputs 3 › ID',
	'Job Inputs 1 › Anchors 1 › Source',
	'Job Inputs 1 › Anchors 2 › Source Anchor',
	'Job ID',
];

describe('Nothing where something has to be:', () => {
	areRefused(/^Fill it in\./, [
		...[...ids, 'Display Name' as const].map((field): Refused => [field, js('"  "'), 'is empty']),
		['Namespace', js('""'), 'is empty'],
		['Work Cluster', js('({ __rl: true, value: "" })'), 'is empty'],
		['Job ID', js('$json.absent'), 'is empty'],
		['Job Inputs (JSON)', '[{"default":"5"}]', 'is empty', ' 1 › ID'],
		['Job Inputs (JSON)', '[{"id":null}]', 'is empty', ' 1 › ID'],
		['Job Outputs (JSON)', js('[{ id: "a" }, { id: " " }]'), 'is empty', ' 2 › ID'],
	]);
});

describe('An ID that could lead elsewhere once a proxy or a server has decoded it:', () => {
	const named = {
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
	const contains = (field: Field) =>
		Object.entries(named).map(([id, name]): Refused => {
			return [
				field,
				js(`"${id}"`),
				`contains ${name}, which can change the address of the request`,
			];
		});
	areRefused(/^Enter the ID alone/, [
		...['.', '..', '..;x', '..;/x', '.. ;x'].map((id): Refused => {
			return ['Job ID', js(`"${id}"`), `is "${id}", which isn't an ID`];
		}),
		['Namespace', js('".."'), `is "..", which isn't an ID`],
		...contains('Job ID'),
		...contains('Namespace').slice(0, 2),
	]);
});

describe('What is of another kind:', () => {
	areRefused(/^Enter text\. /, [
		['Display Name', js('({ a: 1 })'), 'is an object, not text'],
		['Group', js('({ a: 1 })'), 'is an object, not text'],
		['Type', js('["normal"]'), 'is a list, not text'],
		['Phase', js('["Running"]'), 'is a list, not text'],
		['Work Cluster', js('({ id: "wc-000001" })'), 'is an object, not text'],
		['Job Inputs (JSON)', '[{"id":["a"]}]', 'is a list, not text', ' 1 › ID'],
	]);
	areRefused(/^Enter a list of objects|^[^.]*\. Check quotes/, [
		['Job Inputs (JSON)', '[{', 'is not valid JSON'],
		['Job Inputs (JSON)', '{}', 'is an object, not a list'],
		['Job Inputs (JSON)', js('({ id: "a" })'), 'is an object, not a list'],
		['Job Inputs (JSON)', js('[{}, 3]'), 'has 3 at position 2, not an object'],
		['Job Inputs (JSON)', js('[null]'), 'has nothing at position 1, not an object'],
		['Job Inputs (JSON)', js('[{}, [1]]'), 'has a list at position 2, not an object'],
		[
			'Job Inputs (JSON)',
			js('[new Date(0)]'),
			'has "1970-01-01T00:00:00.000Z" at position 1, not an object',
		],
		['Job Inputs (JSON)', js('["x".repeat(41)]'), 'has a long text at position 1, not an object'],
		['Job Outputs (JSON)', js('[null]'), 'has nothing at position 1, not an object'],
	]);
	areRefused(/^Enter an object/, [
		['Metadata (JSON)', '[]', 'is a list, not an object'],
		['Metadata (JSON)', js('7'), 'is 7, not an object'],
		['Metadata (JSON)', js('new Date(0)'), 'is "1970-01-01T00:00:00.000Z", not an object'],
	]);
	areRefused(/^Enter one of these: /, [
		['Simplify', js('"yes"'), 'is "yes", not one of the choices'],
		['If It Fails or Is Cancelled', 'end', 'is "end", not one of the choices'],
		['Specify Inputs and Outputs', 'JSON', 'is "JSON", not one of the choices'],
	]);
});

describe('What JSON would leave out or change:', () => {
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
	areRefused(/Check the expression that the field holds\.$/, [
		...lost.map((value): Refused => {
			return ['Job Inputs 1 › Value', js(value), "can't be sent as JSON"];
		}),
		['Metadata (JSON)', js('({ it: [NaN] })'), "can't be sent as JSON"],
		['Job Inputs (JSON)', js('[{ it: new Map() }]'), "can't be sent as JSON"],
		['Display Name', js('0 / 0'), "can't be sent as JSON"],
	]);
});

describe("What isn't a number, or is out of bounds:", () => {
	areRefused(/^Enter a (whole )?number/, [
		['Priority', 'high', 'is "high", not a number'],
		['Priority', '1,000', 'is "1,000", not a number'],
		['Priority', js('" "'), 'is " ", not a number'],
		['Priority', js('Infinity'), 'is Infinity, not a number'],
		['Priority', js('[2]'), 'is a list, not a number'],
		['Priority', '9007199254740993', 'is "9007199254740993", which is too large to be exact'],
		['Priority', js('1e300'), 'is 1e+300, which is too large to be exact'],
		['Priority', '0.1234567890123456789', 'is "0.1234567890123456789", which has too many digits'],
		['Job Retry Interval', js('-1'), 'is -1, which is too small'],
		['Timeout', js('0'), 'is 0, which is too small'],
		['Timeout', '60s', 'is "60s", not a number'],
		...(['Max Job Retries', 'Max Request Retries'] as const).flatMap((field): Refused[] => [
			[field, 'many', 'is "many", not a number'],
			[field, js('-1'), 'is -1, which is too small'],
			[field, js('1.5'), 'is 1.5, not a whole number'],
		]),
		...(['Concurrency', 'Limit', 'Page Size'] as const).flatMap((field): Refused[] => [
			[field, 'many', 'is "many", not a number'],
			[field, js('0'), 'is 0, which is too small'],
			[field, js('1.5'), 'is 1.5, not a whole number'],
		]),
	]);
});

describe('A number whose digits would not arrive:', () => {
	const would = (number = BIG) => `contains ${number}, a number that would lose digits`;
	const HAS = `contains ${ROUNDED}, a number that has lost digits`;
	const is = (number = ROUNDED) => `is ${number}, a number that has lost digits`;
	const withRef = (ref: string) => `[{ "id": "a", "default": "1", "ref": ${ref} }]`;
	const inText = ['-1e16', '1e400', '1e-400', '5.1e-324', '9007199254740992', `-${BIG}`];
	const long = ['0.1234567890123456789', '12345678901234567890.5', '0.10000000000000001'];

	areRefused(/put it in quotes/, [
		...[...inText, ...long].map((number): Refused => {
			return ['Metadata (JSON)', `{ "a": { "b": [${number}] } }`, would(number)];
		}),
		['Job Inputs (JSON)', withRef(BIG), would()],
		['Job Inputs (JSON)', withRef(`[1, 2.5, ${BIG}, 1e999]`), would()],
		['Job Outputs (JSON)', withRef(BIG), would()],
		['Job Inputs (JSON)', `[{ "id": "a", "default": ${BIG} }]`, would()],
		['Job Inputs (JSON)', `\`\`\`json\n${withRef(BIG)}\n\`\`\``, would()],
		['Job Inputs (JSON)', `=${withRef(`{{ ${BIG} }}`)}`, would(ROUNDED)],
		['Metadata (JSON)', `{ "1e999": "\\\\", "b\\"": "9e99\\"", "c": ${BIG} }`, would()],
		['Job Inputs (JSON)', js(withRef(`[${BIG}]`)), HAS],
		['Metadata (JSON)', js(`({ ref: ${BIG} })`), HAS],
		['Job Inputs 1 › Value', js(`({ ref: [${BIG}] })`), HAS],
		['Job Inputs 1 › Value', js(BIG), is()],
		['Job Inputs 1 › Display Name', js(BIG), is()],
		['Display Name', js(BIG), is()],
		['Group', js(`-${BIG}`), is(`-${ROUNDED}`)],
		['Type', js('1e21'), is('1e+21')],
		['Workflow UID', js(BIG), is()],
		['Workspace', js('9007199254740993'), is('9007199254740992')],
		['Job ID', js('12345678901234567890'), is('12345678901234567000')],
	]);

	test('also as the tool of an agent, which is told', async () => {
		const parameters = fields['Job Inputs (JSON)']("={{ $fromAI('inputs', 'Inputs', 'string') }}");
		const fenced = '```json\n[{ "id": "a", "default": "5" }]\n```';
		const calls = [{ inputs: withRef(BIG) }, { inputs: fenced }];
		const { answers } = await fixture.engine.callTool({ parameters }, calls);
		expect(answers[0]).toContain(`'Job Inputs (JSON)' ${would()}`);
		expect(sentJob()).toMatchObject({ inputs: [{ id: 'a', default: '5' }] });
	});

	test('a long text of digits, quotes and escapes takes no long time, and no long error', async () => {
		const million = 1_000_000;
		const given = { n: '"\\'.repeat(million), digits: '1'.repeat(million), one: 1.5 };
		const metadata = (text: string) => fixture.engine.run({ parameters: added('metadata')(text) });
		await metadata(JSON.stringify(given));
		expect(sentJob()).toMatchObject({ metadata: given });
		const zeros = '0'.repeat(million);
		for (const bad of ['1'.repeat(million), `0.${zeros}1`, `1${zeros}.5`]) {
			const { error } = await metadata(`{"n":${bad}}`);
			expect(error?.message).toMatch(/contains [\d.]{40}…, a number that would lose digits\.$/);
		}
	});
});

describe('A parameter that the service would not understand:', () => {
	const wrongName = 'has "value" instead of "default"';
	const twice = 'has an object with the same name twice';
	const earlier = (id = 'a') => `is "${id}", which an earlier one has`;
	areRefused(/^(Remove|Rename) /, [
		['Metadata (JSON)', '{"a":1,"a":2}', twice],
		['Job Inputs (JSON)', '[{"id":"a","default":"1","default":"2"}]', twice],
		['Job Inputs (JSON)', '[{"id":"a","value":"5"}]', wrongName, ' 1'],
		['Job Inputs (JSON)', '[{"id":"a","value":0}]', wrongName, ' 1'],
		['Job Inputs (JSON)', '[{"id":"a","value":"5","default":""}]', wrongName, ' 1'],
		['Job Outputs (JSON)', js('[{ id: "b" }, { id: "a", value: "5" }]'), wrongName, ' 2'],
		['Job Inputs (JSON)', '[{"id":"a"},{"id":"b"},{"id":"a"}]', earlier(), ' 3 › ID'],
		['Job Inputs (JSON)', '[{"id":"1"},{"id":1}]', earlier('1'), ' 2 › ID'],
		['Job Inputs 2 › ID', 'a', earlier()],
		['Job Inputs 2 › ID', js('"A".toLowerCase()'), earlier()],
		['Job Outputs 3 › ID', ' a', earlier()],
	]);
});

describe('Invisible characters in an ID, by name and place:', () => {
	const named = {
		'\u200c': 'a zero-width joiner (U+200C)',
		'\u200e': 'a direction mark (U+200E)',
		'\u202e': 'a direction mark (U+202E)',
		'\u2066': 'a direction mark (U+2066)',
		'\u2060': 'a word joiner (U+2060)',
		'\u00ad': 'a soft hyphen (U+00AD)',
		'\ufeff': 'a byte order mark (U+FEFF)',
		'\u2063': 'an invisible character (U+2063)',
		'\ufe0f': 'an invisible character (U+FE0F)',
		'\n': 'an invisible character (U+000A)',
	};
	const id = 'ab\u200b';
	const zeroWidth = 'contains a zero-width space (U+200B) at position 3';
	areRefused(/^Enter the ID alone/, [
		...Object.entries(named).map(([character, it]): Refused => {
			return ['Workflow UID', ` ab${character}c`, `contains ${it} at position 3`];
		}),
		...[...ids, 'Workspace' as const].map((field): Refused => [field, id, zeroWidth]),
		['Job ID', js('"ab\\u200b"'), zeroWidth],
		['Job Inputs (JSON)', '[{ "id": "ab\\u200b" }]', zeroWidth, ' 1 › ID'],
	]);
});

describe('Half of a surrogate pair:', () => {
	const half = 'contains an incomplete character, such as half of an emoji';
	/** An expression that cuts text in the middle of an emoji. */
	const cut = js('"a🚀".slice(0, 2)');
	const end = '"🚀".slice(1)';
	areRefused(/^Text was cut/, [
		['Display Name', cut, half],
		['Display Name', js(end), half],
		['Group', `=x ${cut.slice(1)}`, half],
		['Workflow UID', cut, half],
		['Namespace', cut, half],
		['Type', cut, half],
		['Metadata (JSON)', js(`({ a: { b: ${end} } })`), half],
		['Metadata (JSON)', js(`({ [${end}]: 1 })`), half],
		['Metadata (JSON)', '{ "\\ud83d": "\\ude80" }', half],
		['Job Inputs (JSON)', '[{ "id": "a", "default": "\\ude80\\ud83d" }]', half],
		['Job Inputs 1 › Value', cut, half],
		['Job Inputs 1 › Value', js(`[${end}]`), half],
		['Job Inputs 1 › Value Type', cut, half],
		['Job ID', cut, half],
	]);
});

test('each additional field has wrong values here', () => {
	const labels = additionalFieldsOf(fixture.engine).map(({ label }) => label);
	expect(labels.filter((label) => !tried.has(label))).toEqual([]);
});

describe('Arrives as it is:', () => {
	const list = [{ id: 'a', default: '5' }];
	const text = JSON.stringify(list);
	const json = fields['Job Inputs (JSON)'];
	const metadata = added('metadata');
	const sent = (records: object[]) => [json(JSON.stringify(records)), { inputs: records }] as const;

	test.each<readonly [INodeParameters, object]>([
		[
			metadata(
				'{"n":[1.5,1e3,1.5E-7,123456789012.25,-0.10,9007199254740991,3.141592653589793,0.0e9]}',
			),
			{
				metadata: {
					n: [1.5, 1000, 1.5e-7, 123456789012.25, -0.1, 9007199254740991, 3.141592653589793, 0],
				},
			},
		],
		[input('value')(BIG), { inputs: [{ default: BIG }] }],
		[input('value')(`{"n":${BIG}}`), { inputs: [{ default: `{"n":${BIG}}` }] }],
		sent([{ id: 'a', ref: BIG }]),
		sent([{ id: 'a', options: [{ value: 1 }] }]),
		sent([{ id: 'a', default: '', more: null }, { id: 'b' }]),
		[
			create({ inputs: { input: [{ id: 'a' }] }, outputs: { output: [{ id: 'a' }] } }),
			{ inputs: [{ id: 'a' }], outputs: [{ id: 'a' }] },
		],
		[of('namespace')(js('42')), { namespace: '42' }],
		[of('displayName')('👩‍🚀 e\u0301\u200b'), { displayName: '👩‍🚀 e\u0301\u200b' }],
		[of('workflowUid')('Zürich–東京 🚀'), { workflow: { uid: 'Zürich–東京 🚀' } }],
		[metadata('{"a":"```json\\n[]\\n```"}'), { metadata: { a: '```json\n[]\n```' } }],
		[metadata('```\n{"a":1}\n```'), { metadata: { a: 1 } }],
		...[
			`\`\`\`json\n${text}\n\`\`\``,
			`\`\`\`\n${text}\n\`\`\`\n`,
			`\n  ~~~ JSON\r\n${text}\r\n~~~`,
			`\`\`\`\`json title="a"\n${text}\n\`\`\`\``,
			`\`\`\`json ${text} \`\`\``,
			`\ufeff${text}`,
		].map((fenced) => [json(fenced), { inputs: list }] as const),
	])('%j', async (parameters, job) => {
		// The sandbox refuses unknown fields, which is no matter here.
		await fixture.engine.run({ parameters });
		expect(sentJob()).toMatchObject(job);
	});

	test.each([
		['0.5', '0.5'],
		['-1e3', '-1000'],
		['0', '0'],
		['false', 'false'],
		['[1, "b"]', '[1,"b"]'],
		['{ "a": { "b": null } }', '{"a":{"b":null}}'],
	])('as "default" in JSON, %s is sent as text, as the form sends it', async (given, value) => {
		const record = `[{ "id": "a", "default": ${given}, "value": 1 }]`;
		const lists = [record, js(record)].map((inputsJson) => ({ inputsJson, outputsJson: record }));
		for (const both of lists) {
			fixture.sandbox.clearCalls();
			await fixture.engine.run({ parameters: create({ specifyParameters: 'json', ...both }) });
			const sent = [{ id: 'a', default: value, value: 1 }];
			expect(sentJob()).toMatchObject({ inputs: sent, outputs: sent });
		}
	});
});

describe('Whatever JSON is given', () => {
	/** A number as text: its sign, its digits, and the power of ten that they count. */
	function exactly(number: string): string {
		const [, sign = '', whole = '', fraction = '', exponent = '0'] =
			/^(-?)(\d+)(?:\.(\d+))?(?:e(.+))?$/i.exec(number) ?? [];
		let digits = BigInt(whole + fraction);
		let power = BigInt(exponent) - BigInt(fraction.length);
		if (digits === 0n) return 'number 0';
		for (; digits % 10n === 0n; digits /= 10n) power += 1n;
		return `number ${sign}${digits}e${power}`;
	}

	/** JSON with each number as a text that says exactly which it is: numbers would hide what they have lost. */
	function parseExactly(json: string): unknown {
		const token = /"(?:[^"\\]|\\.)*"|[-\d][-+.\de]*/gi;
		const numberAsText = (part: string) => (part.startsWith('"') ? part : `"${exactly(part)}"`);
		return JSON.parse(json.replace(token, numberAsText));
	}

	const numbers = fc.oneof(
		fc.stringMatching(/^-?(0|[1-9]\d{0,8})(\.\d{1,5})?(e2|E-30)?$/),
		fc.stringMatching(/^-?(0|[1-9]\d{0,23})(\.\d{1,24})?(e99|E\+3|e-310|E400)?$/),
		fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
	);
	const texts = fc.string({ unit: fc.constantFrom(...'"\\/`{}[]:,.-1e \n\u00e9\u{1f680}') });
	const values = fc.object({ key: texts, values: [texts, fc.boolean(), fc.constant(null)] });
	const objects = fc.tuple(values, fc.array(numbers, { maxLength: 3 })).map(([value, list]) => {
		return `{ "numbers" : [${list.join(' ,\n')}],"all":${JSON.stringify(value)}}`;
	});
	const fences = fc.constantFrom(
		(text: string) => text,
		(text: string) => `\`\`\`json\n${text}\n\`\`\``,
	);

	test('it arrives with the digits that it has, or is refused', async () => {
		const counts = { passed: 0, refused: 0 };
		await fc.assert(
			fc.asyncProperty(objects, fences, async (text, fence) => {
				fixture.sandbox.clearCalls();
				const { error } = await fixture.engine.run({
					parameters: create({
						specifyParameters: 'json',
						inputsJson: fence(`[{ "id": "a", "more": ${text} }]`),
						additionalFields: { metadata: fence(text) },
					}),
				});
				if (fixture.sandbox.calls.length > 0) {
					const { inputs, metadata } = parseExactly(JSON.stringify(sentJob())) as IDataObject;
					expect(inputs).toEqual([{ id: 'a', more: parseExactly(text) }]);
					expect(metadata).toEqual(parseExactly(text));
					counts.passed += 1;
				} else {
					expect(error?.message).toMatch(
						/contains -?\d[\d.eE+-]*, a number that would lose digits/,
					);
					counts.refused += 1;
				}
			}),
			{ numRuns: 100 },
		);
		expect(Math.min(counts.passed, counts.refused)).toBeGreaterThan(10);
	});
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

	test('each fault has its own advice', async () => {
		const { error } = await fixture.engine.run(
			{
				parameters: create({
					workflowUid: '={{ $json.n === 1 ? "a\\u200b" : "a" }}',
					displayName: `={{ $json.n === 2 ? ${BIG} : "a" }}`,
					specifyParameters: 'json',
					inputsJson: '={{ ["[]", "[]", "[]", "[", "[{]", "["][$json.n] }}',
				}),
			},
			numbered(6),
		);
		expect(error?.message).toMatch(
			/^Nothing was sent\. 'Workflow UID' .* for item 1 \(counted from 0\)\.$/,
		);
		expect(error?.description?.split('\n')).toEqual([
			'Enter the ID alone, as the service shows it.',
			expect.stringMatching(
				/^'Display Name' is 7.*, for item 2\. Give it as text: put it in quotes/,
			),
			expect.stringMatching(/^'Job .* not valid JSON for items 3 and 5\. .* end .*\. Check quotes/),
			expect.stringMatching(/^'Job .* not valid JSON for item 4\. .* position 2.*\. Check quotes/),
		]);
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

describe('In a workflow that was written by hand, or by a language model,', () => {
	const { resource, operation, ...rest } = create();

	test.each<[string, INodeParameters]>([
		['The resource "job" has no operation "erase"', { resource, operation: 'erase' }],
		['The resource "job" has no operation "Create"', { resource, operation: 'Create' }],
		['The resource "job" has no operation "getAll"', { operation: 'getAll' }],
		['The resource "job" has no operation ""', { resource, operation: '' }],
		['There is no resource "Job"', { resource: 'Job', operation }],
		['There is no resource "{{ "job" }}"', { resource: '={{ "job" }}', operation }],
	])('%s: the error says which there are', async (message, named) => {
		const { error } = await fixture.engine.run({ parameters: { ...rest, ...named } });
		expect(error).toMatchObject({
			name: 'NodeOperationError',
			message,
			description:
				'Enter one of these as resource and operation, spelt as here: cluster: getAll, job: create, job: resume, job: stop, job: suspend, job: terminate.',
		});
		expect(fixture.sandbox.calls).toEqual([]);
	});

	test.each<INodeParameters>([rest, { resource, ...rest }, { operation, ...rest }])(
		'what is missing is as in a new node: %j',
		async (parameters) => {
			const { items } = await fixture.engine.run({ parameters });
			expect(items.map(({ json }) => json.displayName)).toEqual(['Report']);
		},
	);

	test.each<INodeParameters[string]>([
		CLUSTER,
		js(`"${CLUSTER}"`),
		...['', 'mode: "id"', 'mode: "list"', 'mode: "name"', 'mode: null'].map((mode) =>
			js(`({ __rl: true, value: "${CLUSTER}", ${mode} })`),
		),
		js(`({ value: "${CLUSTER}" })`),
		{ __rl: true, value: CLUSTER },
		{ value: CLUSTER },
		{ __rl: true, mode: 'name', value: CLUSTER },
		{ mode: 'id', value: CLUSTER },
		// The Work Cluster of another node.
		clusterById(js(`({ __rl: true, mode: "list", value: "${CLUSTER}" })`)),
	] as INodeParameters[string][])('the work cluster %j is taken', async (workCluster) => {
		const { error } = await fixture.engine.run({ parameters: create({ workCluster }) });
		expect(error).toBeUndefined();
		expect(sentJob()).toMatchObject({ workCluster: CLUSTER });
	});

	test.each<[INodeParameters, number]>([
		[{ returnAll: 'false', limit: 5 }, 5],
		[{ returnAll: js('false'), limit: 5 }, 5],
		[{ returnAll: js('"false"'), limit: '5' }, 5],
		[{ returnAll: '', limit: 5 }, 5],
		[{ returnAll: 'true', limit: 5 }, 6],
		[{ returnAll: true, limit: 5 }, 6],
		[{ limit: 5 }, 5],
	])('%j lists %i clusters', async (parameters, count) => {
		const { items } = await fixture.engine.run({ parameters: getAll(parameters) });
		expect(items).toHaveLength(count);
	});
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
});
