import { logUpTo, removeLog } from './logFile';

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';

import { Container } from '@n8n/di';
import { ErrorReporter } from 'n8n-core';
import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	ILoadOptionsFunctions,
	INodeParameters,
	OnError,
} from 'n8n-workflow';
import { jsonStringify, LoggerProxy } from 'n8n-workflow';

import type { Fault, Plan, PlannedCall, Sandbox } from '../../sandbox';
import { startSandbox } from '../../sandbox';
import { change, create, credentialFor, getAll, numbered } from '../engine/fixture';
import { Engine } from '../engine/run';
import { everyText } from './everyText';

/*
 * A search of everything that a run leaves, for the password and the tokens: the output, the error with its
 * causes, n8n's log, the execution as n8n stores it.
 */

/** A password that looks different in JSON, in an address and in HTML. */
const PASSWORD = 'pass"wörd /7&%<secret>\\';

let sandbox: Sandbox;
let engine: Engine;
/** What the node itself threw, before n8n made its own of it. */
let thrown: unknown[];

beforeEach(async () => {
	sandbox = await startSandbox({ password: PASSWORD });
	engine = await Engine.load();
	engine.saveCredential(credentialFor(sandbox));
	thrown = [];
	Container.get(ErrorReporter);
	const { node } = engine.loaded;
	const { execute } = node;
	if (execute === undefined) throw new Error('The node can not be executed');
	jest.spyOn(node, 'execute').mockImplementation(async function (this: IExecuteFunctions) {
		try {
			return await execute.call(this);
		} catch (error) {
			thrown.push(error);
			throw error;
		}
	});
});
afterEach(async () => {
	jest.restoreAllMocks();
	await sandbox.close();
});
afterAll(removeLog);

