import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

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

describe('If n8n uses a proxy (HTTP_PROXY, HTTPS_PROXY) that', () => {
	const { env } = load('node:process') as NodeJS.Process;
	afterEach(() => {
		delete env.HTTP_PROXY;
		delete env.HTTPS_PROXY;
	});

	/** Starts a proxy that ends each request for a connection to an https address with this response. */
	async function proxyThat(responds: string): Promise<string> {
		const proxy = createServer().on('connect', (_, socket) => socket.end(responds));
		await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
		proxies.push(proxy);
		return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
	}
	const proxies: Server[] = [];
	afterEach(() => proxies.splice(0).forEach((proxy) => proxy.close()));

	const blocked = (status: string) =>
		`HTTP/1.1 ${status}\r\nContent-Length: 7\r\nConnection: close\r\n\r\nblocked`;

	test.each<[string, () => Promise<string>, string, title: RegExp, description: RegExp]>([
		[
			"doesn't run",
			async () => `http://127.0.0.1:${await freePort()}`,
			'http://jobs.example.com',
			/^The service at http:\/\/jobs\.example\.com can't be reached$/,
			/n8n says: "connect ECONNREFUSED 127/,
		],
		[
			'has an unknown name',
			async () => await Promise.resolve('http://nobody:hidden@proxy.invalid:1'),
			'https://jobs.example.com',
			/^The proxy between n8n and the service can't be reached, or refuses the connection$/,
			/\n\nNothing was sent\.$/,
		],
		[
			'closes the connection',
			async () => await proxyThat(''),
			'https://jobs.example.com',
			/^The proxy between n8n and the service can't be reached, or refuses the connection$/,
			/\n\nNothing was sent\.$/,
		],
		[
			'refuses the address',
			async () => await proxyThat(blocked('403 Forbidden')),
			'https://jobs.example.com',
			/^The service or a proxy refused to log the user in: blocked$/,
			/ask its administrator whether it allows https:\/\/jobs\.example\.com/,
		],
		[
			'wants a login',
			async () => await proxyThat(blocked('407 Proxy Authentication Required')),
			'https://jobs.example.com',
			/^A proxy before the service wants a login: blocked$/,
			/^Add the user and the password of the proxy to its address/,
		],
	])('%s, the error names both settings, but no password', async (_, start, ...rest) => {
		const [baseUrl, title, description] = rest;
		env.HTTP_PROXY = env.HTTPS_PROXY = await start();
		fixture.engine.editCredential({ baseUrl });
		const options = { maxRetries: 0 };
		const { error } = await fixture.engine.run({ parameters: create({ options }) });
		expect(error?.message).toMatch(title);
		expect(error?.description).toMatch(description);
		expect(error?.description).toMatch(/HTTP_PROXY and HTTPS_PROXY/);
		expect(`${error?.message} ${error?.description}`).not.toContain('hidden');
		expect(error?.context).toMatchObject({ jobMayExist: false });
	});
});
