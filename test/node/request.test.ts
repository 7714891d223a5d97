import fc from 'fast-check';
import type { INodeParameters } from 'n8n-workflow';

import { freePort } from '../../host/ports';
import '../reliability/seed';
import { create, getAll, newSandbox, credentialFor, useSandbox } from '../support/fixture';
import { oneOfEachCall } from '../support/operations';

declare const requireOnce: NodeJS.Require | undefined;

/** Loads the same copy of a module that n8n's engine uses. */
const load = typeof requireOnce === 'function' ? requireOnce : require;

/*
 * Values arrive at the service as they were entered, without being changed by n8n's HTTP client. Timeouts and proxies
 * also apply.
 */

const fixture = useSandbox();

const inJson = (inputsJson: string) => create({ specifyParameters: 'json', inputsJson });
const metadata = (text: string) => create({ additionalFields: { metadata: text } });

describe('The service gets the entered values:', () => {
	const BIG = '7615917337495251231';
	const list = [{ id: 'a', default: '5' }];
	const text = JSON.stringify(list);
	const value = (entered: string) => create({ inputs: { input: [{ id: 'a', value: entered }] } });
	const sent = (records: object[]) =>
		[inJson(JSON.stringify(records)), { inputs: records }] as const;

	test.each<readonly [INodeParameters, object]>([
		[value(BIG), { inputs: [{ default: BIG }] }],
		[value(`{"n":${BIG}}`), { inputs: [{ default: `{"n":${BIG}}` }] }],
		sent([{ id: 'a', ref: BIG }]),
		sent([{ id: 'a', options: [{ value: 1 }] }]),
		sent([{ id: 'a', default: '', more: null }, { id: 'b' }]),
		[
			create({ inputs: { input: [{ id: 'a' }] }, outputs: { output: [{ id: 'a' }] } }),
			{ inputs: [{ id: 'a' }], outputs: [{ id: 'a' }] },
		],
		[create({ namespace: '={{ 42 }}' }), { namespace: '42' }],
		[create({ displayName: '👩‍🚀 e\u0301\u200b' }), { displayName: '👩‍🚀 e\u0301\u200b' }],
		[create({ workflowUid: 'Zürich–東京 🚀' }), { workflow: { uid: 'Zürich–東京 🚀' } }],
		// As Python writes an emoji.
		[metadata('{"a":"\\ud83d\\ude80"}'), { metadata: { a: '🚀' } }],
		[metadata('{"a":"```json\\n[]\\n```"}'), { metadata: { a: '```json\n[]\n```' } }],
		[metadata('```\n{"a":1}\n```'), { metadata: { a: 1 } }],
		...[
			`\`\`\`json\n${text}\n\`\`\``,
			`\`\`\`\n${text}\n\`\`\`\n`,
			`\n  ~~~ JSON\r\n${text}\r\n~~~`,
			`\`\`\`\`json title="a"\n${text}\n\`\`\`\``,
			`\`\`\`json ${text} \`\`\``,
			`\ufeff${text}`,
		].map((fenced) => [inJson(fenced), { inputs: list }] as const),
	])('%j', async (parameters, job) => {
		// The sandbox may refuse unknown fields. The test only checks the request.
		await fixture.engine.run({ parameters });
		expect(fixture.sentJob()).toMatchObject(job);
	});

	test.each([
		'{"constructor":"Hochtief","prototype":"P-7","a":{"constructor":"x","b":1}}',
		'{"__proto__":{"isAdmin":true},"b":1}',
		'{"a":[{"__proto__":null,"constructor":{"prototype":{}}}]}',
		'{"toString":"x","valueOf":1,"hasOwnProperty":false,"toJSON":"y","length":0}',
		'{"名前":"é😀\\u2028","0":"zero","":" "}',
	])('Metadata, Job Inputs and Outputs (JSON) with %s', async (object) => {
		const records = `[{"id":"a","default":"b","more":${object}}]`;
		await fixture.engine.run({
			parameters: { ...metadata(object), ...inJson(records), outputsJson: records },
		});
		const job = JSON.stringify(fixture.sentJob());
		const sent = JSON.stringify(JSON.parse(records));
		expect(job).toContain(`"inputs":${sent},"outputs":${sent}`);
		expect(job).toContain(`"metadata":${JSON.stringify(JSON.parse(object))}`);
	});

	test.each([
		['0.5', '0.5'],
		['-1e3', '-1000'],
		['0', '0'],
		['false', 'false'],
		['[1, "b"]', '[1,"b"]'],
		['{ "a": { "b": null } }', '{"a":{"b":null}}'],
	])('a "default" of %s in JSON, as the text that the form sends', async (given, sent) => {
		const record = `[{ "id": "a", "default": ${given}, "value": 1 }]`;
		for (const inputsJson of [record, `={{ ${record} }}`]) {
			fixture.sandbox.clearCalls();
			await fixture.engine.run({ parameters: { ...inJson(inputsJson), outputsJson: record } });
			const records = [{ id: 'a', default: sent, value: 1 }];
			expect(fixture.sentJob()).toMatchObject({ inputs: records, outputs: records });
		}
	});
});

