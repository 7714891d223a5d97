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

async function snapshot(): Promise<Snapshot> {
	return (await send(`${sandbox.url}/page/snapshot`)).body as Snapshot;
}

const files = ['/', '/page/page.css', '/page/page.js', '/page/elements.js'];

describe('The page', () => {
	it.each(files)('loads %s, which loads nothing from anywhere else', async (path) => {
		const { status, body, headers } = await send(sandbox.url + path);
		expect(status).toBe(200);
		expect(headers.get('content-type')).toMatch(/^text\/(html|css|javascript); charset=utf-8$/);
		expect(headers.get('content-security-policy')).toContain("default-src 'none'");
		expect(body).not.toMatch(/https?:|@import|url\(|\b(src|href)="(?!page\/|data:,)/);
	});

	it('puts whatever a job is called into itself as text only', async () => {
		for (const path of files) {
			const { body } = await send(sandbox.url + path);
			expect(body).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b/);
		}
		expect((await send(`${sandbox.url}/page/elements.js`)).body).toContain('textContent');
	});
});

describe('What the page shows', () => {
	it('is each job with its state, as it changes', async () => {
		const job = await client.createdJob({ ...smallestJob, displayName: '<b>Bold</b>' });
		const shown = {
			uid: job.metadata.uid,
			displayName: '<b>Bold</b>',
			namespace: 'default',
			cluster: 'north-master-1',
		};
		expect((await snapshot()).jobs.newest).toMatchObject([
			{ ...shown, state: 'running', finishedAt: null },
		]);
		await client.change('stop', job.metadata.uid);
		await snapshot();
		expect((await snapshot()).jobs).toMatchObject({
			counts: { running: 0, suspended: 0, stopped: 1, terminated: 0, succeeded: 0 },
			newest: [{ ...shown, state: 'stopped', finishedAt: expect.any(Number) }],
		});
	});

	it('is a job that was resumed and stopped, once', async () => {
		const { metadata } = await client.createdJob();
		for (const verb of ['suspend', 'resume', 'stop']) {
			await client.change(verb, metadata.uid);
			await snapshot();
		}
		expect((await snapshot()).jobs.counts).toEqual({
			running: 0,
			suspended: 0,
			stopped: 1,
			terminated: 0,
			succeeded: 0,
		});
	});

	it('is the newest hundred jobs, the newest first, and the number of all', async () => {
		for (let index = 1; index <= 250; index += 1) {
			await client.create({ ...smallestJob, displayName: `job ${index}` });
		}
		for (const time of ['first', 'second']) {
			const { counts, newest } = (await snapshot()).jobs;
			expect([time, newest.length, newest[0]?.displayName, newest.at(-1)?.displayName]).toEqual([
				time,
				100,
				'job 250',
				'job 151',
			]);
			expect(counts.running).toBe(250);
		}
	});

	it('is the first clusters, the number of all, and how many jobs each was given', async () => {
		await client.create();
		await client.create();
		const { total, first } = (await snapshot()).clusters;
		expect(total).toBe(1000);
		expect(first).toHaveLength(60);
		expect(first[0]).toEqual({
			uid: 'wc-000001',
			name: 'north-master-1',
			type: 'master',
			phase: 'Running',
			jobs: 2,
		});
	});

	it('is the latest calls, but not those of the page itself', async () => {
		await client.list();
		await snapshot();
		const { total, latest } = (await snapshot()).calls;
		expect(total).toBe(2);
		expect(latest.map(({ what, status }) => [what, status])).toEqual([
			['Get many clusters', 200],
			['Log in', 200],
		]);
	});

	it('is what a call was for, and why it was refused', async () => {
		const { metadata } = await client.createdJob();
		await client.create({ ...smallestJob, workCluster: 'north' });
		await client.change('suspend', metadata.uid);
		await client.change('stop', metadata.uid);
		await client.change('resume', metadata.uid);
		const { latest } = (await snapshot()).calls;
		expect(latest.map(({ what, status, reason }) => [what, status, reason])).toEqual([
			['Resume job', 409, `Can't resume job '${metadata.uid}', it is stopped`],
			['Stop job', 200, null],
			['Suspend job', 200, null],
			['Create job', 400, "body.job.workCluster: there is no cluster 'north'"],
			['Create job', 200, null],
			['Log in', 200, null],
		]);
	});

	it('has every field that the script of the page reads', async () => {
		await client.create();
		const { jobs, clusters, calls } = await snapshot();
		const script = String((await send(`${sandbox.url}/page/page.js`)).body);
		const parts = {
			...{ jobs, clusters, calls },
			...{ job: jobs.newest[0], cluster: clusters.first[0], call: calls.latest[0] },
		};
		for (const [name, part] of Object.entries(parts)) {
			const read = [...script.matchAll(new RegExp(`\\b${name}\\.(\\w+)`, 'g'))].map(
				([, key]) => key,
			);
			expect(read).not.toEqual([]);
			expect(Object.keys(part ?? {})).toEqual(expect.arrayContaining(read));
		}
	});

	it('is never a token', async () => {
		await client.list();
		expect(JSON.stringify(await snapshot())).not.toContain(client.token);
	});
});

describe('The log-in that the page shows', () => {
	it("is the demo user's", async () => {
		expect((await snapshot()).logIn).toEqual({
			pathPrefix: '',
			userName: 'demo',
			password: 'demo-password',
		});
	});

	it.each(['ann', 'demo'])('has no password that somebody chose for %s', async (userName) => {
		await sandbox.close();
		sandbox = await startSandbox({ userName, password: 'not-for-the-page' });
		client = new Client(sandbox);
		await client.login();
		const shown = await snapshot();
		expect(shown.logIn).toEqual({ pathPrefix: '', userName, password: null });
		expect(JSON.stringify(shown)).not.toContain('not-for-the-page');
	});
});

describe('What the page shows of a job that is clicked', () => {
	const details = async (uid: string) => await send(`${sandbox.url}/page/jobs/${uid}`);

	it('is what was asked for, by the labels of the form', async () => {
		const { metadata, name } = await client.createdJob({
			...smallestJob,
			group: 'invoices',
			priority: 0,
			inputs: [{ id: 'customer', default: 'Alder' }],
			outputs: [{ id: 'invoice' }],
			retryOption: { maxretry: 2, retryInterval: 3000 },
		});
		expect((await details(metadata.uid)).body).toEqual({
			fields: {
				'Job ID': metadata.uid,
				Name: name,
				Namespace: 'default',
				'Workflow UID': 'wf-report',
				'Work Cluster': 'wc-000001 (north-master-1)',
				Group: 'invoices',
				Priority: '0',
				'Job Max Retry': '2',
				'Job Retry Interval': '3000',
			},
			inputs: [{ id: 'customer', value: 'Alder' }],
			outputs: [{ id: 'invoice', value: '' }],
			callback: null,
		});
	});

	it('is cut where it is long', async () => {
		const { metadata } = await client.createdJob({
			...smallestJob,
			inputs: [{ id: 'data', default: 'x'.repeat(1_000_000) }],
		});
		const { inputs } = (await details(metadata.uid)).body as { inputs: Array<{ value: string }> };
		expect(inputs[0]?.value).toBe(`${'x'.repeat(2000)}… (1,000,000 characters)`);
	});

	it('is nothing where there is no such job', async () => {
		expect((await details('no-such-job')).status).toBe(404);
	});
});
