import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import type { IDataObject } from 'n8n-workflow';

import { startSandbox } from '../../sandbox';
import type { Fault } from '../../sandbox';
import { change, create, credentialFor, getAll, useSandbox } from '../engine/fixture';
import { selfSignedCertificate } from '../sandbox/selfSignedCertificate';

/*
 * What a person reads when it fails, as n8n has it in the end.
 */

const fixture = useSandbox();

/** The error that a list of clusters ends in, with a credential that differs so. */
async function errorWith(changed: IDataObject) {
	const { userName, password } = fixture.sandbox;
	fixture.engine.saveCredential({
		...credentialFor(fixture.sandbox),
		userName,
		password,
		...(changed as Record<string, string>),
	});
	const { error } = await fixture.engine.run({
		parameters: getAll({ options: { maxRetries: 0 } }),
	});
	return { message: error?.message, description: error?.description };
}

/** A port on which nothing listens. */
async function freePort(): Promise<number> {
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	await new Promise((resolve) => server.close(resolve));
	return port;
}

test('nothing listens there', async () => {
	const baseUrl = `http://127.0.0.1:${await freePort()}`;
	expect(await errorWith({ baseUrl })).toEqual({
		message: `The service at ${baseUrl} can't be reached`,
		description: expect.stringMatching(
			/No connection could be made \(ECONNREFUSED\)\. Check the host and the port/,
		),
	});
});

test('no such host', async () => {
	const { message, description } = await errorWith({ baseUrl: 'http://no-such-host.invalid' });
	expect(message).toBe("The service at http://no-such-host.invalid can't be reached");
	expect(description).toMatch(
		/No host of this name is known \((ENOTFOUND|EAI_AGAIN)\)\. Check the Base URL/,
	);
});

test('a certificate that is not trusted, and the switch that accepts it', async () => {
	const sandbox = await startSandbox({ tls: await selfSignedCertificate() });
	try {
		const { message, description } = await errorWith({ baseUrl: sandbox.url });
		expect(message).toBe(`The certificate of ${sandbox.url} isn't trusted`);
		expect(description).toMatch(/DEPTH_ZERO_SELF_SIGNED_CERT.*Ignore SSL Issues/);
		// Not even the log-in, which would have been the password.
		expect(sandbox.calls).toEqual([]);
		fixture.engine.saveCredential({ ...credentialFor(sandbox), ignoreSslIssues: true });
		const { error, items } = await fixture.engine.run({ parameters: getAll() });
		expect(error).toBeUndefined();
		expect(items.length).toBeGreaterThan(0);
	} finally {
		await sandbox.close();
	}
});

test.each([
	['', 'The Base URL of the credential is empty'],
	['jobs.example.com', "The Base URL of the credential isn't a web address"],
	[
		'ftp://jobs.example.com',
		"The Base URL of the credential doesn't start with http:// or https://",
	],
	[
		'http://me:hidden@jobs.example.com',
		'The Base URL of the credential holds a user name or a password',
	],
	['http://jobs.example.com/?a=b', 'The Base URL of the credential holds a "?" or a "#"'],
])('the base URL %j', async (baseUrl, message) => {
	const error = await errorWith({ baseUrl });
	expect(error).toEqual({ message, description: expect.stringMatching(/^Open the credential/) });
	expect(JSON.stringify(error)).not.toContain('hidden');
});

test('the base URL may have spaces around it, slashes at its end and a path', async () => {
	const sandbox = await startSandbox({ pathPrefix: '/tools/jobs' });
	try {
		for (const baseUrl of [sandbox.url, `${sandbox.url}/`, `  ${sandbox.url}//  `]) {
			fixture.engine.saveCredential({ ...credentialFor(sandbox), baseUrl });
			const { error, items } = await fixture.engine.run({ parameters: getAll() });
			expect(error).toBeUndefined();
			expect(items.length).toBeGreaterThan(0);
		}
	} finally {
		await sandbox.close();
	}
});

test('a wrong password', async () => {
	const { message, description } = await errorWith({ password: 'wrong-password' });
	expect(message).toBe('The user name or the password is wrong');
	expect(description).toMatch(/Correct the credential/);
	expect(fixture.callsOf('login')).toHaveLength(1);
});

