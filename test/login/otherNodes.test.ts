import type { IDataObject, IHttpRequestOptions, IRequestOptions } from 'n8n-workflow';

import type { Fault } from '../../sandbox';
import { gate } from '../reliability/batch';
import { until } from '../sandbox/client';
import { actAndAnswer, answer } from '../support/answer';
import { MINUTE_MS, pass } from '../support/clock';
import { credentialFor, getAll, newSandbox, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import { CREDENTIAL } from '../support/packageUnderTest';
import { selfSignedCertificate } from '../sandbox/selfSignedCertificate';

/*
 * Other nodes, such as HTTP Request, can use the credential, but only for its Base URL, and no request of theirs is
 * carried out twice. After any error, n8n asks the credential for a token, and sends the request again if it gets one.
 */

const fixture = useSandbox();

/** After this time, a token isn't so new that it may not be valid yet. */
const OLDER_MS = 11_000;

/** Each test begins with a stored token, and without recorded calls. */
beforeEach(async () => {
	await fixture.engine.run({ parameters: getAll() });
	pass(OLDER_MS);
	fixture.sandbox.clearCalls();
});

/** Sends a create as another node does. */
const post = async (options?: Partial<IRequestOptions>) =>
	await fixture.engine.createAsOtherNode(options);

const counts = () =>
	(['createJob', 'listClusters', 'login'] as const).map(
		(operation) => fixture.callsOf(operation).length,
	);

test('with Never Error, n8n does not treat a rejected token as an error, and requests no other token', async () => {
	fixture.sandbox.tokens.expireAll();
	const response = await post({ simple: false, resolveWithFullResponse: true });
	expect(response).toMatchObject({ statusCode: 401 });
	expect(counts()).toEqual([1, 0, 0]);
});

describe('A request that fails is sent once', () => {
	type Row = [after: string, httpCode: string, healthChecks: number, Fault, ofCheck?: Fault];
	const withCheck = (end: string, ofCheck: Fault): Row => [
		`a 500, if the health check ends in ${end}, as if the user may not list work clusters`,
		...(['500', 1, actAndAnswer(500), ofCheck] as const),
	];

	test.each<Row>([
		['a 404', '404', 1, answer(404)],
		['a broken connection', 'ECONNRESET', 1, { kind: 'break', when: 'afterActing' }],
		// Without a response, the token wasn't rejected, so no health check is needed.
		['a time-out', 'ECONNABORTED', 0, { kind: 'stall', when: 'afterActing' }],
		withCheck('403', answer(403, { message: 'no' })),
		withCheck('404', answer(404, { message: 'no' })),
		withCheck('500', answer(500, { message: 'no' })),
		withCheck('a page', { kind: 'html', when: 'beforeActing' }),
		withCheck('no answer', { kind: 'drip', when: 'beforeActing' }),
	])('after %s', async (...[, httpCode, healthChecks, fault, ofCheck]) => {
		const { orRunOut } = hurry();
		pass(2 * MINUTE_MS);
		fixture.sandbox.faults.plan(({ operation }) => {
			if (operation === 'createJob') return fault;
			return operation === 'listClusters' && ofCheck ? orRunOut(ofCheck) : undefined;
		});
		const sent = post({ timeout: fault.kind === 'stall' ? 300 : 10_000 });
		await expect(sent).rejects.toMatchObject({ httpCode });
		expect(counts()).toEqual([1, healthChecks, 0]);
	});

	test('even if its token was replaced meanwhile, as long as the service accepts the old one', async () => {
		const held = gate();
		fixture.meets('createJob', [held.fault, actAndAnswer(500)]);
		const posted = post();
		await until(() => fixture.callsOf('createJob').length === 1);
		await fixture.engine.testCredential();
		held.open();
		await expect(posted).rejects.toMatchObject({ httpCode: '500' });
		expect(fixture.callsOf('createJob')).toHaveLength(1);
	});

	test('and ten of them cause at most two logins, if the service rejects every token', async () => {
		fixture.meets('others', answer(401));
		for (let request = 0; request < 10; request += 1) await expect(post()).rejects.toThrow();
		expect(fixture.callsOf('login').length).toBeLessThanOrEqual(2);
	});
});

describe('A request of another node', () => {
	test('is sent again with a new token, though three tokens expire within a minute', async () => {
		for (let request = 0; request < 4; request += 1) {
			fixture.sandbox.tokens.expireAll();
			await post();
			pass(OLDER_MS);
		}
		expect(fixture.sandbox.store.jobs.size).toBe(4);
	});

	test('is sent again with a new token, though the old one has just been accepted', async () => {
		await fixture.start({});
		await fixture.engine.run({ parameters: getAll() });
		fixture.sandbox.tokens.expireAll();
		fixture.sandbox.clearCalls();
		await post();
		expect(counts()).toEqual([2, 1, 1]);
	});

	test('is sent again with a new token to a service whose certificate only the credential accepts', async () => {
		const sandbox = await newSandbox({ tls: selfSignedCertificate });
		fixture.engine.saveCredential({ ...credentialFor(sandbox), ignoreSslIssues: true });
		await fixture.engine.run({ parameters: getAll() });
		pass(OLDER_MS);
		sandbox.tokens.expireAll();
		await post();
		expect(sandbox.store.jobs.size).toBe(1);
	});
});

describe('The token', () => {
	/**
	 * Signs a request with the stored credential. In the request, `{host}` stands for the origin of the service's
	 * address and `{name}` for its host.
	 */
	async function signed(request: IDataObject): Promise<IHttpRequestOptions> {
		const { origin, host } = new URL(fixture.sandbox.url);
		const text = JSON.stringify(request).replaceAll('{host}', origin).replaceAll('{name}', host);
		const { credentials } = fixture.engine;
		const options = JSON.parse(text) as IHttpRequestOptions;
		return await credentials.authenticate(credentials.look('1'), CREDENTIAL, options);
	}

	const isFor = () => `This credential is for ${fixture.sandbox.url} only`;
	const checked = { skipSslCertificateValidation: false, rejectUnauthorized: true };
	const unchecked = { skipSslCertificateValidation: true, rejectUnauthorized: false };

	test("is sent with the request, which follows no redirect, whatever the node's own options are", async () => {
		const request = { url: `${fixture.sandbox.url}/api/v1/other`, headers: { A: 'b' } };
		const options = { ...unchecked, followRedirect: true, followAllRedirects: true };
		expect(await signed({ ...request, ...options })).toEqual({
			...request,
			headers: { A: 'b', Authorization: `Bearer ${fixture.engine.token}` },
			...{ disableFollowRedirect: true, followRedirect: false, followAllRedirects: false },
			...checked,
		});
	});

	test('is sent despite an untrusted certificate only if the credential allows it, and not after it is edited to forbid it', async () => {
		fixture.engine.editCredential({ ignoreSslIssues: true });
		await fixture.engine.run({ parameters: getAll() });
		expect(await signed({ url: '{host}/api/v1/other' })).toMatchObject(unchecked);
		fixture.engine.editCredential({ ignoreSslIssues: false });
		// n8n then asks for a new token. If that token can't be used either, the sender gets this error.
		await expect(signed({ url: '{host}/api/v1/other' })).rejects.toMatchObject({
			response: { status: 401 },
			failure: { httpStatus: 401 },
			message: 'The request was not sent: there is no token for it',
			description: '',
		});
	});

	const at = (address: string) => ({ uri: `{host}${address}` });
	const elsewhere = 'elsewhere.example.com';

	test.each<[pathPrefix: string, sent: IDataObject[], refused: IDataObject[]]>([
		[
			'',
			[at(''), { url: '/api/v1/clusters', baseURL: '{host}' }],
			[
				...[`.${elsewhere}/api`, `@${elsewhere}/api`].map(at),
				...['file:///etc/passwd', `http:/${elsewhere}/api`].map((uri) => ({ uri })),
				...[`http:${elsewhere}/x`, `http:\\\\${elsewhere}\\x`].map((url) => ({ url })),
				...[`HTTP://${elsewhere}/x`, 'http://127.0.0.1:9/api/v1/clusters'].map((url) => ({ url })),
				...[`http://${elsewhere}/x`, `//${elsewhere}/x`].map((url) => ({ url, baseURL: '{host}' })),
				{ url: '', baseURL: `http://${elsewhere}` },
				{},
				{ ...at('/api'), headers: { hOsT: elsewhere } },
				{ ...at('/api'), headers: { host: '{name}', Host: elsewhere } },
				{ ...at('/api'), headers: { Host: elsewhere, host: '{name}' } },
			],
		],
		[
			'/a',
			[
				...['/a/b', '/a?b', '/c/../a/b', '/a/b%2Fc', '/a/..b/c..', '/a/a%20100%25.txt'].map(at),
				{ url: '/b', baseURL: '{host}/a' },
				{ ...at('/a/b'), headers: { host: '{name}', Host: '{name}' } },
			],
			[
				...['/ab', '/A/b', '/', '/a/../b', '/a/.%2E/b', '/a/..%2fb', '/a/.\t./b'].map(at),
				// What is encoded twice, or in another way.
				...['/a/%252e%252e/b', '/a/..%25252fb', '/a/.%25%2532e/b', '/a/%u002e%u002e/b'].map(at),
				// What may end a segment of the path.
				...['/a/..%3Fb', '/a/..%23b', '/a/..%00/b', '/a/..;/b', '/a/x/%2e%2e%3bv=1/b'].map(at),
				...['/a/x%5c..%5c..%5cb', '\\a\\..\\b'].map(at),
				{ url: '../b', baseURL: '{host}/a' },
				{ url: '/b', baseURL: '{host}' },
			],
		],
	])(
		'is sent only to the Base URL, here with the path "%s", and below it',
		async (pathPrefix, sent, refused) => {
			await fixture.start({ pathPrefix });
			await fixture.engine.run({ parameters: getAll() });
			const headers = { Authorization: `Bearer ${fixture.engine.token}` };
			for (const request of sent) {
				expect([request, await signed(request)]).toMatchObject([request, { headers }]);
			}
			for (const request of refused) {
				const end = await signed(request).catch((error: unknown) => String(error));
				expect([request, end]).toEqual([request, expect.stringContaining(isFor())]);
			}
		},
	);

	test('is neither checked nor requested for a request that the credential refuses', async () => {
		// Not even if the stored token belongs to another account, as after this edit.
		fixture.engine.editCredential({ password: 'edited' });
		const proxy = await newSandbox();
		for (const options of [{ uri: `${fixture.sandbox.url}.example.com/` }, { proxy: proxy.url }]) {
			await expect(post(options)).rejects.toThrow(isFor());
		}
		expect(fixture.sandbox.calls).toEqual([]);
		expect(proxy.connections.peak).toBe(0);
	});
});

test('The test of a credential logs in each time, whatever became of other logins, whether a token is stored or not', async () => {
	hurry();
	const { engine, sandbox } = fixture;
	fixture.meets('listClusters', answer(401));
	await engine.run({ parameters: getAll(), onError: 'continueRegularOutput' });
	fixture.sandbox.faults.clear();
	let logins = fixture.callsOf('login').length;
	for (const form of [
		{ password: 'wrong' },
		{ password: 'wrong', accessToken: '' },
		{ password: 'wrong' },
		{ accessToken: '' },
		{ baseUrl: `${sandbox.url}/` },
		{ accessToken: '' },
		{ accessToken: engine.storedToken },
	]) {
		const test = engine.testCredential(form);
		if ('password' in form) {
			await expect(test).rejects.toThrow('The service refused the login');
		} else {
			expect(await test).toMatchObject({ items: expect.any(Array) as unknown });
		}
		expect(fixture.callsOf('login')).toHaveLength((logins += 1));
	}
});

test('Other nodes send a wrong password again only after half a minute', async () => {
	fixture.engine.editCredential({ password: 'wrong for other nodes' });
	for (const [ms, logins] of [
		[0, 1],
		[29_000, 1],
		[2_000, 2],
	] as const) {
		pass(ms);
		await expect(post()).rejects.toThrow('The service refused the login');
		expect(counts()).toEqual([0, 0, logins]);
	}
});
