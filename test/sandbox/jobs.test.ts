import { startSandbox, type Job, type Sandbox, type StoredJob } from '../../sandbox';
import { Client, messageOf } from './client';

let sandbox: Sandbox;
let client: Client;
let job: Job;
let stored: StoredJob;
let clock: number;

beforeEach(async () => {
	clock = Date.now();
	jest.spyOn(Date, 'now').mockImplementation(() => clock);
	sandbox = await startSandbox({ jobDuration: 10_000 });
	client = new Client(sandbox);
	await client.login();
	job = await client.createdJob();
	stored = sandbox.store.jobs.get(job.metadata.uid) as StoredJob;
});
afterEach(async () => {
	jest.restoreAllMocks();
	await sandbox.close();
});

const change = async (verb: string, id = job.metadata.uid, namespace = 'default') =>
	await client.change(verb, id, namespace);

/** The job's state at a number of milliseconds after its start. */
function stateAt(milliseconds: number): string {
	clock = stored.startedAt + milliseconds;
	return stored.state;
}

it('A job succeeds when its duration is over; the time that it is suspended does not count', async () => {
	expect([stateAt(9_999), stateAt(15_000)]).toEqual(['running', 'succeeded']);
	expect(stored.finishedAt).toBe(stored.startedAt + 10_000);
	clock = stored.startedAt + 4_000;
	await change('suspend');
	expect(stateAt(64_000)).toBe('suspended');
	await change('resume');
	expect([stateAt(69_999), stateAt(70_000)]).toEqual(['running', 'succeeded']);
});

it.each([
	['running', 'suspended running stopped terminated'],
	['suspended', 'suspended running stopped terminated'],
	['stopped', '409 409 stopped 409'],
	['terminated', '409 409 409 terminated'],
	['succeeded', '409 409 409 409'],
])('A job that is %s becomes, by each verb, %s', async (from, ends) => {
	const bringInto: Record<string, () => unknown> = {
		suspended: async () => await change('suspend'),
		stopped: async () => await change('stop'),
		terminated: async () => await change('terminate'),
		succeeded: () => (clock += 10_000),
	};
	for (const [index, verb] of ['suspend', 'resume', 'stop', 'terminate'].entries()) {
		job = await client.createdJob();
		stored = sandbox.store.jobs.get(job.metadata.uid) as StoredJob;
		await bringInto[from]?.();
		const answer = await change(verb);
		const end = ends.split(' ')[index];
		expect(answer.status).toBe(end === '409' ? 409 : 200);
		expect(stored.state).toBe(end === '409' ? from : end);
		if (end === '409')
			expect(messageOf(answer)).toBe(`Can't ${verb} job '${job.metadata.uid}', it is ${from}`);
	}
});

it.each([
	['its name', 'default', () => job.name, () => `: that is the name of job '${job.metadata.uid}'`],
	['its uid in another namespace', 'other', () => job.metadata.uid, () => ''],
])('A job is not found by %s: that is a 404', async (_what, namespace, id, hint) => {
	const answer = await change('stop', id(), namespace);
	expect(answer.status).toBe(404);
	expect(messageOf(answer)).toBe(`There is no job '${id()}' in namespace '${namespace}'${hint()}`);
	expect(stored.state).toBe('running');
});
