import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { WorkflowFile } from '../../host/api';
import { exampleTag, importExamples } from '../../host/examples';
import { n8nFolders } from '../../host/host';
import { answer } from '../support/answer';
import { readExample, soon, useHost } from './host';
import { hostFolder } from './setUp';
import {
	addressIn,
	callUntilTaken,
	createsIn,
	endedOf,
	fillIn,
	json,
	planCreates,
	run,
	say,
} from './workflows';

/*
 * Every example works in a real n8n as it is imported, once the user has filled in job IDs and addresses.
 * errorWorkflows.test.ts runs the examples for failed workflows, and the browser tests that with the AI agent.
 */

const host = useHost('examples');

/** Creates a job by an example, and returns its ID. */
async function newJob(): Promise<string> {
	const output = await run(host, 'wait-for-room.json');
	return uidOf(output['Create job']?.[0]);
}

const uidOf = (job: unknown) => (job as { metadata: { uid: string } }).metadata.uid;

const jobWith = (uid: string) => host.sandbox.store.jobs.get(uid);
const stateOf = (uid: string) => jobWith(uid)?.state;

test('the examples that npm start imports have a tag', async () => {
	const { dataFolder } = host;
	await importExamples(n8nFolders({ hostFolder, dataFolder }), {
		logFile: join(dataFolder, 'import.log'),
	});
	type Listed = Pick<WorkflowFile, 'name'> & { tags: Array<{ name: string }> };
	const held = await host.api.call<Listed[]>('GET', '/rest/workflows');
	const tagged = held.filter(({ tags }) => tags.some(({ name }) => name === exampleTag.name));
	const names = new Set(tagged.map(({ name }) => name));
	const folder = join(__dirname, '../../examples');
	const files = (await readdir(folder)).filter((name) => name.endsWith('.json'));
	for (const file of files) {
		expect(names).toContain((await readExample(file)).name);
	}
});

test('a nightly job is created on a running cluster', async () => {
	const output = await run(host, 'nightly-job.json');
	const job = jobWith(uidOf(output['Create job']?.[0]));
	expect(job?.cluster.status.phase).toBe('Running');
	const { timezone } = await host.api.call<{ timezone: string }>('GET', '/rest/settings');
	const yesterday = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone });
	expect(job?.asked.inputs).toMatchObject([
		{ id: 'day', default: yesterday.format(Date.now() - 86_400_000) },
	]);
});

test('while no cluster is running, no nightly job is created', async () => {
	const pending = { metadata: { uid: 'wc-1' }, type: 'master', status: { phase: 'Pending' } };
	host.sandbox.faults.plan(({ operation }) =>
		operation === 'listClusters' ? answer(200, { items: [pending] }) : undefined,
	);
	const before = host.sandbox.store.jobs.size;
	await run(host, 'nightly-job.json');
	expect(host.sandbox.store.jobs.size).toBe(before);
});

test('a batch creates a job for each row, and failed rows leave through the error output', async () => {
	const output = await run(host, 'batch-with-error-branch.json');
	const created = output['Created'] ?? [];
	expect(created.map(({ customer }) => customer)).toEqual(['Alder', 'Birch', 'Dogwood', 'Elm']);
	expect(created.map(({ jobId }) => stateOf(String(jobId)))).toEqual(new Array(4).fill('running'));
	const inputs = created.map(({ jobId }) => jobWith(String(jobId))?.asked.inputs?.[0]);
	expect(inputs.map((input) => [input?.id, input?.default])).toEqual([
		['customer', 'Alder'],
		['customer', 'Birch'],
		['customer', 'Dogwood'],
		['customer', 'Elm'],
	]);
	const row = { workflow: 'monthly-invoice', cluster: 'wc-000001' };
	expect(created[0]).toEqual({ customer: 'Alder', ...row, jobId: expect.any(String) });
	const cluster = 'no-such-cluster';
	const reason = expect.stringContaining(cluster) as unknown;
	expect(output['Not created']).toEqual([{ customer: 'Cedar', ...row, cluster, reason }]);
});

