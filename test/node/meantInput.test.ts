import type { INodeParameters } from 'n8n-workflow';

import { change, clusterById, create, numbered, useSandbox } from '../support/fixture';

/*
 * What goes in is what was meant: it arrives as it is, or nothing is sent. badInput.test.ts has what is no value at all.
 */

const fixture = useSandbox();

const BIG = '7615917337495251231';
/** The same once JavaScript has read it. */
const ROUNDED = '7615917337495251000';

const field = (name: string) => (value: string) => create({ [name]: value });
const name = field('displayName');
const json = (inputsJson: string) => create({ specifyParameters: 'json', inputsJson });
const outJson = (outputsJson: string) => create({ specifyParameters: 'json', outputsJson });
const added = (more: string) => (value: string) => create({ additionalFields: { [more]: value } });
const metadata = added('metadata');
const input = (part: string) => (value: string) =>
	create({ inputs: { input: [{ id: 'a', [part]: value }] } });
const records = (ids: string[]) => ids.map((id) => ({ id }));
const inputs = (...ids: string[]) => create({ inputs: { input: records(ids) } });
const outputs = (...ids: string[]) => create({ outputs: { output: records(ids) } });
const anchor = (source: string, sourceAnchor: string) =>
	create({ inputs: { input: [{ id: 'a', anchors: { anchor: [{ source, sourceAnchor }] } }] } });
const waiting = (address: string, limit: string | number) =>
	create({ options: { waitUntilCalled: address, waitLimit: limit } });

/** Of the only create. */
function sentJob(): unknown {
	const calls = fixture.callsOf('createJob');
	expect(calls).toHaveLength(1);
	return (calls[0]?.body as { job: object }).job;
}

/** What the error says, and a node of which it says that. */
type Refused = [message: string, parameters: INodeParameters];

function areRefused(advice: RegExp, cases: Refused[]): void {
	test.each(cases)('%s, %j', async (message, parameters) => {
		const { error } = await fixture.engine.run({ parameters });
		expect(error?.message).toBe(`Nothing was sent. ${message}.`);
		expect(error?.description).toMatch(advice);
		expect(fixture.sandbox.calls).toEqual([]);
	});
}

describe('A number whose digits would not arrive is refused, by name:', () => {
	const would = (text: string, number = BIG) =>
		`'${text}' contains ${number}, a number that would lose digits`;
	const has = (text: string) => `'${text}' contains ${ROUNDED}, a number that has lost digits`;
	const is = (text: string, number = ROUNDED) =>
		`'${text}' is ${number}, a number that has lost digits`;
	const withRef = (ref: string) => `[{ "id": "a", "default": "1", "ref": ${ref} }]`;
	const inText = ['-1e16', '1e400', '1e-400', '5.1e-324', '9007199254740992', `-${BIG}`];
	const long = ['0.1234567890123456789', '12345678901234567890.5', '0.10000000000000001'];

	areRefused(/put it in quotes/, [
		...[...inText, ...long].map((number): Refused => {
			return [would('Metadata (JSON)', number), metadata(`{ "a": { "b": [${number}] } }`)];
		}),
		[would('Job Inputs (JSON)'), json(withRef(BIG))],
		[would('Job Inputs (JSON)'), json(withRef(`[1, 2.5, ${BIG}, 1e999]`))],
		[would('Job Outputs (JSON)'), outJson(withRef(BIG))],
		[would('Job Inputs (JSON)'), json(`\`\`\`json\n${withRef(BIG)}\n\`\`\``)],
		[would('Job Inputs (JSON)', ROUNDED), json(`=${withRef(`{{ ${BIG} }}`)}`)],
		[would('Metadata (JSON)'), metadata(`{ "1e999": "\\\\", "b\\"": "9e99\\"", "c": ${BIG} }`)],
		[has('Job Inputs (JSON)'), json(`={{ ${withRef(`[${BIG}]`)} }}`)],
		[has('Metadata (JSON)'), metadata(`={{ ({ ref: ${BIG} }) }}`)],
		[has('Job Inputs 1 › Value'), input('value')(`={{ ({ ref: [${BIG}] }) }}`)],
		[is('Job Inputs 1 › Value'), input('value')(`={{ ${BIG} }}`)],
		[is('Job Inputs 1 › Display Name'), input('displayName')(`={{ ${BIG} }}`)],
		[is('Display Name'), name(`={{ ${BIG} }}`)],
		[is('Group', `-${ROUNDED}`), field('group')(`={{ -${BIG} }}`)],
		[is('Type', '1e+21'), added('type')('={{ 1e21 }}')],
		[is('Workflow UID'), field('workflowUid')(`={{ ${BIG} }}`)],
	]);
	areRefused(/^Enter a number/, [
		[
			`'Priority' is "0.1234567890123456789", which has too many digits`,
			added('priority')('={{ "0.1234567890123456789" }}'),
		],
	]);

	test('also as the tool of an agent, which is told', async () => {
		const parameters = json("={{ $fromAI('inputs', 'Inputs', 'string') }}");
		const fenced = '```json\n[{ "id": "a", "default": "5" }]\n```';
		const calls = [{ inputs: withRef(BIG) }, { inputs: fenced }];
		const { answers } = await fixture.engine.callTool({ parameters }, calls);
		expect(answers[0]).toContain(would('Job Inputs (JSON)'));
		expect(sentJob()).toMatchObject({ inputs: [{ id: 'a', default: '5' }] });
	});
});

