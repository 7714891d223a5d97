import { readFile } from 'node:fs/promises';

import type { WorkflowFile, WorkflowNode } from '../../host/api';
import { inARow, manualTrigger, node, rows } from '../../host/workflow';
import type { Fault } from '../../sandbox';
import { agentExample, startOpenAi, type OpenAi } from '../editor/openAi';
import { refused, tries } from '../reliability/batch';
import { answer } from '../support/answer';
import { CLUSTER } from '../support/fixture';
import { pressRetry, publish, runToEnd, useHost } from './host';
import { connectMcp } from './mcpClient';
import { changed, createNode, createsIn, planCreates, say, subWorkflow } from './workflows';

/*
 * In a real n8n, no job is created twice by n8n's Retry, or by Retry On Fail of a tool that an MCP client or an agent
 * calls.
 */

const host = useHost('retry');
let openAi: OpenAi;
let jobsBefore: number;

beforeAll(async () => {
	openAi = await startOpenAi();
});
afterAll(async () => await openAi.close());

beforeEach(() => {
	jobsBefore = host.sandbox.store.jobs.size;
});

/** Returns the names of the jobs that the test has created, in order. */
const jobs = () =>
	[...host.sandbox.store.jobs.values()].slice(jobsBefore).map(({ displayName }) => displayName);

/**
 * Returns a workflow with a row for each number. It creates a job for each row, one at a time.
 *
 * @param before nodes between the rows and Create
 */
const batchOf = (
	numbers: number[],
	displayName = '=Job {{ $json.n }}',
	...before: WorkflowNode[]
): WorkflowFile =>
	inARow('Batch', [
		manualTrigger(),
		...rows(JSON.stringify(numbers.map((n) => ({ n })))),
		...before,
		createNode(displayName, { options: { concurrency: 1 } }),
		node('Created', 'n8n-nodes-base.noOp', {}),
	]);

/** Runs a workflow in which the create of item 2 fails, and returns the ID of the execution. */
async function failed(workflowId: string, fault: Fault = refused): Promise<string> {
	planCreates(host.sandbox, { 'Job 2': fault });
	const { id, status } = await runToEnd(host, workflowId);
	expect(status).toBe('error');
	return id;
}

/** Retries an execution, in which creates may get faults, and returns the ID and the result of the Retry. */
async function retry(
	executionId: string,
	loadWorkflow: boolean,
	faults: Record<string, Fault> = {},
) {
	planCreates(host.sandbox, faults);
	const id = await pressRetry(host.api, executionId, loadWorkflow);
	return { id, ...(await host.api.executionResult(id)) };
}

test("n8n's Retry with the currently saved workflow creates the missing jobs once", async () => {
	const before = createNode('Before', {}, { name: 'Before' });
	const n = "{{ $('Split').item.json.n }}";
	const { id } = await host.api.createWorkflow(batchOf([0, 1, 2, 3], `=Job ${n}`, before));
	const failedId = await failed(id);
	const firstJobs = ['Before', 'Before', 'Before', 'Before', 'Job 0', 'Job 1'];
	expect(jobs()).toEqual(firstJobs);

	// A retry uses the rows of the execution, even if the workflow would now have other rows.
	const { nodes } = batchOf([7, 8, 9], `=New ${n}`, before);
	await host.api.changeWorkflow(id, { nodes });
	const { error, output } = await retry(failedId, true);
	expect(error).toBeUndefined();
	const names = output['Created']?.map(({ displayName }) => displayName);
	expect(names).toEqual(['Job 0', 'Job 1', 'New 2', 'New 3']);
	expect(jobs()).toEqual([...firstJobs, 'New 2', 'New 3']);
});

test('a second Retry of an execution sends nothing, and Retry of its Retry creates what is missing', async () => {
	const all = [0, 1, 2, 3, 4, 5].map((n) => `Job ${n}`);
	const first = await failed((await host.api.createWorkflow(batchOf([0, 1, 2, 3, 4, 5]))).id);
	const second = await retry(first, false, { 'Job 4': refused });
	expect(jobs()).toEqual(all.slice(0, 4));
	host.sandbox.clearCalls();
	for (const loadWorkflow of [false, true]) {
		expect((await retry(first, loadWorkflow)).error).toContain(
			`Create: Execution ${first} was already retried as execution ${second.id}, which has created jobs. Use Retry of execution ${second.id}.`,
		);
	}
	expect(host.sandbox.calls).toEqual([]);

	const { error, output } = await retry(second.id, false);
	expect(error).toBeUndefined();
	expect(output['Created']?.map(({ displayName }) => displayName)).toEqual(all);
	expect(jobs()).toEqual(all);
});

