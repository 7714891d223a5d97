import { startSandbox, type Sandbox } from '../../sandbox';
import type { Snapshot } from '../../sandbox/page/snapshot';
import { Client, send } from './client';

let sandbox: Sandbox;
let client: Client;

beforeEach(async () => {
	sandbox = await startSandbox({ clusters: 1000 });
	client = new Client(sandbox);
	await client.login();
});
afterEach(async () => await sandbox.close());

const snapshot = async () => (await send(`${sandbox.url}/page/snapshot`)).body as Snapshot;

it.each([
	['/', 'html'],
	['/page/page.css', 'css'],
	['/page/page.js', 'javascript'],
	['/page/lit-html.js', 'javascript'],
])('The page loads %s, which loads nothing from anywhere else', async (path, type) => {
	const { status, body, headers } = await send(sandbox.url + path);
	expect(status).toBe(200);
	expect(headers.get('content-type')).toBe(`text/${type}; charset=utf-8`);
	expect(headers.get('content-security-policy')).toContain("default-src 'none'");
	expect(body).not.toMatch(
		/https?:\/\/(?!www\.w3\.org)|@import|url\(|\b(src|href)="(?!page\/|data:,)/,
	);
});

it('The page shows the newest jobs, the first clusters, and the number of all', async () => {
	for (let index = 1; index <= 101; index += 1) await client.createdJob();
	const uid = [...sandbox.store.jobs.keys()].at(-1);
	const { jobs, clusters } = await snapshot();
	expect(jobs).toMatchObject({ total: 101, counts: { running: 101 } });
	expect(jobs.newest).toHaveLength(100);
	expect(jobs.newest[0]).toMatchObject({ uid, state: 'running' });
	expect(clusters.total).toBe(1000);
	expect(clusters.first[0]).toMatchObject({ name: 'north-master-1', jobs: 101 });
});

it('The page shows the latest calls, and why they were refused, but no token', async () => {
	const { metadata } = await client.createdJob();
	await client.change('stop', metadata.uid);
	await client.change('resume', metadata.uid);
	const { calls } = await snapshot();
	expect(calls.latest.map(({ what, status, reason }) => [what, status, reason])).toEqual([
		['Resume job', 409, `Can't resume job '${metadata.uid}', it is stopped`],
		['Stop job', 200, null],
		['Create job', 200, null],
		['Log in', 200, null],
	]);
	expect(JSON.stringify(await snapshot())).not.toContain(client.token);
});

it.each([
	['demo', 'demo-password', 'demo-password'],
	['ann', 'not-for-the-page', null],
])(
	'For the login of %s with %s, the page shows the password %s',
	async (userName, password, shown) => {
		await sandbox.close();
		sandbox = await startSandbox({ userName, password });
		const { logIn, ...others } = await snapshot();
		expect(logIn).toEqual({ pathPrefix: '', userName, password: shown });
		expect(JSON.stringify(others)).not.toContain(password);
	},
);