test('jobs are suspended at peak hours and resumed afterwards', async () => {
	const jobIds = [await newJob(), await newJob()];
	await fillIn(host, 'suspend-at-peak-hours.json', {
		'Jobs to pause': { jsonOutput: JSON.stringify({ jobIds }) },
	});
	await run(host, 'suspend-at-peak-hours.json', 'At 8:00');
	expect(jobIds.map(stateOf)).toEqual(['suspended', 'suspended']);
	await run(host, 'suspend-at-peak-hours.json', 'At 20:00');
	expect(jobIds.map(stateOf)).toEqual(['running', 'running']);
});

test('a webhook stops or terminates a job', async () => {
	const workflow = await host.example('stop-job-by-webhook.json');
	await host.api.activate(workflow);
	const post = async (body: object) =>
		await fetch(`${host.url}/webhook/stop-job`, { method: 'POST', ...json(body) });
	const [stopped, terminated] = [await newJob(), await newJob()];
	expect((await post({ jobId: stopped, action: 'stop' })).status).toBe(200);
	expect((await post({ jobId: terminated, action: 'terminate' })).status).toBe(200);
	expect([stateOf(stopped), stateOf(terminated)]).toEqual(['stopped', 'terminated']);
	const refused = await post({ jobId: 'no-such-job', action: 'stop' });
	expect(refused.status).toBe(422);
	expect(await refused.json()).toMatchObject({
		reason: expect.stringContaining("No job 'no-such-job'"),
		details: expect.stringContaining('The service says'),
	});
	expect((await post({ jobId: stopped, action: 'burn' })).status).toBe(400);
	await host.api.deactivate(workflow.id);
});

test('failed creates are tried again without creating a job twice', async () => {
	planCreates(host.sandbox, { 1: { kind: 'break', when: 'afterActing' } });
	const before = host.sandbox.store.jobs.size;
	const output = await run(host, 'retry-without-doubling.json');
	expect(host.sandbox.store.jobs.size).toBe(before + 2);
	expect(output['Created']).toHaveLength(1);
	expect(output['Look for it first']).toHaveLength(1);
	expect(output['Given up']).toMatchObject([{ customer: 'Cedar' }]);
});

test('a crash-safe batch records each job, creates it once, and leaves failed rows to a person', async () => {
	const before = host.sandbox.store.jobs.size;
	await run(host, 'crash-safe-batch.json', 'Fill the ledger by hand');
	await run(host, 'crash-safe-batch.json', 'Fill the ledger by hand');
	await run(host, 'crash-safe-batch.json', 'Every minute');
	await run(host, 'crash-safe-batch.json', 'Every minute');
	const rows = await host.api.dataTableRows('Job ledger of crash-safe-batch');
	expect(rows.map(({ customer, state }) => [customer, state])).toEqual([
		['Alder', 'created'],
		['Birch', 'created'],
		['Cedar', 'failed'],
		['Dogwood', 'created'],
		['Elm', 'created'],
	]);
	expect(host.sandbox.store.jobs.size).toBe(before + 4);
	const created = rows.filter(({ state }) => state === 'created');
	expect(created.map(({ jobId }) => stateOf(String(jobId)))).toEqual(new Array(4).fill('running'));
});

test('a workflow starts when a job is done', async () => {
	const url = { id: 'doneUrl', name: 'doneUrl', type: 'string' };
	const workflow = await fillIn(host, 'start-when-done.json', {
		'Where jobs call': {
			assignments: { assignments: [{ ...url, value: `${host.url}/webhook/job-is-done` }] },
		},
	});
	await host.api.activate(workflow);
	const output = await run(host, 'start-when-done.json');
	const [job] = output['Create job'] ?? [];
	const brought = (await endedOf(host, workflow.id, 2)).flatMap(
		(one) => one.output['What it brought'],
	);
	expect(brought.filter((item) => item !== undefined)).toEqual([
		{ jobId: uidOf(job), state: 'succeeded', report: `report of ${String(job?.displayName)}` },
	]);
});

