import {
	startSandbox,
	type Job,
	type JobState,
	type Sandbox,
	type StoredJob,
	type Verb,
} from '../../sandbox';
import { Client, messageOf, smallestJob } from './client';
import { verbs } from './states';

let sandbox: Sandbox;
let client: Client;
let job: Job;
let clock: number;

beforeEach(async () => {
	clock = Date.now();
	jest.spyOn(Date, 'now').mockImplementation(() => clock);
	sandbox = await startSandbox({ jobDuration: 10_000 });
	client = new Client(sandbox);
	await client.login();
	job = await client.createdJob();
});
afterEach(async () => {
	jest.restoreAllMocks();
	await sandbox.close();
});

const change = async (verb: string, id = job.metadata.uid, namespace = 'default') =>
	await client.change(verb, id, namespace);
const stored = (): StoredJob => sandbox.store.jobs.get(job.metadata.uid) as StoredJob;

/** The job's state at a number of milliseconds after its start. */
function stateAt(milliseconds: number): string {
	clock = stored().startedAt + milliseconds;
	return stored().state;
}

it('A new job runs, has all fields that the interface shows, and is another one each time', async () => {
	expect(job).toMatchObject({
		metadata: { namespace: 'default' },
		name: `job-${job.metadata.uid}`,
		displayName: 'Nightly report',
		group: '',
		type: 'normal',
		workflow: { uid: 'wf-report' },
		priority: 0,
		status: { startedAt: new Date(clock).toISOString(), finishedAt: null },
		inputs: [],
		outputs: [],
		retryOption: { maxRetry: 0, retryInterval: 0 },
		engineWorkflow: { name: job.name },
		workspace: 'default',
		workCluster: 'wc-000001',
	});
	expect(stored().state).toBe('running');
	const other = await client.createdJob({ ...smallestJob, workCluster: 'wc-000003' });
	expect(other.engineWorkflow).toMatchObject({ spec: { nodeSelector: { region: 'east' } } });
	expect(sandbox.store.jobs.size).toBe(2);
});

describe('Time', () => {
	it('makes a running job succeed when its duration is over', () => {
		expect(stateAt(9_999)).toBe('running');
		expect(stateAt(15_000)).toBe('succeeded');
		expect(stored().finishedAt).toBe(stored().startedAt + 10_000);
	});

	it('does not count while a job is suspended', async () => {
		clock += 4_000;
		await change('suspend');
		expect(stateAt(64_000)).toBe('suspended');
		await change('resume');
		expect(stateAt(69_999)).toBe('running');
		expect(stateAt(70_000)).toBe('succeeded');
	});

	it('stands still for a job that was stopped', async () => {
		clock += 1_000;
		await change('stop');
		expect(stateAt(60_000)).toBe('stopped');
		expect(stored().finishedAt).toBe(stored().startedAt + 1_000);
	});
});

describe('A job that is', () => {
	/** What each verb makes of a job in each state; null is a 409. */
	const changes: Record<JobState, Record<Verb, JobState | null>> = {
		running: { suspend: 'suspended', resume: 'running', stop: 'stopped', terminate: 'terminated' },
		suspended: {
			suspend: 'suspended',
			resume: 'running',
			stop: 'stopped',
			terminate: 'terminated',
		},
		stopped: { suspend: null, resume: null, stop: 'stopped', terminate: null },
		terminated: { suspend: null, resume: null, stop: null, terminate: 'terminated' },
		succeeded: { suspend: null, resume: null, stop: null, terminate: null },
	};
	const bringInto: Record<string, () => unknown> = {
		suspended: async () => await change('suspend'),
		stopped: async () => await change('stop'),
		terminated: async () => await change('terminate'),
		succeeded: () => (clock += 10_000),
	};
	const cases = Object.entries(changes).flatMap(([from, to]) =>
		verbs.map((verb) => [from, verb, to[verb]] as const),
	);

	it.each(cases)('%s is, after %s, %s', async (from, verb, to) => {
		await bringInto[from]?.();
		const answer = await change(verb);
		if (to === null) {
			expect(answer.status).toBe(409);
			expect(messageOf(answer)).toBe(`Can't ${verb} job '${job.metadata.uid}', it is ${from}`);
		} else {
			expect(answer).toMatchObject({ status: 200, body: undefined });
			expect(answer.headers.get('content-length')).toBe('0');
		}
		expect(stored().state).toBe(to ?? from);
	});
});

it.each([
	['its name', 'default', () => job.name, () => `: that is the name of job '${job.metadata.uid}'`],
	['another id', 'default', () => 'job-1', () => ''],
	['its uid in another namespace', 'other', () => job.metadata.uid, () => ''],
])('A job is not found by %s: that is a 404', async (_what, namespace, id, hint) => {
	const answer = await change('stop', id(), namespace);
	expect(answer.status).toBe(404);
	expect(messageOf(answer)).toBe(`There is no job '${id()}' in namespace '${namespace}'${hint()}`);
	expect(stored().state).toBe('running');
});