test('an address that is another service', async () => {
	fixture.sandbox.faults.plan(() => ({ kind: 'html', when: 'beforeActing' }));
	expect(await errorWith({})).toEqual({
		message: 'The service answered the log-in with an HTML page instead of a token',
		description: expect.stringMatching(/Check that the Base URL/),
	});
});

const answer = (status: number, body?: unknown): Fault => ({
	kind: 'answer',
	when: 'beforeActing',
	status,
	...(body === undefined ? {} : { body }),
});

/** The error that an operation ends in when the service answers it so. */
async function errorAfter(fault: Fault, parameters = create()) {
	fixture.sandbox.faults.plan(({ operation }) => (operation === 'login' ? undefined : fault));
	const { error } = await fixture.engine.run({
		parameters: { ...parameters, options: { maxRetries: 0, timeout: 300 } },
	});
	return { message: error?.message ?? '', description: error?.description ?? '' };
}

test.each<[string, Fault, string, RegExp]>([
	[
		'400',
		answer(400, { message: 'job.group is too long' }),
		"The service refused to create a job in namespace 'default': job.group is too long",
		/^The service says: "job\.group is too long" \(HTTP 400\)/,
	],
	[
		'401 after a new log-in',
		answer(401),
		'The service rejected the token that it had just given',
		/Check that the user may/,
	],
	[
		'403',
		answer(403),
		"The user isn't allowed to create a job in namespace 'default'",
		/Ask whoever runs the service/,
	],
	[
		'404',
		answer(404),
		"Something that the new job needs wasn't found in namespace 'default'",
		/Check Namespace, Workflow UID and Work Cluster/,
	],
	[
		'409',
		answer(409, { error: { message: 'exists' } }),
		"The service can't create a job in namespace 'default' as things stand: exists",
		/"exists" \(HTTP 409\)/,
	],
	[
		'429',
		answer(429),
		'The service is receiving too many requests',
		/Lower the option Concurrency/,
	],
	[
		'redirect',
		{ kind: 'redirect', location: 'https://login.example.com/sso?next=1' },
		'redirects to https://login.example.com/sso',
		/Redirects aren't followed/,
	],
])('a create that is answered with %s', async (_, fault, message, description) => {
	const error = await errorAfter(fault);
	expect(error.message).toContain(message);
	expect(error.message).not.toMatch(/may exist/);
	expect(error.description).toMatch(description);
});

test.each<[string, Fault, string]>([
	[
		'408',
		answer(408),
		'The service gave up waiting for the request; the job may exist nevertheless',
	],
	[
		'500',
		answer(500, 'boom'),
		"failed to create a job in namespace 'default'; the job may exist nevertheless",
	],
	['503 without a time', answer(503), '; the job may exist nevertheless'],
	[
		'no answer',
		{ kind: 'stall', when: 'afterActing' },
		'did not answer within 0.3 s; the job may exist nevertheless',
	],
	[
		'a broken connection',
		{ kind: 'break', when: 'afterActing' },
		'broke before the answer was complete; the job may exist nevertheless',
	],
	[
		'half a body',
		{ kind: 'halfBody', when: 'afterActing' },
		'broke before the answer was complete; the job may exist nevertheless',
	],
	[
		'a web page',
		{ kind: 'html', when: 'afterActing' },
		'The service answered with an HTML page instead of a job; the job may exist nevertheless',
	],
	[
		'a list',
		answer(200, []),
		'The service answered with a list instead of a job; the job may exist nevertheless',
	],
	[
		'nothing',
		answer(204),
		'The service answered with nothing instead of a job; the job may exist nevertheless',
	],
	[
		'a job without an id',
		answer(200, { name: 'x' }),
		'The service answered with an object of other fields (name) instead of a job; the job may exist nevertheless',
	],
])(
	'a create that is answered with %s says that the job may exist and how to find out',
	async (_, fault, message) => {
		const error = await errorAfter(fault);
		expect(error.message).toContain(message);
		expect(error.description).toContain(
			"look on the service for a job named 'Report' in namespace 'default'",
		);
		expect(fixture.callsOf('createJob')).toHaveLength(1);
	},
);

