import { createServer, type AddressInfo } from 'node:net';

import * as n8nWorkflow from 'n8n-workflow';

import { answer } from '../support/answer';
import { create, credentialFor, getAll, newSandbox, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import { selfSignedCertificate } from '../sandbox/selfSignedCertificate';

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
async function errorWith(changed: Record<string, string>, parameters = getAll({ options })) {
	fixture.engine.editCredential(changed);
	return (await fixture.engine.run({ parameters })).error;
}

test.each([
	['userName', 'Username', ''],
	['userName', 'Username', '  '],
	['password', 'Password', ''],
])(
	'an error says that the %s is empty before anything is sent, also in the test of the credential',
	async (field, label, value) => {
		const message = `The credential's '${label}' is empty`;
		const error = await errorWith({ [field]: value }, create({ options }));
		expect(error).toMatchObject({ message, context: { httpStatus: null, jobMayExist: false } });
		expect(error?.description).toMatch(
			/^Open the credential and fill it in\. n8n's source control/,
		);
		await expect(fixture.engine.listAsOtherNode()).rejects.toThrow(message);
		expect(fixture.sandbox.calls).toEqual([]);
	},
);

test.each([
	['127.0.0.1:9', 'ECONNREFUSED'],
	['no-such-host.invalid', 'ENOTFOUND|EAI_AGAIN'],
])('an error names the address %s, to which there is no connection', async (host, codes) => {
	expect(await errorWith({ baseUrl: `http://${host}` })).toMatchObject({
		message: `The service at http://${host} can't be reached`,
		description: expect.stringMatching(
			new RegExp(
				`^Check the 'Base URL' .*\\n\\nNothing was sent\\. n8n says: ".*(${codes}) ${host}"\\.$`,
			),
		),
	});
});

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

test.each([
	['', 'is empty'],
	['jobs.example.com', 'must be an address that starts with https:// or http://'],
	['localhost:8765', 'must be an address that starts with https:// or http://'],
	['http:/jobs.example.com', 'must be an address that starts with https:// or http://'],
	['ftp://jobs.example.com', 'must be an address that starts with https:// or http://'],
	['http://me:hidden@jobs.example.com', 'must have no user name, no password, no ? and no #'],
	['http://jobs.example.com/?a=b', 'must have no user name, no password, no ? and no #'],
])('the node refuses the Base URL %j: it %s', async (baseUrl, problem) => {
	const error = await errorWith({ baseUrl }, create());
	const { message, description } = error ?? {};
	expect(error).toMatchObject({ context: { httpStatus: null, jobMayExist: false } });
	expect(message).toContain(`The credential's 'Base URL' ${problem}`);
	expect(description).toMatch(/^Open the credential/);
	expect(`${message} ${description}`).not.toContain('hidden');
});

test('the Base URL may have spaces around it, slashes at its end and a path', async () => {
	await fixture.start({ pathPrefix: '/tools/jobs' });
	for (const ending of ['', '/', '//  ']) {
		expect(await errorWith({ baseUrl: `  ${fixture.sandbox.url}${ending}` })).toBeUndefined();
	}
});

/** Returns a fatal TLS alert (RFC 8446, section 6). */
const alert = (code: number) => Buffer.from([21, 3, 3, 0, 2, 2, code]);

test.each<[string, end: Buffer | string, RegExp]>([
	['an internal error', alert(80), /^No secure connection .*alert internal error/s],
	['what is not TLS', 'SSH-2.0-x\r\n', /^No secure connection .*write EPROTO /s],
	[
		'an answer in plain HTTP',
		'HTTP/1.1 400 Bad Request\r\n\r\n',
		/^No secure connection to https:.*\nCheck whether the 'Base URL' .* http:\/\/ instead of https:.*Nothing was sent\. n8n says: ".*wrong version number/s,
	],
	['an end', '', /can't be reached.*Nothing was sent/s],
])('a TLS connection that ends in the handshake has sent nothing: %s', async (_, end, words) => {
	const server = createServer((socket) =>
		socket.on('error', () => {}).once('data', () => socket.end(end)),
	);
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	const error = await errorWith({ baseUrl: `https://127.0.0.1:${port}` }, create({ options }));
	server.close();
	expect(`${error?.message}\n${error?.description}`).toMatch(words);
	expect(error?.description).not.toMatch(/It was tried/);
	expect(error).toMatchObject({ context: { jobMayExist: false } });
});

test('the error says which field to change, if the credential does not allow the host of the service', async () => {
	if (!('getCredentialOwnRequestAllowedDomains' in n8nWorkflow)) return;
	const allowed = { allowedHttpRequestDomains: 'domains', allowedDomains: 'example.org' };
	const message = `n8n doesn't allow requests to ${fixture.sandbox.url}`;
	expect(await errorWith(allowed, create())).toMatchObject({
		message,
		description: expect.stringMatching(
			/^Add the service's host to 'Allowed Domains' in the credential, below 'Allowed HTTP Request Domains'.*\n\nNothing was sent\. n8n says: "Domain not allowed:/,
		),
	});
	await expect(fixture.engine.listAsOtherNode()).rejects.toThrow(message);
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