describe('Arrives as it is:', () => {
	const list = [{ id: 'a', default: '5' }];
	const text = JSON.stringify(list);
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
		[
			{ ...inputs('a'), outputs: { output: [{ id: 'a' }] } },
			{ inputs: [{ id: 'a' }], outputs: [{ id: 'a' }] },
		],
		[name('👩‍🚀 e\u0301\u200b'), { displayName: '👩‍🚀 e\u0301\u200b' }],
		[field('workflowUid')('Zürich–東京 🚀'), { workflow: { uid: 'Zürich–東京 🚀' } }],
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
});

describe('A parameter that the service would not understand is refused:', () => {
	const wrongName = (record: string) => `'${record}' has "value" instead of "default"`;
	const twice = (record: string, id = 'a') =>
		`'${record} › ID' is "${id}", which an earlier one has`;
	areRefused(/\S{3}/, [
		["'Metadata (JSON)' has an object with the same name twice", metadata('{"a":1,"a":2}')],
		[
			"'Job Inputs (JSON)' has an object with the same name twice",
			json('[{"id":"a","default":"1","default":"2"}]'),
		],
		["'Job Inputs (JSON) 1 › ID' is empty", json('[{"default":"5"}]')],
		["'Job Inputs (JSON) 1 › ID' is empty", json('[{"id":null}]')],
		["'Job Inputs (JSON) 1 › ID' is a list, not text", json('[{"id":["a"]}]')],
		["'Job Outputs (JSON) 2 › ID' is empty", outJson('={{ [{ id: "a" }, { id: " " }] }}')],
		[wrongName('Job Inputs (JSON) 1'), json('[{"id":"a","value":"5"}]')],
		[wrongName('Job Inputs (JSON) 1'), json('[{"id":"a","value":0}]')],
		[wrongName('Job Inputs (JSON) 1'), json('[{"id":"a","value":"5","default":""}]')],
		[wrongName('Job Outputs (JSON) 2'), outJson('={{ [{ id: "b" }, { id: "a", value: "5" }] }}')],
		[twice('Job Inputs (JSON) 3'), json('[{"id":"a"},{"id":"b"},{"id":"a"}]')],
		[twice('Job Inputs (JSON) 2', '1'), json('[{"id":"1"},{"id":1}]')],
		[twice('Job Inputs 2'), inputs('a', 'a')],
		[twice('Job Inputs 2'), inputs('a', '={{ "A".toLowerCase() }}')],
		[twice('Job Outputs 3'), outputs('b', 'a', ' a')],
	]);
});

