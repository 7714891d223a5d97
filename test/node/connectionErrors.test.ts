import { createServer, type AddressInfo, type Server } from 'node:net';

import { Container } from '@n8n/di';
import * as n8nWorkflow from 'n8n-workflow';

import { answer } from '../support/answer';
import { create, credentialFor, getAll, newSandbox, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import { selfSignedCertificate } from '../sandbox/selfSignedCertificate';

declare const requireOnce: NodeJS.Require | undefined;

/*
 * An error says what to correct if the node can't connect to the service or can't log in, and that nothing was sent.
 */

const fixture = useSandbox();

const options = { maxRetries: 0 };

// In the editor, the node doesn't wait for a service that has never answered.
beforeEach(() => {
	fixture.engine.mode = 'manual';
	hurry();
});

/** Returns the error of a node whose credential has these changes. */
async function errorWith(changed: Record<string, string>, parameters = create({ options })) {
	fixture.engine.editCredential(changed);
	return (await fixture.engine.run({ parameters })).error;
}

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

/** Starts a server that ends each connection with these bytes, after it has received something. Returns its host. */
async function serverThatEnds(end: Buffer | string): Promise<string> {
	const server = createServer((socket) =>
		socket.on('error', () => {}).once('data', () => socket.end(end)),
	);
	servers.push(server);
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Loads the same copy of a module that n8n's engine uses. */
const load = typeof requireOnce === 'function' ? requireOnce : require;
const { env } = load('node:process') as NodeJS.Process;

const noAddress = 'must be an address that starts with https:// or http://';
const more = 'must have no user name, no password, no ? and no #';

test.each<[field: string, value: string, problem: string]>([
	['userName', '', "'Username' is empty"],
	['userName', '  ', "'Username' is empty"],
	['password', '', "'Password' is empty"],
	['baseUrl', '', "'Base URL' is empty"],
	['baseUrl', 'jobs.example.com', `'Base URL' ${noAddress}`],
	['baseUrl', 'localhost:8765', `'Base URL' ${noAddress}`],
	['baseUrl', 'http:/jobs.example.com', `'Base URL' ${noAddress}`],
	['baseUrl', 'ftp://jobs.example.com', `'Base URL' ${noAddress}`],
	['baseUrl', 'http://me:hidden@jobs.example.com', `'Base URL' ${more}`],
	['baseUrl', 'http://jobs.example.com/?a=b', `'Base URL' ${more}`],
])(
	'a credential with the %s %j is refused before anything is sent, also in its test: %s',
	async (field, value, problem) => {
		const message = `The credential's ${problem}`;
		const error = await errorWith({ [field]: value });
		expect(error).toMatchObject({ message, context: { httpStatus: null, jobMayExist: false } });
		expect(error?.description).toMatch(
			problem.endsWith('is empty')
				? /^Open the credential and fill it in, or correct its expression\. n8n's source control/
				: /^Open the credential and enter the address of the service alone/,
		);
		expect(`${error?.message} ${error?.description}`).not.toContain('hidden');
		await expect(fixture.engine.listAsOtherNode()).rejects.toThrow(message);
		expect(fixture.sandbox.calls).toEqual([]);
	},
);

test("the node sends nothing to a service whose certificate is not trusted, unless the credential's switch accepts it", async () => {
	const sandbox = await newSandbox({ tls: selfSignedCertificate });
	expect(await errorWith({ baseUrl: sandbox.url })).toMatchObject({
		message: `The certificate of ${sandbox.url} isn't trusted`,
		description: expect.stringMatching(
			/'Ignore SSL Issues \(Insecure\)'.*\n\nNothing was sent\. n8n says: "self-signed certificate"\./,
		),
	});
	// Not even the login, which contains the password.
	expect(sandbox.calls).toEqual([]);
	fixture.engine.saveCredential({ ...credentialFor(sandbox), ignoreSslIssues: true });
	const { items } = await fixture.succeeds(getAll());
	expect(items.length).toBeGreaterThan(0);
});

test('the Base URL may have spaces around it, slashes at its end and a path', async () => {
	await fixture.start({ pathPrefix: '/tools/jobs' });
	for (const ending of ['', '/', '//  ']) {
		expect(await errorWith({ baseUrl: `  ${fixture.sandbox.url}${ending}` })).toBeUndefined();
	}
});

/** Returns a fatal TLS alert (RFC 8446, section 6). */
const alert = (code: number) => Buffer.from([21, 3, 3, 0, 2, 2, code]);

const at = (address: string) => async () => await Promise.resolve(address);
const tlsThatEnds = (end: Buffer | string) => async () => `https://${await serverThatEnds(end)}`;

/** Lets n8n use a proxy, and returns the Base URL of a service behind it. */
const viaProxy =
	(proxy: string, service = 'https://jobs.example.com') =>
	async () => {
		env.HTTP_PROXY = env.HTTPS_PROXY = proxy;
		return await Promise.resolve(service);
	};
const viaProxyThatEnds = (end: string) => async () =>
	await viaProxy(`http://${await serverThatEnds(end)}`)();
const blocked = (status: string) =>
	`HTTP/1.1 ${status}\r\nContent-Length: 7\r\nConnection: close\r\n\r\nblocked`;

afterEach(() => {
	delete env.HTTP_PROXY;
	delete env.HTTPS_PROXY;
});

test.each<[what: string, baseUrl: () => Promise<string>, said: RegExp]>([
	[
		'the port is closed',
		at('http://127.0.0.1:9'),
		/^The service at http:\/\/127\.0\.0\.1:9 can't be reached\nCheck the 'Base URL' .*Nothing was sent\. n8n says: "connect ECONNREFUSED 127\.0\.0\.1:9"\.$/s,
	],
	[
		'the host is unknown',
		at('http://no-such-host.invalid'),
		/^The service at http:\/\/no-such-host\.invalid can't be reached\nCheck the 'Base URL' .*Nothing was sent\. n8n says: ".*(ENOTFOUND|EAI_AGAIN) no-such-host\.invalid"\.$/s,
	],
	['TLS ends in an error', tlsThatEnds(alert(80)), /^No secure connection .*alert internal error/s],
	['TLS ends in SSH', tlsThatEnds('SSH-2.0-x\r\n'), /^No secure connection .*write EPROTO /s],
	['TLS ends', tlsThatEnds(''), /can't be reached.*Nothing was sent/s],
	[
		'TLS ends in plain HTTP',
		tlsThatEnds('HTTP/1.1 400 Bad Request\r\n\r\n'),
		/^No secure connection to https:.*\nCheck whether the 'Base URL' .* http:\/\/ instead of https:.*Nothing was sent\. n8n says: ".*wrong version number/s,
	],
	[
		"n8n's proxy doesn't run",
		viaProxy('http://127.0.0.1:9', 'http://jobs.example.com'),
		/^The service at http:\/\/jobs\.example\.com can't be reached\n.*n8n says: "connect ECONNREFUSED 127/s,
	],
	[
		"n8n's proxy has an unknown name",
		viaProxy('http://nobody:hidden@proxy.invalid:1'),
		/^The service at https:\/\/jobs\.example\.com can't be reached\n.*If n8n uses a proxy .*Nothing was sent\. n8n says: "getaddrinfo [A-Z_]+ proxy\.invalid"\.$/s,
	],
	[
		"n8n's proxy closes the connection",
		viaProxyThatEnds(''),
		/^The proxy between n8n and the service can't be reached, or refuses the connection\n.*\n\nNothing was sent\.$/s,
	],
	[
		"n8n's proxy refuses the address",
		viaProxyThatEnds(blocked('403 Forbidden')),
		/^The service or a proxy refused to log the user in: blocked\n.*ask its administrator whether it allows https:\/\/jobs\.example\.com/s,
	],
	[
		"n8n's proxy wants a login",
		viaProxyThatEnds(blocked('407 Proxy Authentication Required')),
		/^A proxy before the service wants a login: blocked\nAdd the user and the password of the proxy to its address/s,
	],
])('an error says what to correct, and that nothing was sent, if %s', async (_, start, words) => {
	const error = await errorWith({ baseUrl: await start() });
	const said = `${error?.message}\n${error?.description}`;
	expect(said).toMatch(words);
	if (env.HTTP_PROXY !== undefined) expect(said).toMatch(/HTTP_PROXY and HTTPS_PROXY/);
	expect(said).not.toMatch(/It was tried|hidden/);
	expect(error).toMatchObject({ context: { jobMayExist: false } });
});

/** Expects that neither this node nor another one sends anything, and an error with this description. */
async function expectBlocked(changed: Record<string, string>, description: RegExp): Promise<void> {
	const message = `n8n doesn't allow requests to ${fixture.sandbox.url}`;
	expect(await errorWith(changed)).toMatchObject({
		...{ message, description: expect.stringMatching(description) as unknown },
		context: { jobMayExist: false },
	});
	await expect(fixture.engine.listAsOtherNode()).rejects.toThrow(message);
	expect(fixture.sandbox.calls).toEqual([]);
}

test('the error says which field to change, if the credential does not allow the host of the service', async () => {
	if (!('getCredentialOwnRequestAllowedDomains' in n8nWorkflow)) return;
	await expectBlocked(
		{ allowedHttpRequestDomains: 'domains', allowedDomains: 'example.org' },
		/^Add the service's host to 'Allowed Domains' in the credential, below 'Allowed HTTP Request Domains'.*\n\nNothing was sent\. n8n says: "Domain not allowed:/,
	);
});

test('the error says which settings to change, if n8n blocks the address of the service', async () => {
	const path = load.resolve('@n8n/config', { paths: [load.resolve('n8n-core')] });
	const { SsrfProtectionConfig } = load(path) as Record<string, new () => { enabled: boolean }>;
	// Older releases of n8n can't block addresses. Node.js may then find the package of another release.
	if (SsrfProtectionConfig === undefined || !Container.has(SsrfProtectionConfig)) return;
	jest.replaceProperty(Container.get(SsrfProtectionConfig), 'enabled', true);
	await expectBlocked(
		{},
		/^Add the service's host to 'Allowed Domains' .* to allow its address .*\n\nNothing was sent\. n8n says: "The request was blocked because it resolves to a restricted IP address"\.$/,
	);
});

test('the error says which setting to change, if n8n blocks an expression with $env in the credential', async () => {
	env.N8N_BLOCK_ENV_ACCESS_IN_NODE = 'true';
	const error = await errorWith({ userName: '={{ $env.HOME }}' });
	delete env.N8N_BLOCK_ENV_ACCESS_IN_NODE;
	expect(error).toMatchObject({
		message: "n8n can't use this node's credential: access to env vars denied",
		description: expect.stringContaining('N8N_BLOCK_ENV_ACCESS_IN_NODE') as unknown,
	});
	expect(fixture.sandbox.calls).toEqual([]);
});

test.each(['', '   ', 'ab\ncd', 'tok☃', 7, null])(
	'the node does not accept %j as a token',
	async (access_token) => {
		fixture.sandbox.faults.plan(() => answer(200, { access_token }));
		const error = await errorWith({});
		expect(error?.message).toBe(
			'The service answered with an object instead of a token of visible ASCII characters',
		);
		// A login that isn't refused is sent once more.
		const { calls } = fixture.sandbox;
		expect(calls.map(({ operation }) => operation)).toEqual(['login', 'login']);
	},
);

test('an error that concerns all items names no item and no job', async () => {
	fixture.engine.editCredential({ password: 'wrong' });
	const { error } = await fixture.engine.run({ parameters: create() }, [{}, {}]);
	expect(error?.message).toBe('The service refused the login');
	expect(error?.description).not.toMatch(/item|'Report'/);
	expect(error).toMatchObject({ context: expect.not.objectContaining({ itemIndex: 0 }) });
});