test("n8n's HTTP Request node calls other endpoints of the service with the same credential", async () => {
	const url = { id: 'baseUrl', name: 'baseUrl', value: host.sandbox.url, type: 'string' };
	await fillIn(host, 'call-other-endpoints.json', {
		Service: { assignments: { assignments: [url] } },
	});
	const output = await run(host, 'call-other-endpoints.json');
	expect(output['One item for each cluster']).toHaveLength(5);
});

test('a chat message stops a job, and the chat asks for a missing ID', async () => {
	const workflow = await fillIn(host, 'stop-job-by-chat.json', {
		'Chat message': { public: true },
	});
	await host.api.activate(workflow);
	const answerTo = async (text: string) => JSON.parse(await say(host, workflow, text)) as unknown;
	const jobId = await newJob();
	for (const [text, action] of [
		['stop', 'stop'],
		[' Stop \n ', 'stop'],
		['terminate', 'terminate'],
	]) {
		const said = `Which job? Write "${action}" and the ID of the job, such as: ${action} `;
		expect([text, await answerTo(String(text))]).toEqual([
			text,
			{ output: expect.stringContaining(said) },
		]);
	}
	for (const text of ['   ', 'please stop it']) {
		expect([text, await answerTo(text)]).toEqual([
			text,
			{ output: expect.stringMatching(/^Write "stop" or "terminate" and the ID of a job/) },
		]);
	}
	expect(stateOf(jobId)).toBe('running');
	expect(await answerTo(`stop ${jobId}`)).toMatchObject({ output: `Done: stop job ${jobId}` });
	expect(stateOf(jobId)).toBe('stopped');
	expect(await answerTo('terminate no-such-job')).toMatchObject({
		output: expect.stringContaining("No job 'no-such-job'"),
	});
});

test('the workflow continues with the result of each of ten jobs, or says that the job failed or did not call', async () => {
	const { id } = await fillIn(host, 'continue-when-done.json', {
		'Create job': {
			// The job for Ivy has another template, so the sandbox doesn't call.
			workflowUid: "={{ $json.customer === 'Ivy' ? 'template-1' : 'call-when-done' }}",
			inputsJson:
				"={{ [{ id: 'seconds', default: $json.customer === 'Juniper' ? '3600' : '0' }] }}",
			options: { waitUntilCalled: 'callbackUrl', waitLimit: 0.2 },
		},
	});
	await host.api.run(id, 'Run by hand');
	const ofIvy = async () =>
		await soon(() => createsIn(host.sandbox).find((job) => job.displayName === 'Report for Ivy'));
	const failure = { state: 'failed', reason: 'The disk is full' };
	await callUntilTaken(addressIn(await ofIvy()) ?? '', json(failure));

	const results = await endedOf(host, id, 11);
	const wentOn = results.flatMap(({ output }) => output['Go on from here'] ?? []);
	const called = ['Alder', 'Birch', 'Cedar', 'Dogwood', 'Elm', 'Fir', 'Ginkgo', 'Hazel'];
	const expected = called.map((customer) => {
		const displayName = `Report for ${customer}`;
		const outputs = { report: `report of ${displayName}` };
		const jobId = expect.any(String) as unknown;
		return { customer, jobId, result: { jobId, displayName, state: 'succeeded', outputs } };
	});
	expect(wentOn).toEqual(expect.arrayContaining(expected));
	expect(wentOn).toHaveLength(called.length);
	expect(results.flatMap(({ error }) => error ?? []).sort()).toEqual([
		`Say that it has not: Job 'Report for Ivy' did not say that it succeeded, but: ${JSON.stringify(failure)}`,
		"Say that it has not: Job 'Report for Juniper' did not call within 0.2 minutes",
	]);
});
