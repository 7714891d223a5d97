import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { Execution, WorkflowFile, WorkflowNode } from '../../host/api';
import { exampleTag, importExamples } from '../../host/examples';
import { readJson } from '../../host/files';
import { n8nFolders } from '../../host/host';
import { waitFor } from '../../host/wait';
import { inARow, node, rows, webhook } from '../../host/workflow';
import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { hasEnded, useHost } from './host';
import { publish } from '../queue/load';
import { hostFolder, running } from './setUp';
import {
	addressIn,
	callUntilTaken,
	createNode,
	createsIn,
	fillIn,
	json,
	run,
	say,
	subWorkflow,
} from './workflows';

/*
 * Every example works in a real n8n as it is imported, once the user has filled in job IDs and addresses. The browser
 * tests run the example with the AI agent.
 */

const host = useHost('examples');

/** Waits until a workflow has this many executions and all have ended, and returns them, the latest first. */
async function endedOf(workflowId: string, count = 1): Promise<Execution[]> {
	const ended = await waitFor(
		async () => {
			const executions = await host.api.executions(workflowId);
			return executions.length >= count && executions.every(hasEnded) ? executions : undefined;
		},
		{ timeout: 100_000 },
	);
	expect(ended).toHaveLength(count);
	return ended ?? [];
}

/** Creates a job by an example, and returns its ID. */
async function newJob(): Promise<string> {
	const { output } = await run(host, 'wait-for-room.json');
	return uidOf(output['Create job']?.[0]);
}

const uidOf = (job: unknown) => (job as { metadata: { uid: string } }).metadata.uid;

const jobWith = (uid: string) => host.sandbox.store.jobs.get(uid);
const stateOf = (uid: string) => jobWith(uid)?.state;

const waits = 'continue-when-done.json';
/** The body of a job's call that says that the job failed. */
const failure = { state: 'failed', reason: 'The disk is full' };

// The last test checks this execution. Meanwhile, the minute passes in which n8n notices that the wait for Juniper's
// job is over.
beforeAll(async () => {
	const { id } = await fillIn(host, waits, {
		'Create job': {
			// The job for Ivy has another template, so the sandbox doesn't call.
			workflowUid: "={{ $json.customer === 'Ivy' ? 'template-1' : 'call-when-done' }}",
			inputsJson:
				"={{ [{ id: 'seconds', default: $json.customer === 'Juniper' ? '3600' : '0' }] }}",
			options: { waitUntilCalled: 'callbackUrl', waitLimit: 0.3 },
		},
	});
	await host.api.run(id, 'Run by hand');
	await waitFor(() => host.sandbox.store.jobs.size === 10 || undefined, { timeout: 80_000 });
	const ofIvy = createsIn(host.sandbox).filter((job) => job.displayName === 'Report for Ivy');
	await callUntilTaken(ofIvy.map(addressIn)[0] ?? '', json(failure));
});

test('the examples that npm start imports have a tag', async () => {
	const { dataFolder } = running();
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
		const { name } = await readJson<WorkflowFile>(join(folder, file));
		expect(names).toContain(name);
	}
});

test('a nightly job is created on a running cluster', async () => {
	const { output } = await run(host, 'nightly-job.json');
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
	host.sandbox.faults.clear();
	expect(host.sandbox.store.jobs.size).toBe(before);
});

test('a batch creates a job for each row, and failed rows leave through the error output', async () => {
	const { output } = await run(host, 'batch-with-error-branch.json');
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
	let broken = false;
	host.sandbox.faults.plan(({ operation }) => {
		if (operation !== 'createJob' || broken) return undefined;
		broken = true;
		return { kind: 'break', when: 'afterActing' };
	});
	const before = host.sandbox.store.jobs.size;
	const { output } = await run(host, 'retry-without-doubling.json');
	host.sandbox.faults.clear();
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
	const { output } = await run(host, 'start-when-done.json');
	const started = (await endedOf(workflow.id, 2)).find(({ mode }) => mode === 'webhook');
	const [job] = output['Create job'] ?? [];
	expect((await host.api.executionResult(started?.id ?? '')).output['What it brought']).toEqual([
		{ jobId: uidOf(job), state: 'succeeded', report: `report of ${String(job?.displayName)}` },
	]);
	await host.api.deactivate(workflow.id);
});