test('every whole number in JSON arrives, or is refused if JavaScript cannot tell it from another one', async () => {
	await fc.assert(
		fc.asyncProperty(fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }), async (number) => {
			for (const written of [number, number % 2n ** 53n]) {
				fixture.sandbox.clearCalls();
				await fixture.engine.run({ parameters: metadata(`{ "n": [${written}] }`) });
				const isSafe = Number.isSafeInteger(Number(written));
				const sent = isSafe
					? [expect.objectContaining({ metadata: { n: [Number(written)] } })]
					: [];
				expect(fixture.sentJobs()).toEqual(sent);
			}
		}),
		{ numRuns: 20 },
	);
});

test.each([
	['a name in another script', 'Bericht für Größe 😀'],
	['a user name that is JSON', '{"constructor":"x"}'],
])(
	'the login sends the user name and the password as they were entered: %s',
	async (_, userName) => {
		const sandbox = await newSandbox({ userName, password: '"\\ é' });
		fixture.engine.saveCredential(credentialFor(sandbox));
		const { items } = await fixture.engine.run({ parameters: getAll() });
		expect(items).toHaveLength(6);
	},
);

describe("A Timeout that is longer than that of n8n's HTTP client applies to", () => {
	const path = load.resolve('axios', { paths: [load.resolve('n8n-core')] });
	const { defaults } = load(path) as { defaults: { timeout: number } };
	const { timeout: usual } = defaults;
	afterEach(() => (defaults.timeout = usual));

	test.each(oneOfEachCall)('$value and its login', async (operation) => {
		const parameters = operation.parameters({ options: { timeout: 600_000, maxRetries: 0 } });
		// n8n sets its own default timeout with the first request, so the test changes the default after it.
		await fixture.engine.run({ parameters });
		const sandbox = await newSandbox({ latency: 300 });
		defaults.timeout = 100;
		fixture.engine.saveCredential(credentialFor(sandbox));
		const { error } = await fixture.engine.run({ parameters });
		expect(error?.message ?? '').not.toMatch(/answer/);
		expect(sandbox.calls.map(({ operation }) => operation)).toHaveLength(2);
	});
});

test("requests use the proxy from n8n's environment, and an error names the proxy if it can't be reached", async () => {
	const proxy = `127.0.0.1:${await freePort()}`;
	const { env } = load('node:process') as NodeJS.Process;
	env.HTTP_PROXY = `http://${proxy}`;
	try {
		fixture.engine.editCredential({ baseUrl: 'http://jobs.example.com' });
		const { error } = await fixture.engine.run({
			parameters: getAll({ options: { maxRetries: 0 } }),
		});
		expect(error).toMatchObject({
			message: "The service at http://jobs.example.com can't be reached",
			description: expect.stringMatching(
				`^Check .*HTTP_PROXY .*\n\nNothing was sent. n8n says: "connect ECONNREFUSED ${proxy}"`,
			),
		});
	} finally {
		delete env.HTTP_PROXY;
	}
});