describe('Invisible characters in an ID are refused, by name and place:', () => {
	const zeroWidth = 'contains a zero-width space (U+200B) at position 3';
	const id = 'ab\u200b';
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
	areRefused(/^Enter the ID alone/, [
		...Object.entries(named).map(([character, it]): Refused => {
			const message = `'Workflow UID' contains ${it} at position 3`;
			return [message, field('workflowUid')(` ab${character}c`)];
		}),
		[`'Job ID' ${zeroWidth}`, change('suspend', { jobId: id })],
		[`'Job ID' ${zeroWidth}`, change('terminate', { jobId: '={{ "ab\\u200b" }}' })],
		[`'Namespace' ${zeroWidth}`, change('stop', { namespace: `${id}c`, jobId: 'a' })],
		[`'Namespace' ${zeroWidth}`, field('namespace')(id)],
		[`'Work Cluster' ${zeroWidth}`, create({ workCluster: clusterById(id) })],
		[`'Workspace' ${zeroWidth}`, added('workspace')(id)],
		[`'Job Inputs 1 › ID' ${zeroWidth}`, inputs(id)],
		[`'Job Outputs 2 › ID' ${zeroWidth}`, outputs('a', id)],
		[`'Job Inputs (JSON) 1 › ID' ${zeroWidth}`, json('[{ "id": "ab\\u200b" }]')],
		[`'Job Inputs 1 › Anchors 1 › Source' ${zeroWidth}`, anchor(id, 'a')],
		[`'Job Inputs 1 › Anchors 1 › Source Anchor' ${zeroWidth}`, anchor('a', id)],
		[`'Wait Until Called' ${zeroWidth}`, waiting(id, 1)],
	]);
});

describe('Half of a surrogate pair is refused:', () => {
	const half = (text: string) =>
		`'${text}' contains an incomplete character, such as half of an emoji`;
	/** An expression that cuts text in the middle of an emoji. */
	const cut = '={{ "a🚀".slice(0, 2) }}';
	areRefused(/^Text was cut/, [
		[half('Display Name'), name(cut)],
		[half('Display Name'), name('={{ "🚀".slice(1) }}')],
		[half('Group'), field('group')(`=x ${cut.slice(1)}`)],
		[half('Workflow UID'), field('workflowUid')(cut)],
		[half('Type'), added('type')(cut)],
		[half('Metadata (JSON)'), metadata('={{ ({ a: { b: "🚀".slice(1) } }) }}')],
		[half('Metadata (JSON)'), metadata('={{ ({ ["🚀".slice(1)]: 1 }) }}')],
		[half('Metadata (JSON)'), metadata('{ "\\ud83d": "\\ude80" }')],
		[half('Job Inputs (JSON)'), json('[{ "id": "a", "default": "\\ude80\\ud83d" }]')],
		[half('Job Inputs 1 › Value'), input('value')(cut)],
		[half('Job Inputs 1 › Value'), input('value')('={{ ["🚀".slice(1)] }}')],
		[half('Job Inputs 1 › Value Type'), input('type')(cut)],
		[half('Job ID'), change('stop', { jobId: cut })],
	]);
});

describe('A wait is at most a year:', () => {
	areRefused(
		/^Enter a number from 0 to 525600\.$/,
		[
			['1e9', '1000000000, which is too large'],
			['1e300', '1e+300, which is too large'],
			['525601', '525601, which is too large'],
			['-1', '-1, which is too small'],
			['0 / 0', 'NaN, not a number'],
			['1 / 0', 'Infinity, not a number'],
			['"1e12"', '"1e12", which is too large'],
			['"an hour"', '"an hour", not a number'],
		].map(([limit, it]): Refused => [`'Wait Limit' is ${it}`, waiting('a', `={{ ${limit} }}`)]),
	);

	test('which a date can hold', async () => {
		const { run } = await fixture.engine.run({ parameters: waiting('a', 525_600) });
		expect(Number(run.waitTill) - Date.now()).toBeGreaterThan(364 * 86_400_000);
	});
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
		expect.stringMatching(/^'Display Name' is 7.*, for item 2\. Give it as text: put it in quotes/),
		expect.stringMatching(/^'Job .* not valid JSON for items 3 and 5\. .* end .*\. Check quotes/),
		expect.stringMatching(/^'Job .* not valid JSON for item 4\. .* position 2.*\. Check quotes/),
	]);
});