test("n8n's HTTP Request node calls other endpoints of the service with the same credential", async () => {
	const url = { id: 'baseUrl', name: 'baseUrl', value: host.sandbox.url, type: 'string' };
	await fillIn(host, 'call-other-endpoints.json', {
		Service: { assignments: { assignments: [url] } },
	});
	const { output } = await run(host, 'call-other-endpoints.json');
	expect(output['One item for each cluster']).toHaveLength(5);
});

describe('An error workflow', () => {
	const refused = answer(400, { message: 'no such template' });
	const uncertain: Fault = { kind: 'break', when: 'afterActing' };
	const create = createNode('=Report for {{ $json.customer }}', { options: { concurrency: 1 } });
	const reports = [...rows('[{ "customer": "Alder" }, { "customer": "Birch" }]'), create];
	const foreign = node('Check', 'n8n-nodes-base.stopAndError', {
		errorMessage: 'The disk is full',
	});

	/** Returns the nodes of a workflow whose sub-workflow has these nodes. */
	const inSubWorkflow = async (...nodes: WorkflowNode[]) => [
		(await subWorkflow(host, nodes)).execute,
	];

	/**
	 * Starts a workflow by a webhook, and makes some of its creates fail.
	 *
	 * @param faults for each customer, the fault that the create of its report meets
	 * @returns the execution of the error workflow, its output and error, and the address of the failed execution
	 */
	async function outcomeAfter(file: string, nodes: WorkflowNode[], faults: Record<string, Fault>) {
		const handler = await host.example(file);
		await host.api.activate(handler);
		const count = (await host.api.executions(handler.id)).length + 1;
		const path = `fails-${count}-${handler.id}`;
		const workflow = inARow('Nightly reports', [webhook(path), ...nodes]);
		workflow.settings = { ...workflow.settings, errorWorkflow: handler.id };
		const failing = await publish(host.api, workflow);
		host.sandbox.faults.plan(({ operation, body }) => {
			if (operation !== 'createJob') return undefined;
			const { displayName } = (body as { job: { displayName: string } }).job;
			return faults[displayName.replace('Report for ', '')];
		});
		await fetch(`${host.url}/webhook/${path}`, { method: 'POST' });
		const [failed] = await endedOf(failing.id);
		expect(failed?.status).toBe('error');
		const [handled] = await endedOf(handler.id, count);
		host.sandbox.faults.clear();
		await host.api.deactivate(failing.id);
		await host.api.deactivate(handler.id);
		const url = `${host.url}/workflow/${failing.id}/executions/${failed?.id}`;
		return { status: handled?.status, url, ...(await host.api.executionResult(handled?.id ?? '')) };
	}

	describe.each<[where: string, place: (...nodes: WorkflowNode[]) => Promise<WorkflowNode[]>]>([
		['a workflow', async (...nodes) => await Promise.resolve(nodes)],
		['the parent of a sub-workflow', inSubWorkflow],
	])('for %s that failed', (_, place) => {
		const notify = async (faults: Record<string, Fault>, ...nodes: WorkflowNode[]) =>
			await outcomeAfter('notify-of-uncertain-jobs.json', await place(...nodes), faults);

		test('says which jobs exist and which may exist', async () => {
			const { output, url } = await notify({ Birch: uncertain }, ...reports);
			const uid = [...host.sandbox.store.jobs.keys()].at(-2);
			expect(output['Send the message']).toEqual([
				{
					subject: expect.stringMatching(
						/^Workflow 'Nightly reports' failed: 1 of \d jobs were created, 1 more may exist; item 1 failed: /,
					),
					text: [
						"May exist, look for it: 'Report for Birch' in namespace 'default'",
						`Exists: 'Report for Alder' in namespace 'default', ID ${uid}`,
						url,
					].join('\n'),
				},
			]);
		});

		test('says that no job was left behind only if the error says so', async () => {
			const { output, url } = await notify({ Alder: refused, Birch: refused }, ...reports);
			expect(output['Send the message']).toEqual([
				{
					subject: expect.stringMatching(/^Workflow 'Nightly reports' failed: .*no such template/),
					text: `The node that failed leaves no job behind. Nodes before it may have created jobs.\n${url}`,
				},
			]);
		});

		test("says that the jobs aren't known after the error of another node", async () => {
			const { output, url } = await notify({}, ...reports, foreign);
			expect(output['Send the message']).toEqual([
				{
					subject: "Workflow 'Nightly reports' failed: The disk is full",
					text: expect.stringMatching(
						/^It isn't known which jobs exist: this error has no list of jobs\. See the execution( of the sub-workflow, \d+)?\.\nhttp/,
					),
				},
			]);
			expect(String(output['Send the message']?.[0]?.['text'])).toContain(`\n${url}`);
		});

		test('stops the jobs that the failed batch has created', async () => {
			const before = host.sandbox.store.jobs.size;
			const file = 'stop-what-a-failed-batch-created.json';
			const { status } = await outcomeAfter(file, await place(...reports), { Birch: refused });
			const created = [...host.sandbox.store.jobs.keys()].slice(before);
			expect(created.map(stateOf)).toEqual(['stopped']);
			expect(status).toBe('success');
		});

		test("stops nothing if no job was created, and fails if the jobs aren't known", async () => {
			const before = host.sandbox.store.jobs.size;
			const file = 'stop-what-a-failed-batch-created.json';
			const nodes = await place(...reports);
			const none = await outcomeAfter(file, nodes, { Alder: refused, Birch: refused });
			const said = none.output['What the batch created'];
			expect(said).toEqual([
				{ createdJobs: [], message: 'The node that failed has created no job.' },
			]);
			expect(none.status).toBe('success');

			const unknown = await outcomeAfter(file, await place(...reports, foreign), {});
			expect(unknown.error).toMatch(
				/^Say that it is not known: It isn't known which jobs 'Nightly reports' has created: its error has no list of jobs/,
			);
			expect(unknown.error).toContain(unknown.url);
			const created = [...host.sandbox.store.jobs.keys()].slice(before);
			expect(created.map(stateOf)).toEqual(['running', 'running']);
		});
	});

	test("says that the jobs aren't known if n8n passes on no list from a sub-workflow of a sub-workflow", async () => {
		const nodes = await inSubWorkflow(...(await inSubWorkflow(...reports)));
		const file = 'notify-of-uncertain-jobs.json';
		const { output } = await outcomeAfter(file, nodes, { Birch: uncertain });
		expect(output['Send the message']?.[0]?.['text']).toMatch(/^It isn't known which jobs exist/);
	});
});

test('a chat message stops a job, and the chat asks for a missing ID', async () => {
	const workflow = await fillIn(host, 'stop-job-by-chat.json', {
		'Chat message': { public: true },
	});
	await host.api.activate(workflow);
	const webhookId = workflow.nodes.find(({ name }) => name === 'Chat message')?.webhookId;
	const answerTo = async (text: string) =>
		JSON.parse(await say(host, String(webhookId), text)) as unknown;
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
	await host.api.deactivate(workflow.id);
});

test('the workflow continues with the result of each of ten jobs, or says that the job failed or did not call', async () => {
	const { id } = await host.example(waits);
	const results = await Promise.all(
		(await endedOf(id, 11)).map(async (one) => await host.api.executionResult(one.id)),
	);
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
		"Say that it has not: Job 'Report for Juniper' did not call within 0.3 minutes",
	]);
}, 120_000);