test('a job that is not there', async () => {
	const error = await errorAfter(answer(404), change('resume', { jobId: 'gone' }));
	expect(error.message).toBe("No job 'gone' in namespace 'default'");
	expect(error.description).toMatch(/metadata\.uid/);
});

test('a job whose state does not allow it, in the words of the service', async () => {
	await fixture.engine.run({ parameters: create() });
	const [job] = [...fixture.sandbox.store.jobs.values()];
	const jobId = String(job?.uid);
	await fixture.engine.run({ parameters: change('stop', { jobId }) });
	const { error } = await fixture.engine.run({ parameters: change('resume', { jobId }) });
	expect(error?.message).toContain(
		`The service can't resume job '${jobId}' in namespace 'default' as things stand: `,
	);
	expect(error?.description).toMatch(/^The service says: ".*stopped.*" \(HTTP 409\)/);
});

test.each<[string, number, Fault, string]>([
	['not at all', 0, answer(500), ''],
	['once more', 1, answer(429), ' It was tried 2 times.'],
	[
		'once more, and may have worked',
		1,
		answer(500),
		' It was tried 2 times. An earlier try got no clear answer and may have worked.',
	],
])('a state change that was sent again %s says so', async (_, maxRetries, fault, said) => {
	fixture.sandbox.faults.plan(({ operation }) => (operation === 'login' ? undefined : fault));
	const { error } = await fixture.engine.run({
		parameters: change('stop', { jobId: 'one', options: { maxRetries } }),
	});
	const [advice, item] = error?.description?.split('<br><br>') ?? [];
	const words = /( It was tried \d+ times\.)?( An earlier try .*)?$/.exec(advice ?? '');
	expect(words?.[0]).toBe(said);
	expect(item).toBe('It was item 0 (the first is 0).');
});

test('a read that was sent again had no effect to speak of', async () => {
	fixture.sandbox.faults.plan(({ operation }) => (operation === 'login' ? undefined : answer(500)));
	const { error } = await fixture.engine.run({
		parameters: getAll({ options: { maxRetries: 1 } }),
	});
	expect(error?.description).toContain('It was tried 2 times.');
	expect(error?.description).not.toContain('may have worked');
});

test.each<[unknown, string]>([
	[{ message: 'one' }, 'one'],
	[{ error: 'two' }, 'two'],
	[{ msg: 'three' }, 'three'],
	[{ detail: 'four' }, 'four'],
	[{ error: { code: 7, message: 'five' } }, 'five'],
	[{ errors: [{ detail: 'six' }] }, 'six'],
	['seven', 'seven'],
])('the words of the service are found in %j', async (body, text) => {
	expect((await errorAfter(answer(400, body))).description).toContain(
		`The service says: "${text}"`,
	);
});

test('what looks like markup in the words of the service is shown as text', async () => {
	const { description } = await errorAfter(answer(400, '1 < 2 & <b>3</b> &lt; 4'));
	expect(description).toContain('"1 &lt; 2 &amp; &lt;b>3&lt;/b> &amp;lt; 4" (HTTP 400)');
});

test('a password and a token that the service repeats are left out', async () => {
	const { password } = fixture.sandbox;
	fixture.sandbox.faults.plan(({ operation, token }) =>
		operation === 'login' ? undefined : answer(400, `no ${password}, no ${token}, but this`),
	);
	const { error } = await fixture.engine.run({ parameters: create() });
	expect(error?.description).toContain('"no ***, no ***, but this"');
});

test('the HTTP status is there where n8n looks for it, and only where there is one', async () => {
	const { error: refused } = await fixture.engine.run({
		parameters: change('stop', { jobId: 'gone' }),
	});
	expect(refused).toMatchObject({ name: 'NodeApiError', httpCode: '404' });
	fixture.engine.saveCredential({ ...credentialFor(fixture.sandbox), baseUrl: 'ftp://nowhere' });
	const { error: unsent } = await fixture.engine.run({ parameters: getAll() });
	expect(unsent).toMatchObject({ name: 'NodeApiError', httpCode: null });
});

test('a huge answer is cut', async () => {
	const error = await errorAfter(answer(400, 'x'.repeat(5_000_000)));
	expect(error.description.length).toBeLessThan(1_000);
});