test("n8n's redaction hides the data that Retry needs, and Retry still works", async () => {
	const workflow = await host.api.createWorkflow(batchOf([0, 1, 2, 3]));
	const reason = 'Quota 4711 is used up';
	const failedId = await failed(workflow.id, answer(400, { message: reason }));
	const uids = [...host.sandbox.store.jobs.keys()].slice(jobsBefore);
	expect(uids).toHaveLength(2);
	const shown = await host.api.redactedExecution(failedId);
	const { data } = await host.api.execution(failedId);
	for (const hidden of [...uids, 'Job 0', reason]) {
		expect(data).toContain(hidden);
		expect(shown).not.toContain(hidden);
	}
	await retry(failedId, false);
	expect(jobs()).toEqual(['Job 0', 'Job 1', 'Job 2', 'Job 3']);
});

test("a sub-workflow's error, which the parent shows, names the execution whose Retry creates the missing jobs", async () => {
	const { nodes } = batchOf([0, 1, 2, 3]);
	const sub = await subWorkflow(host, nodes.slice(1));
	const parent = await host.api.createWorkflow(inARow('Parent', [manualTrigger(), sub.execute]));
	const { error } = await host.api.executionResult(await failed(parent.id));
	expect(error).toContain('running this node in another way creates every job again');
	const [, named = ''] = /Retry of execution (\d+) /.exec(error ?? '') ?? [];
	expect((await host.api.executions(sub.id)).map(({ id }) => id)).toEqual([named]);
	await retry(named, true);
	expect(jobs()).toEqual(['Job 0', 'Job 1', 'Job 2', 'Job 3']);
});

test("the timeout of a workflow is a cancel without Retry, after which n8n's log lists the jobs", async () => {
	const workflow = batchOf([0, 1, 2, 3], '=Timed {{ $json.n }}');
	workflow.settings = { ...workflow.settings, executionTimeout: 2 };
	planCreates(host.sandbox, { 3: { kind: 'rateLimit', retryAfter: 30 } });
	const { id, status, error } = await runToEnd(host, workflow);
	expect(status).toBe('canceled');
	expect(error).toMatch(/n8n offers no Retry after a cancel/);
	expect(jobs().sort()).toEqual(['Timed 0', 'Timed 1', 'Timed 3']);
	const log = await readFile(host.logFile, 'utf8');
	const [line = ''] = log.split('\n').filter((text) => text.includes(`Execution ${id}, `));
	for (const [uid] of [...host.sandbox.store.jobs].slice(jobsBefore)) expect(line).toContain(uid);
});

describe('Retry On Fail of a tool', () => {
	let agent: WorkflowFile;
	let tool: WorkflowNode;

	beforeAll(async () => {
		agent = changed(await agentExample(host.api, openAi), {
			'Chat message': { public: true },
			'Create job': { options: { timeout: 500 } },
		});
		const found = agent.nodes.find(({ name }) => name === 'Create job');
		tool = Object.assign(found ?? {}, tries()) as WorkflowNode;
	});

	// The service carries out the first create without answering it.
	beforeEach(() => planCreates(host.sandbox, { 1: { kind: 'stall', when: 'afterActing' } }));
	const report = { clusterId: CLUSTER, displayName: 'Report' };

	test('sends one create for each call of an MCP client, which needs the token', async () => {
		const path = 'retry-tools';
		const url = `${host.url}/mcp/${path}`;
		const [name, token] = ['Token of the MCP client', 'of the client'];
		const id = await host.api.createCredential({ name, type: 'httpBearerAuth', data: { token } });
		const trigger = node(
			'MCP Server Trigger',
			'@n8n/n8n-nodes-langchain.mcpTrigger',
			{ authentication: 'bearerAuth', path },
			{ typeVersion: 2, webhookId: path, credentials: { httpBearerAuth: { id, name } } },
		);
		const workflow = await host.api.createWorkflow({
			name: 'MCP',
			nodes: [trigger, tool],
			connections: {
				[tool.name]: { ai_tool: [[{ node: trigger.name, type: 'ai_tool', index: 0 }]] },
			},
		});
		await expect(connectMcp(url, token)).rejects.toThrow('answers 404');
		await host.api.activate(workflow);
		await expect(connectMcp(url)).rejects.toThrow('answers 403');
		const callTool = await connectMcp(url, token);
		expect(await callTool('Create_job', report)).toMatch(/the job may exist/);
		expect(createsIn(host.sandbox)).toHaveLength(1);

		// A second call with the same arguments asks for another job.
		expect(await callTool('Create_job', report)).toContain('"uid"');
		expect(jobs()).toEqual(['Report', 'Report']);
	});

	test('sends one create for each call of an AI Agent', async () => {
		const workflow = await publish(host.api, agent);
		const createJob = { tool: 'Create_job', arguments: report };
		openAi.willAnswer(createJob, createJob, { says: 'Done.' });
		expect(await say(host, workflow, 'A report')).toContain('Done.');
		const told = openAi.requests.slice(-2).map(({ messages }) => JSON.stringify(messages.at(-1)));
		expect(told).toEqual([
			expect.stringMatching(/the job may exist/),
			expect.stringMatching(/uid/),
		]);
		expect(createsIn(host.sandbox)).toHaveLength(2);
	});
});
