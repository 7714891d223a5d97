import { startSandbox, type Sandbox } from '../../sandbox';
import type { Snapshot } from '../../sandbox/page/snapshot';
import { Client, send, smallestJob } from './client';

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

describe('What the page shows', () => {
	it('is each job with its state, as it changes', async () => {
		const { metadata } = await client.createdJob({ ...smallestJob, displayName: '<b>Bold</b>' });
		const job = {
			...{ uid: metadata.uid, displayName: '<b>Bold</b>', namespace: 'default' },
			...{ cluster: 'north-master-1', state: 'running', finishedAt: null },
		};
		expect((await snapshot()).jobs).toMatchObject({ newest: [job], counts: { running: 1 } });
		await client.change('stop', metadata.uid);
		expect((await snapshot()).jobs).toMatchObject({
			counts: { running: 0, suspended: 0, stopped: 1, terminated: 0, succeeded: 0 },
			newest: [{ ...job, state: 'stopped', finishedAt: expect.any(Number) }],
		});
	});

	it('is the newest jobs, the first clusters, and the number of all', async () => {
		for (let index = 1; index <= 120; index += 1) {
			await client.create({ ...smallestJob, displayName: `job ${index}` });
		}
		const { jobs, clusters } = await snapshot();
		expect(jobs).toMatchObject({ total: 120, counts: { running: 120 } });
		expect(jobs.newest).toHaveLength(100);
		expect(jobs.newest[0]?.displayName).toBe('job 120');
		expect(clusters.total).toBe(1000);
		expect(clusters.first[0]).toMatchObject({ name: 'north-master-1', jobs: 120 });
	});

	it('is the latest calls, and why they were refused', async () => {
		const { metadata } = await client.createdJob();
		await client.create({ ...smallestJob, workCluster: 'north' });
		await client.change('stop', metadata.uid);
		await client.change('resume', metadata.uid);
		await client.list();
		const { total, latest } = (await snapshot()).calls;
		expect(total).toBe(6);
		expect(latest.map(({ what, status, reason }) => [what, status, reason])).toEqual([
			['Get many clusters', 200, null],
			['Resume job', 409, `Can't resume job '${metadata.uid}', it is stopped`],
			['Stop job', 200, null],
			['Create job', 400, "body/job/workCluster: there is no cluster 'north'"],
			['Create job', 200, null],
			['Log in', 200, null],
		]);
		expect(JSON.stringify(await snapshot())).not.toContain(client.token);
	});

	it.each([
		['demo', 'demo-password', 'demo-password'],
		['demo', 'not-for-the-page', null],
		['ann', 'not-for-the-page', null],
	])('for the log-in of %s with %s is the password %s', async (userName, password, shown) => {
		await sandbox.close();
		sandbox = await startSandbox({ userName, password });
		await new Client(sandbox).login();
		const { logIn, ...others } = await snapshot();
		expect(logIn).toEqual({ pathPrefix: '', userName, password: shown });
		expect(JSON.stringify(others)).not.toContain(password);
	});

	it('of a job that is clicked is what was asked for, cut where it is long', async () => {
		const { metadata } = await client.createdJob({
			...smallestJob,
			priority: 0,
			inputs: [{ id: 'data', default: 'x'.repeat(1_000_000) }],
		});
		expect((await send(`${sandbox.url}/page/jobs/${metadata.uid}`)).body).toEqual({
			displayName: 'Nightly report',
			fields: {
				'Job ID': metadata.uid,
				Name: `job-${metadata.uid}`,
				Namespace: 'default',
				'Workflow UID': 'wf-report',
				'Work Cluster': 'wc-000001 (north-master-1)',
				Priority: '0',
			},
			inputs: [{ id: 'data', value: `${'x'.repeat(2000)}… (1,000,000 characters)` }],
			outputs: [],
			callback: null,
		});
		expect((await send(`${sandbox.url}/page/jobs/no-such-job`)).status).toBe(404);
	});
});
