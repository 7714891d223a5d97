import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { startSandbox, type Sandbox } from '../../sandbox';
import { help, readCommandLine } from '../../sandbox/commandLine';
import type { Snapshot } from '../../sandbox/page/snapshot';
import { Client, send, smallestJob } from './client';

/*
 * The contract is valid, and the sandbox follows it: it sends what the contract describes, and refuses other requests
 * with a reason. Its command line and its page show what they promise.
 */

let sandbox: Sandbox;
let client: Client;

beforeAll(async () => {
	sandbox = await startSandbox({ clusters: 1000 });
	client = new Client(sandbox);
	await client.login();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.clearCalls());

test('The contract is valid according to a standard OpenAPI linter, including its examples and without warnings', async () => {
	const linter = join(dirname(require.resolve('@redocly/cli/package.json')), 'bin', 'cli.js');
	const { stdout } = await promisify(execFile)(
		process.execPath,
		[linter, 'lint', 'contract/openapi.yaml', '--extends=recommended', '--format=json'],
		{
			cwd: join(__dirname, '..', '..'),
			env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
		},
	);
	const found: unknown = JSON.parse(stdout.slice(stdout.indexOf('{')));
	expect(found).toMatchObject({ totals: { errors: 0, warnings: 0, ignored: 0 }, problems: [] });
}, 30_000);

describe('The sandbox refuses', () => {
	const withJob = (change: object): object => ({
		namespace: 'default',
		job: { ...smallestJob, ...change },
	});
	const jobs = '/api/v1/namespaces/default/jobs';
	const clusters = '/api/v1/clusters?ListOption';

	it.each<[number, string, string, unknown, string]>([
		[400, 'POST', jobs, { ...withJob({}), extra: 1 }, 'must NOT have additional properties: extra'],
		[400, 'POST', jobs, withJob({ priority: '3' }), 'body/job/priority must be number'],
		[400, 'POST', jobs, withJob({ workCluster: 'wc-9' }), "there is no cluster 'wc-9'"],
		[400, 'POST', jobs, withJob({ namespace: 'other' }), "body/job/namespace is 'other'"],
		[400, 'POST', jobs, '{"namespace":', 'Body is not valid JSON'],
		[400, 'GET', `${clusters}.limit=0`, undefined, 'ListOption.limit must be >= 1'],
		[400, 'PUT', `${jobs}/a/pause`, undefined, 'params/status must be equal to one of the allowed'],
		[400, 'PUT', `${jobs}/job-1/stop`, {}, 'body must be null'],
		[404, 'GET', '/oauth/login', undefined, 'There is no call GET /oauth/login'],
		[404, 'GET', '/api/v2/clusters', undefined, 'There is no call GET /api/v2/clusters'],
	])(
		'a wrong request with a %i that names the fault: %s %s with %j',
		async (status, method, path, body, message) => {
			const before = sandbox.store.jobs.size;
			const answer = await send(sandbox.url + path, { method, body, token: client.token });
			expect(answer.status).toBe(status);
			expect(answer.body).toMatchObject({ message: expect.stringContaining(message) as unknown });
			expect(sandbox.store.jobs.size).toBe(before);
		},
	);

	it('a port that is in use, and listens on loopback', async () => {
		const { hostname, port } = new URL(sandbox.url);
		expect(hostname).toBe('127.0.0.1');
		const second = startSandbox({ port: Number(port) });
		await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
	});
});

test('The command line explains each option, reads it, and says what is wrong with it', () => {
	const usual = { port: 8480, recordCalls: false };
	expect(readCommandLine(['--port', '9000'])).toEqual({ ...usual, port: 9000 });
	expect(readCommandLine(['--job-duration', '0.5'])).toEqual({ ...usual, jobDuration: 500 });
	expect(readCommandLine(['--per-second', '9'])).toEqual({ ...usual, limits: { perSecond: 9 } });
	for (const name of ['port', 'job-duration', 'per-second']) expect(help).toContain(`  --${name} `);
	expect(() => readCommandLine(['--clusters', '0.5'])).toThrow(
		"--clusters must be a whole number from 0 to 1000000000, not '0.5'",
	);
});

describe('The page', () => {
	const snapshot = async (at = sandbox) => (await send(`${at.url}/page/snapshot`)).body as Snapshot;

	it.each([
		['/', 'html'],
		['/page/page.css', 'css'],
		['/page/page.js', 'javascript'],
		['/page/lit-html.js', 'javascript'],
	])('loads %s, which loads nothing from other hosts', async (path, type) => {
		const { status, body, headers } = await send(sandbox.url + path);
		expect(status).toBe(200);
		expect(headers.get('content-type')).toBe(`text/${type}; charset=utf-8`);
		expect(headers.get('content-security-policy')).toContain("default-src 'none'");
		expect(body).not.toMatch(
			/https?:\/\/(?!www\.w3\.org)|@import|url\(|\b(src|href)="(?!page\/|data:,)/,
		);
	});

	it('shows the newest jobs, the first clusters and the latest calls with the reasons for refusals, but no token', async () => {
		const before = await snapshot();
		await Promise.all(Array.from({ length: 100 }, async () => await client.createdJob()));
		const inputs = [{ id: 'count', default: '12' }];
		const { metadata } = await client.createdJob({ ...smallestJob, inputs });
		await client.change('stop', metadata.uid);
		await client.change('resume', metadata.uid);
		const { jobs, clusters, calls } = await snapshot();
		expect(jobs.total).toBe(before.jobs.total + 101);
		expect(jobs.newest).toHaveLength(100);
		expect(jobs.newest[0]).toMatchObject({ uid: metadata.uid, state: 'stopped' });
		const { body } = await send(`${sandbox.url}/page/jobs/${metadata.uid}`);
		expect(body).toMatchObject({ inputs: JSON.stringify(inputs, null, 2), outputs: '[]' });
		expect(clusters.total).toBe(1000);
		const ran = Number(before.clusters.first[0]?.jobs);
		expect(clusters.first[0]).toMatchObject({ name: 'north-master-1', jobs: ran + 101 });
		const reason = `Can't resume job '${metadata.uid}', it is stopped`;
		expect(calls.latest.slice(0, 3)).toMatchObject([
			{ what: 'Resume job', status: 409, reason },
			{ what: 'Stop job', status: 200, reason: null },
			{ what: 'Create job', status: 200, reason: null },
		]);
		expect(JSON.stringify(await snapshot())).not.toContain(client.token);
	});

	it.each([
		['demo-password', 'demo-password'],
		['not-for-the-page', null],
	])('for the password %s, shows the password %s', async (password, shown) => {
		const other = await startSandbox({ password });
		const { logIn, ...others } = await snapshot(other);
		await other.close();
		expect(logIn.password).toBe(shown);
		expect(JSON.stringify(others)).not.toContain(password);
	});
});