function inHtml(text: string): string {
	return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A secret, and how it looks once it has been through JSON, an address, HTML or base64. */
function formsOf(secret: string): string[] {
	return [
		...new Set([
			secret,
			JSON.stringify(secret).slice(1, -1),
			encodeURIComponent(secret),
			encodeURI(secret),
			new URLSearchParams({ a: secret }).toString().slice(2),
			Buffer.from(secret).toString('base64'),
			inHtml(secret),
		]),
	];
}

let runs = 0;

/** Everything that a run of the node leaves. */
async function leftBy(
	parameters: INodeParameters,
	onError: OnError = 'stopWorkflow',
): Promise<{ traces: Map<string, string>; tokens: string[]; failed: boolean }> {
	const printed: string[] = [];
	const print = (...texts: unknown[]) => {
		printed.push(inspect(texts, { depth: 10 }));
		return true;
	};
	const spies = [
		jest.spyOn(process.stdout, 'write').mockImplementation(print),
		jest.spyOn(process.stderr, 'write').mockImplementation(print),
		...(['log', 'info', 'warn', 'error', 'debug'] as const).map((name) =>
			jest.spyOn(console, name).mockImplementation(print),
		),
	];
	const result = await engine.run({ parameters, onError }, numbered(2));
	for (const spy of spies) spy.mockRestore();
	runs += 1;
	LoggerProxy.debug(`end-of-run-${runs}`);

	const { run } = result;
	const traces = new Map([
		['the output', [...everyText(result.items)].join('\n')],
		['the error of the node', [...everyText(thrown)].join('\n')],
		['the error as it is printed', inspect(thrown, { depth: 10, showHidden: true })],
		['the run', [...everyText(run)].join('\n')],
		['the stored execution', jsonStringify(run.data, { replaceCircularRefs: true })],
		["n8n's log", await logUpTo(`end-of-run-${runs}"`)],
		['the console', printed.join('\n')],
	]);
	const tokens = [
		engine.storedToken,
		...sandbox.calls.flatMap(({ token }) => (token === undefined ? [] : [token])),
	].filter((token) => token !== '');
	const failed =
		result.error !== undefined || result.items.some(({ json }) => typeof json.error === 'string');
	return { traces, tokens: [...new Set(tokens)], failed };
}

/** Where a secret is found, and in which form. */
function placesOf(secrets: string[], traces: Map<string, string>): string[] {
	return [...traces].flatMap(([place, text]) =>
		secrets
			.flatMap(formsOf)
			.filter((form) => text.includes(form))
			.map((form) => `${form} in ${place}`),
	);
}

async function expectNoLeak(parameters: INodeParameters, onError: OnError, fails = true) {
	const { traces, tokens, failed } = await leftBy(parameters, onError);
	expect(failed).toBe(fails);
	expect(placesOf([PASSWORD, ...tokens], traces)).toEqual([]);
}

const operations: Array<[string, INodeParameters]> = [
	['create', create({ options: { maxRetries: 0, timeout: 300 } })],
	['stop', change('stop', { jobId: 'a-job', options: { maxRetries: 0, timeout: 300 } })],
	['getAll', getAll({ options: { maxRetries: 0, timeout: 300 } })],
];
const modes: OnError[] = ['stopWorkflow', 'continueErrorOutput'];

describe('The search', () => {
	test('finds what is there: in the output, in the error, in the stored execution', async () => {
		const { traces } = await leftBy(create({ displayName: 'planted-word' }));
		const [uid = ''] = sandbox.store.jobs.keys();
		expect(placesOf([uid], traces).join()).toMatch(/in the output.*in the run.*in the stored/);

		const failing = await leftBy(change('stop', { jobId: 'planted-id' }));
		expect(placesOf(['planted-id'], failing.traces).join()).toMatch(
			/in the error of the node.*in the run.*in the stored/,
		);
	});

	test("reads n8n's log, which is at its most talkative", async () => {
		const { traces } = await leftBy(create());
		expect(traces.get("n8n's log")).toMatch(/Running node .*Node 1.* started/);
	});

	test('knows the tokens', async () => {
		const { tokens } = await leftBy(create());
		expect(tokens).toEqual([engine.storedToken]);
		expect(tokens[0]).toMatch(/^[\w-]{32}$/);
	});

	test('looks behind what is hidden', () => {
		const error = new Error('a', {
			cause: Object.defineProperty({}, 'b', { value: new Map([['c', 'd']]) }),
		});
		Object.assign(error, { toJSON: () => ({ e: Buffer.from('f') }) });
		expect([...everyText(error)]).toEqual(expect.arrayContaining(['a', 'b', 'c', 'd', 'e', 'f']));
	});
});

test('A success leaves neither the password nor a token', async () => {
	await expectNoLeak(create(), 'stopWorkflow', false);
	await expectNoLeak(getAll(), 'stopWorkflow', false);
	sandbox.tokens.expireAll();
	await expectNoLeak(getAll(), 'stopWorkflow', false);
});

const answer = (status: number, body?: unknown, headers: Record<string, string> = {}): Fault => ({
	kind: 'answer',
	when: 'beforeActing',
	status,
	headers,
	body,
});

const failures: Array<[string, Fault]> = [
	['a broken connection', { kind: 'break', when: 'beforeActing' }],
	['no answer', { kind: 'stall', when: 'beforeActing' }],
	['half a body', { kind: 'halfBody', when: 'beforeActing' }],
	['400', answer(400)],
	['401', answer(401)],
	['tokens that expire at once', { kind: 'expireTokens' }],
	['403', answer(403)],
	['404', answer(404)],
	['429', { kind: 'rateLimit' }],
	['500', answer(500)],
	['a redirect', { kind: 'redirect', location: 'http://127.0.0.1:9/' }],
	['a page', { kind: 'html', when: 'beforeActing', status: 502 }],
];

describe('A failure leaves neither the password nor a token:', () => {
	for (const [operation, parameters] of operations) {
		for (const onError of modes) {
			test.each(failures)(`${operation} (${onError}), %s`, async (_, fault) => {
				sandbox.faults.plan((call) => (call.operation === 'login' ? undefined : fault));
				await expectNoLeak(parameters, onError);
			});
		}
	}

	test.each(failures)('the log-in, %s', async (name, fault) => {
		if (name === 'no answer' || name.startsWith('tokens')) return;
		sandbox.faults.plan((call) => (call.operation === 'login' ? fault : undefined));
		for (const onError of modes)
			await expectNoLeak(getAll({ options: { maxRetries: 0 } }), onError);
	});

	test('a service that is not there', async () => {
		await sandbox.close();
		for (const onError of modes)
			await expectNoLeak(getAll({ options: { maxRetries: 0 } }), onError);
	});
});

/** Ways to say a text in an answer. */
const echoes: Array<[string, (secret: string) => Fault]> = [
	['a message', (secret) => answer(400, { message: `Not good: ${secret}` })],
	['a nested message', (secret) => answer(403, { error: { details: [{ msg: secret }] } })],
	['plain text', (secret) => answer(500, `Not good: ${secret}`)],
	[
		'JSON within a text',
		(secret) => answer(400, { message: `Not good: ${JSON.stringify({ value: secret })}` }),
	],
	['JSON that is sent as text', (secret) => answer(422, `got ${JSON.stringify([secret])}`)],
	['an address within a text', (secret) => answer(404, `?q=${encodeURIComponent(secret)}`)],
	['a form within a text', (secret) => answer(400, new URLSearchParams({ q: secret }).toString())],
	['the title of a page', (secret) => answer(502, `<html><title>${inHtml(secret)}</title></html>`)],
	[
		'the title of a careless page',
		(secret) => answer(502, `<html><title>${secret}</title></html>`),
	],
	['the text of a success', (secret) => answer(200, `Not a job: ${secret}`)],
	['the message of a success', (secret) => answer(200, { error: secret })],
	['the name of a field', (secret) => answer(200, { [secret]: 1 })],
	[
		'a 401',
		(secret) => answer(401, { message: secret }, { 'www-authenticate': secretHeader(secret) }),
	],
	['a 429', (secret) => answer(429, { message: secret })],
	['the end of a long text', (secret) => answer(400, `${'x'.repeat(480)}${secret}`)],
	[
		'the path of a redirect',
		(secret) => redirect(`http://127.0.0.1:9/${encodeURIComponent(secret)}`),
	],
	[
		'the query of a redirect',
		(secret) => redirect(`http://127.0.0.1:9/?a=${encodeURIComponent(secret)}`),
	],
	[
		'the user of a redirect',
		(secret) => redirect(`http://me:${encodeURIComponent(secret)}@127.0.0.1:9/`),
	],
];

function redirect(location: string): Fault {
	return { kind: 'redirect', location };
}

/** A secret as a header can hold it. */
function secretHeader(secret: string): string {
	return `Bearer error="${encodeURIComponent(secret)}"`;
}

/** A service that repeats the token, or the password, in what it answers. */
function echoing(say: (secret: string) => Fault): Plan {
	return (call) => (call.operation === 'login' ? undefined : say(call.token ?? 'no token'));
}

describe('A service that repeats the token in', () => {
	for (const [operation, parameters] of operations) {
		test.each(echoes)(`%s gets it no further: ${operation}`, async (name, say) => {
			// What a state change is answered with is handed on as it is.
			if (operation === 'stop' && name.includes('success')) return;
			if (operation === 'stop' && name === 'the name of a field') return;
			sandbox.faults.plan(echoing(say));
			for (const onError of modes) await expectNoLeak(parameters, onError);
		});
	}
});

describe('A service that repeats the password in', () => {
	const password = ({ body }: PlannedCall) => (body as { password: string }).password;

	test.each(echoes)('%s of the log-in gets it no further', async (_, say) => {
		sandbox.faults.plan((call) => (call.operation === 'login' ? say(password(call)) : undefined));
		for (const onError of modes)
			await expectNoLeak(getAll({ options: { maxRetries: 0 } }), onError);
	});

	test.each(echoes)('%s of any other call gets it no further', async (name, say) => {
		sandbox.faults.plan((call) => (call.operation === 'login' ? undefined : say(PASSWORD)));
		for (const onError of modes)
			await expectNoLeak(getAll({ options: { maxRetries: 0 } }), onError);
		expect(name).toBeTruthy();
	});
});

describe('A token that is not the one stored', () => {
	const repeat = echoing((token) => answer(200, `Not a list: ${token}`));

	test('when others have just fetched it, is not repeated either', async () => {
		await engine.run({ parameters: getAll() });
		engine.saveCredential(credentialFor(sandbox));
		sandbox.faults.plan(repeat);
		await expectNoLeak(getAll(), 'stopWorkflow');
	});

	test('when it took the place of one that had expired, is not repeated either', async () => {
		await engine.run({ parameters: getAll() });
		sandbox.tokens.expireAll();
		sandbox.faults.plan((call) => {
			if (call.operation === 'login') return undefined;
			return call.nOfOperation === 1 ? undefined : repeat(call);
		});
		await expectNoLeak(getAll(), 'stopWorkflow');
	});

	test('when the service answers the log-in with it in a shape of its own, is not repeated', async () => {
		const token = 'a-token-in-another-shape';
		const shapes: unknown[] = [
			token,
			[token],
			{ token },
			{ data: token },
			{ data: { token } },
			{ body: token },
			{ access_token: [token] },
			{ access_token: { message: token } },
			{ data: { access_token: token }, message: 'ok' },
		];
		for (const shape of shapes) {
			engine.saveCredential({ ...credentialFor(sandbox), userName: JSON.stringify(shape) });
			sandbox.faults.plan(() => answer(200, shape));
			const { traces, failed } = await leftBy(getAll({ options: { maxRetries: 0 } }));
			expect(failed).toBe(true);
			expect({ shape, found: placesOf([token], traces) }).toEqual({ shape, found: [] });
		}
	});

	test('nor is a part of it, where a text had to be cut', async () => {
		const parts: string[] = [];
		sandbox.faults.plan(
			echoing((token) => {
				parts.push(token.slice(0, 10));
				return answer(400, `a${' '.repeat(9_985)}${token}`);
			}),
		);
		const { traces } = await leftBy(getAll());
		expect(parts.length).toBeGreaterThan(0);
		expect(placesOf(parts, traces)).toEqual([]);
	});
});

describe('Another host', () => {
	let elsewhere: ReturnType<typeof createServer>;
	let received: string[];
	let host: string;

	beforeEach(async () => {
		received = [];
		elsewhere = createServer((request, reply) => {
			received.push(`${request.method} ${request.url}`);
			reply.end('{}');
		});
		await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
		host = `127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
	});
	afterEach(async () => {
		await new Promise((resolve) => elsewhere.close(resolve));
	});

	const statuses = [301, 302, 303, 307, 308] as const;

	test.each(statuses)('gets no request where a call is redirected to it: %i', async (status) => {
		sandbox.faults.plan(({ operation }) =>
			operation === 'login'
				? undefined
				: { kind: 'redirect', status, location: `http://${host}/x` },
		);
		for (const [, parameters] of operations) await expectNoLeak(parameters, 'stopWorkflow');
		expect(received).toEqual([]);
	});

	test.each(statuses)(
		'gets no request where the log-in is redirected to it: %i',
		async (status) => {
			sandbox.faults.plan(() => ({ kind: 'redirect', status, location: `http://${host}/x` }));
			await expectNoLeak(getAll(), 'stopWorkflow');
			expect(received).toEqual([]);
		},
	);

	const addresses: Array<
		[string, (host: string) => Partial<IHttpRequestOptions> & { uri?: string }]
	> = [
		['url', (name) => ({ url: `http://${name}/x` })],
		['url, without slashes', (name) => ({ url: `http:${name}/x` })],
		['url, with one slash', (name) => ({ url: `http:/${name}/x` })],
		['url, with slashes the other way', (name) => ({ url: `http:\\\\${name}\\x` })],
		['url, with capitals', (name) => ({ url: `HTTP://${name}/x` })],
		[
			'url, with a user name that is a host',
			(name) => ({ url: `http://jobs.example.com@${name}/` }),
		],
		['url, beside a base', (name) => ({ baseURL: sandbox.url, url: `http://${name}/x` })],
		['url, without a scheme', (name) => ({ baseURL: sandbox.url, url: `//${name}/x` })],
		['base', (name) => ({ baseURL: `http://${name}`, url: '/x' })],
		['base, with an empty url', (name) => ({ baseURL: `http://${name}`, url: '' })],
		['uri', (name) => ({ uri: `http://${name}/x` })],
		['uri, with one slash', (name) => ({ uri: `http:/${name}/x` })],
	];

	test.each(addresses)('is refused the token: %s', async (_, request) => {
		const { authenticate } = engine.loaded.credentialType('jobOrchestrationApi');
		if (typeof authenticate !== 'function') throw new Error('It is a function');
		const credentials: ICredentialDataDecryptedObject = {
			...credentialFor(sandbox),
			accessToken: 'the-token',
		};
		const options = { method: 'GET', ...request(host) } as IHttpRequestOptions;
		const error: unknown = await authenticate(credentials, options).catch((e: unknown) => e);
		expect(error).toBeInstanceOf(Error);
		expect(String(error)).toMatch(/This credential is for .* only/);
		expect(
			placesOf(['the-token', PASSWORD], new Map([['it', [...everyText(error)].join()]])),
		).toEqual([]);
	});

	test('gets none of what is meant for the own service of the credential, which is sent', async () => {
		await engine.run({ parameters: getAll() });
		for (const name of ['url', 'uri']) {
			const options = { method: 'GET', [name]: `${sandbox.url}/api/v1/clusters` };
			await requestWithCredential(options as unknown as IHttpRequestOptions);
		}
		expect(sandbox.calls.map(({ operation, status }) => [operation, status])).toEqual([
			['login', 200],
			...new Array(3).fill(['listClusters', 200]),
		]);
		expect(received).toEqual([]);
	});

	test.each(addresses)('gets no request through n8n: %s', async (_, request) => {
		await engine.run({ parameters: getAll() });
		const options = { method: 'GET', ...request(host) } as IHttpRequestOptions;
		await expect(requestWithCredential(options)).rejects.toThrow();
		expect(received).toEqual([]);
	});
});

/** Sends a request as a node does that uses the credential without knowing it. */
async function requestWithCredential(options: IHttpRequestOptions): Promise<unknown> {
	const { node } = engine.loaded;
	let answered: unknown;
	const listSearch = {
		async probe(this: ILoadOptionsFunctions) {
			const { httpRequestWithAuthentication, requestWithAuthentication } = this.helpers;
			answered = await ('uri' in options
				? requestWithAuthentication.call(this, 'jobOrchestrationApi', options as object)
				: httpRequestWithAuthentication.call(this, 'jobOrchestrationApi', options));
			return { results: [] };
		},
	};
	const methods = jest.replaceProperty(node, 'methods', { listSearch });
	try {
		await engine.listSearch('probe');
		return answered;
	} finally {
		methods.restore();
	}
}
