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

describe('The page', () => {
	it('is one file, which loads nothing from anywhere', async () => {
		const { body, headers } = await send(`${sandbox.url}/`);
		expect(headers.get('content-type')).toContain('text/html');
		expect(headers.get('content-security-policy')).toContain("default-src 'none'");
		expect(body).not.toMatch(/https?:|\bsrc=|@import|url\(/);
	});

	it('puts whatever a job is called into itself as text only', async () => {
		const { body } = await send(`${sandbox.url}/`);
		expect(body).toContain('textContent');
		expect(body).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b/);
	});
});

describe('What the page shows', () => {
	it('is each job with its state, as it changes', async () => {
		const job = await client.createdJob({ ...smallestJob, displayName: '<b>Bold</b>' });
		const shown = {
			name: job.name,
			displayName: '<b>Bold</b>',
			namespace: 'default',
			cluster: 'north-master-1',
		};
		expect((await snapshot()).jobs.newest).toMatchObject([
			{ ...shown, state: 'running', finishedAt: null },
		]);
		await client.change('stop', job.name);
		await snapshot();
		expect((await snapshot()).jobs).toMatchObject({
			counts: { running: 0, suspended: 0, stopped: 1, terminated: 0, succeeded: 0 },
			newest: [{ ...shown, state: 'stopped', finishedAt: expect.any(Number) }],
		});
	});

	it('is the newest hundred jobs, the newest first, and the number of all', async () => {
		for (let index = 1; index <= 250; index += 1) {
			await client.create({ ...smallestJob, displayName: `job ${index}` });
		}
		const { counts, newest } = (await snapshot()).jobs;
		expect(newest).toHaveLength(100);
		expect(newest[0]?.displayName).toBe('job 250');
		expect(newest.at(-1)?.displayName).toBe('job 151');
		expect(counts.running).toBe(250);
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
		expect(latest.map(({ operation, status }) => [operation, status])).toEqual([
			['listClusters', 200],
			['login', 200],
		]);
	});

	it('is never a token or a password', async () => {
		await client.list();
		const text = JSON.stringify(await snapshot());
		expect(text).not.toContain(client.token);
		expect(text).not.toContain(sandbox.password);
	});
});
