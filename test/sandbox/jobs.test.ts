import { startSandbox, type Job, type Sandbox } from '../../sandbox';
import { Client, messageOf, smallestJob } from './client';
import { verbs } from './states';

let sandbox: Sandbox;
let client: Client;
let job: Job;

beforeEach(async () => {
	sandbox = await startSandbox({ jobDuration: 10_000 });
	client = new Client(sandbox);
	await client.login();
	clock = Date.now();
	jest.spyOn(Date, 'now').mockImplementation(() => clock);
	job = await client.createdJob();
});
afterEach(async () => {
	jest.restoreAllMocks();
	await sandbox.close();
});

let clock: number;

/** Brings a new job into a state. */
const into: Record<string, () => Promise<void>> = {
	running: async () => {},
	suspended: async () => void (await client.change('suspend', job.metadata.uid)),
	stopped: async () => void (await client.change('stop', job.metadata.uid)),
	terminated: async () => void (await client.change('terminate', job.metadata.uid)),
	succeeded: async () => void (clock += 10_000),
};

const stateNow = (): string | undefined => sandbox.store.jobs.get(job.metadata.uid)?.state;
const finishedAfter = (): number | null | undefined => {
	const stored = sandbox.store.jobs.get(job.metadata.uid);
	return stored?.finishedAt && stored.finishedAt - stored.startedAt;
};

describe('A new job', () => {
	it('is running, is named after its uid and has not finished', () => {
		expect(job.name).toBe(`job-${job.metadata.uid}`);
		expect(job.status).toEqual({ startedAt: new Date(clock).toISOString(), finishedAt: null });
		expect(stateNow()).toBe('running');
	});

	it('has every field that the interface shows, also where the request gave none', () => {
		expect(job).toMatchObject({
			metadata: { namespace: 'default' },
			displayName: 'Nightly report',
			group: '',
			type: 'normal',
			workflow: { uid: 'wf-report' },
			priority: 0,
			inputs: [],
			outputs: [],
			retryOption: { maxRetry: 0, retryInterval: 0 },
			engineWorkflow: { name: job.name },
			workspace: 'default',
			workCluster: 'wc-000001',
		});
	});

	it('is another one for each request, even for the same', async () => {
		await client.create();
		expect(sandbox.store.jobs.size).toBe(2);
	});

	it('runs where its cluster says', async () => {
		const created = await client.createdJob({ ...smallestJob, workCluster: 'wc-000003' });
		expect(created.engineWorkflow.spec.nodeSelector).toEqual({ region: 'east' });
	});
});

describe('Time', () => {
	it('is ten minutes for a job, where no other duration is asked for', async () => {
		await sandbox.close();
		sandbox = await startSandbox();
		client = new Client(sandbox);
		await client.login();
		job = await client.createdJob();
		clock += 599_999;
		expect(stateNow()).toBe('running');
		clock += 1;
		expect(stateNow()).toBe('succeeded');
	});

	it('makes a running job succeed when its duration is over', () => {
		clock += 9_999;
		expect(stateNow()).toBe('running');
		clock += 1;
		expect(stateNow()).toBe('succeeded');
		clock += 5_000;
		expect(finishedAfter()).toBe(10_000);
	});

	it('does not count while a job is suspended', async () => {
		clock += 4_000;
		await client.change('suspend', job.metadata.uid);
		clock += 60_000;
		expect(stateNow()).toBe('suspended');
		await client.change('resume', job.metadata.uid);
		clock += 5_999;
		expect(stateNow()).toBe('running');
		clock += 1;
		expect(stateNow()).toBe('succeeded');
		expect(finishedAfter()).toBe(70_000);
	});

	it('stands still for a job that was stopped or terminated', async () => {
		clock += 1_000;
		await client.change('stop', job.metadata.uid);
		clock += 60_000;
		expect(stateNow()).toBe('stopped');
		expect(finishedAfter()).toBe(1_000);
	});
});

describe('A job that is', () => {
	const changes: Array<[from: string, verb: string, to: string]> = [
		['running', 'suspend', 'suspended'],
		['running', 'stop', 'stopped'],
		['running', 'terminate', 'terminated'],
		['suspended', 'resume', 'running'],
		['suspended', 'stop', 'stopped'],
		['suspended', 'terminate', 'terminated'],
	];

	it('something can be told to do whatever there is', () => {
		expect([...new Set(changes.map(([, verb]) => verb))].sort()).toEqual([...verbs].sort());
	});

	it.each(changes)('%s can be told to %s, and is %s', async (from, verb, to) => {
		await into[from]?.();
		const answer = await client.change(verb, job.metadata.uid);
		expect(answer).toMatchObject({ status: 200, body: undefined });
		expect(answer.headers.get('content-length')).toBe('0');
		expect(stateNow()).toBe(to);
	});

	it.each([
		['running', 'resume'],
		['suspended', 'suspend'],
		['stopped', 'stop'],
		['terminated', 'terminate'],
	])('%s already can be told to %s once more, which changes nothing', async (state, verb) => {
		await into[state]?.();
		expect((await client.change(verb, job.metadata.uid)).status).toBe(200);
		expect(stateNow()).toBe(state);
	});

	it.each<readonly [string, string]>([
		['stopped', 'suspend'],
		['stopped', 'resume'],
		['stopped', 'terminate'],
		['terminated', 'suspend'],
		['terminated', 'resume'],
		['terminated', 'stop'],
		...verbs.map((verb) => ['succeeded', verb] as const),
	])("%s can't be told to %s: that is a 409 which says so", async (state, verb) => {
		await into[state]?.();
		const answer = await client.change(verb, job.metadata.uid);
		expect(answer.status).toBe(409);
		expect(messageOf(answer)).toMatch(
			new RegExp(`^Can't ${verb} job '${job.metadata.uid}', it is ${state}$`),
		);
		expect(stateNow()).toBe(state);
	});
});

describe('A job is found', () => {
	it('by its uid', async () => {
		expect((await client.change('stop', job.metadata.uid)).status).toBe(200);
	});

	it('not by its name: that is a 404 which says what its uid is', async () => {
		const answer = await client.change('stop', job.name);
		expect(answer.status).toBe(404);
		expect(messageOf(answer)).toBe(
			`There is no job '${job.name}' in namespace 'default': that is the name of job '${job.metadata.uid}'`,
		);
		expect(stateNow()).toBe('running');
	});

	it.each([
		['under another id', 'job-1', 'default'],
		['in another namespace', undefined, 'other'],
	])('not %s: that is a 404 which names both', async (_what, id, namespace) => {
		const uid = id ?? job.metadata.uid;
		const answer = await client.change('stop', uid, namespace);
		expect(answer.status).toBe(404);
		expect(messageOf(answer)).toBe(`There is no job '${uid}' in namespace '${namespace}'`);
		expect(stateNow()).toBe('running');
	});
});
