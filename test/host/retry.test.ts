import { readFile } from 'node:fs/promises';

import type { WorkflowFile } from '../../host/api';
import { inARow, manualTrigger, node, rows } from '../../host/workflow';
import type { Fault } from '../../sandbox';
import { startOpenAi, type OpenAi } from '../editor/openAi';
import { itemOf, refused } from '../reliability/batch';
import { publish } from '../queue/load';
import { answer } from '../support/answer';
import { endOf, pressRetry, runToEnd, useHost } from './host';
import { connectMcp } from './mcpClient';
import { createNode, say, subWorkflow } from './workflows';

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
	host.sandbox.clearCalls();
	host.sandbox.faults.clear();
	jobsBefore = host.sandbox.store.jobs.size;
});

const creates = () => host.sandbox.calls.filter(({ operation }) => operation === 'createJob');
/** Returns the names of the jobs that the test has created, in order. */
const jobs = () =>
	[...host.sandbox.store.jobs.values()].slice(jobsBefore).map(({ displayName }) => displayName);

/** Returns a workflow with a row for each number. It creates a job for each row, one at a time. */
function batchOf(numbers: number[], displayName = '=Job {{ $json.n }}'): WorkflowFile {
	return inARow('Batch', [
		manualTrigger(),
		...rows(JSON.stringify(numbers.map((n) => ({ n })))),
		createNode(displayName, { options: { concurrency: 1 } }),
		node('Created', 'n8n-nodes-base.noOp', {}),
	]);
}

/**
 * Runs a batch in which one item gets a fault.
 *
 * @returns the ID of the execution
 */
async function failedAt(workflowId: string, item: number, fault: Fault): Promise<string> {
	host.sandbox.faults.plan((call) =>
		call.operation === 'createJob' && itemOf(call) === item ? fault : undefined,
	);
	const { id } = await runToEnd(host, workflowId);
	host.sandbox.faults.clear();
	return id;
}

const retry = async (executionId: string, loadWorkflow: boolean) =>
	await host.api.executionResult(await pressRetry(host.api, executionId, loadWorkflow));

test("n8n's Retry with the currently saved workflow creates the missing jobs once", async () => {
	const workflow = await host.api.createWorkflow(batchOf([0, 1, 2, 3]));
	const failed = await failedAt(workflow.id, 2, refused);
	expect(jobs()).toEqual(['Job 0', 'Job 1']);

	// A retry uses the rows of the execution, even if the workflow would now have other rows.
	const { nodes } = batchOf([7, 8, 9], '=New {{ $json.n }}');
	await host.api.changeWorkflow(workflow.id, { nodes });
	const { error, output } = await retry(failed, true);
	expect(error).toBeUndefined();
	const expected = ['Job 0', 'Job 1', 'New 2', 'New 3'];
	expect(output['Created']?.map(({ displayName }) => displayName)).toEqual(expected);
	expect(jobs()).toEqual(expected);
});

describe('Retry that is pressed twice, or in another order', () => {
	/** Returns the names of six jobs, in order. */
	const all = [0, 1, 2, 3, 4, 5].map((n) => `Job ${n}`);
	const sixJobs = async () => await host.api.createWorkflow(batchOf([0, 1, 2, 3, 4, 5]));

	/** Retries an execution, in which one item gets a fault, and returns the ID and the result of the new execution. */
	async function retried(executionId: string, loadWorkflow = false, failing?: number) {
		host.sandbox.faults.plan((call) =>
			call.operation === 'createJob' && itemOf(call) === failing ? refused : undefined,
		);
		const id = await pressRetry(host.api, executionId, loadWorkflow);
		host.sandbox.faults.clear();
		return { id, ...(await host.api.executionResult(id)) };
	}

	test('a second Retry of an execution sends nothing, and Retry of its Retry creates what is missing', async () => {
		const first = await failedAt((await sixJobs()).id, 2, refused);
		const second = await retried(first, false, 4);
		expect(jobs()).toEqual(all.slice(0, 4));
		host.sandbox.clearCalls();
		for (const loadWorkflow of [false, true]) {
			expect((await retried(first, loadWorkflow)).error).toContain(
				`Create: Execution ${first} was already retried as execution ${second.id}, which has created jobs. Use Retry of execution ${second.id}.`,
			);
		}
		expect(host.sandbox.calls).toEqual([]);

		const { error, output } = await retried(second.id);
		expect(error).toBeUndefined();
		expect(output['Created']?.map(({ displayName }) => displayName)).toEqual(all);
		expect(jobs()).toEqual(all);
	});

	test('Retry after Create was renamed creates what is missing, or sends nothing', async () => {
		const workflow = await sixJobs();
		const failed = await failedAt(workflow.id, 2, refused);
		const text = JSON.stringify({ nodes: workflow.nodes, connections: workflow.connections });
		const renamed = text.replaceAll('"Create"', '"Create jobs"');
		await host.api.changeWorkflow(workflow.id, JSON.parse(renamed) as Partial<WorkflowFile>);
		host.sandbox.clearCalls();
		await expect(pressRetry(host.api, failed, true)).rejects.toThrow(
			/Could not find the node .*Create.* It probably got deleted or renamed/,
		);
		expect(host.sandbox.calls).toEqual([]);

		expect((await retried(failed)).error).toBeUndefined();
		expect(jobs()).toEqual(all);
	});

	test('Retry of an execution in which a copy of Create has failed creates only its missing jobs', async () => {
		const { nodes } = batchOf([0, 1, 2]);
		const copy = createNode(
			'=Copy {{ $itemIndex }}',
			{ options: { concurrency: 1 } },
			{ name: 'Create1' },
		);
		const workflow = await host.api.createWorkflow(inARow('Copy', [...nodes.slice(0, -1), copy]));
		host.sandbox.faults.plan(({ operation, nOfOperation }) =>
			operation === 'createJob' && nOfOperation === 3 + 2 ? refused : undefined,
		);
		const { id } = await runToEnd(host, workflow.id);
		expect(jobs()).toEqual(['Job 0', 'Job 1', 'Job 2', 'Copy 0']);
		expect((await retried(id)).error).toBeUndefined();
		expect(jobs()).toEqual(['Job 0', 'Job 1', 'Job 2', 'Copy 0', 'Copy 1', 'Copy 2']);
	});

	test('a workflow that was exported and imported starts from the beginning, and Retry of the original creates what is missing', async () => {
		const workflow = await sixJobs();
		const failed = await failedAt(workflow.id, 2, refused);
		const imported = await host.api.createWorkflow(await host.api.workflow(workflow.id));
		expect(imported.id).not.toBe(workflow.id);
		expect((await runToEnd(host, imported.id)).status).toBe('success');
		expect(jobs()).toEqual(['Job 0', 'Job 1', ...all]);
		expect((await retried(failed)).error).toBeUndefined();
		expect(jobs()).toEqual(['Job 0', 'Job 1', ...all, ...all.slice(2)]);
	});

	test.each<[data: string, pinned: boolean]>([
		['the output of the last execution', false],
		['pinned data', true],
	])('Execute step of the node behind Create takes %s, and creates nothing', async (_, pinned) => {
		const workflow = await sixJobs();
		const { id } = await runToEnd(host, workflow.id);
		const runData = await host.api.runData(id);
		expect(jobs()).toEqual(all);
		// The editor always saves pinned data, which is an empty object if nothing is pinned.
		const pinData = pinned ? { Create: [{ json: { displayName: 'Pinned' } }] } : {};
		await host.api.changeWorkflow(workflow.id, { pinData });
		const executionId = await host.api.executeStep(workflow.id, 'Created', pinned ? {} : runData);
		await endOf(host.api, workflow.id, executionId);
		const { error, output } = await host.api.executionResult(executionId);
		expect(error).toBeUndefined();
		expect(output['Created']?.map(({ displayName }) => displayName)).toEqual(
			pinned ? ['Pinned'] : all,
		);
		expect(jobs()).toEqual(all);
	});
});

test("n8n's redaction hides the data that Retry needs, and Retry still works", async () => {
	const workflow = await host.api.createWorkflow(batchOf([0, 1, 2, 3]));
	const reason = 'Quota 4711 is used up';
	const failed = await failedAt(workflow.id, 2, answer(400, { message: reason }));
	const uids = [...host.sandbox.store.jobs.keys()].slice(jobsBefore);
	expect(uids).toHaveLength(2);
	const isReadable = async (what: string) =>
		(await host.api.redactedExecution(failed)).includes(what);
	for (const hidden of [...uids, 'Job 0', reason]) {
		expect((await host.api.execution(failed)).data).toContain(hidden);
		expect([hidden, await isReadable(hidden)]).toEqual([hidden, false]);
	}
	await retry(failed, false);
	expect(jobs()).toEqual(['Job 0', 'Job 1', 'Job 2', 'Job 3']);
});

test("a sub-workflow's error, which the parent shows, names the execution whose Retry creates the missing jobs", async () => {
	const { nodes } = batchOf([0, 1, 2, 3]);
	const sub = await subWorkflow(host, nodes.slice(1));
	const parent = await host.api.createWorkflow(inARow('Parent', [manualTrigger(), sub.execute]));
	const failed = await failedAt(parent.id, 2, refused);
	const { error } = await host.api.executionResult(failed);
	expect(error).toContain('running this node in another way creates every job again');
	const [, named = ''] = /Retry of execution (\d+) /.exec(error ?? '') ?? [];
	expect((await host.api.executions(sub.id)).map(({ id }) => id)).toEqual([named]);
	await retry(named, true);
	expect(jobs()).toEqual(['Job 0', 'Job 1', 'Job 2', 'Job 3']);
});

test("the timeout of a workflow is a cancel without Retry, after which n8n's log lists the jobs", async () => {
	const timed = batchOf([0, 1, 2, 3], '=Timed {{ $json.n }}');
	timed.settings = { ...timed.settings, executionTimeout: 2 };
	const workflow = await host.api.createWorkflow(timed);
	host.sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'createJob' && nOfOperation === 3
			? { kind: 'rateLimit', retryAfter: 30 }
			: undefined,
	);
	const { id, status } = await runToEnd(host, workflow.id);
	expect(status).toBe('canceled');
	const { error } = await host.api.executionResult(id);
	expect(error).toMatch(/n8n offers no Retry after a cancel/);
	expect(jobs().sort()).toEqual(['Timed 0', 'Timed 1', 'Timed 3']);
	const log = await readFile(host.logFile, 'utf8');
	const [line = ''] = log.split('\n').filter((text) => text.includes(`Execution ${id}, `));
	for (const [uid] of [...host.sandbox.store.jobs].slice(jobsBefore)) expect(line).toContain(uid);
});

describe('Retry On Fail of a tool', () => {
	const tool = createNode(
		"={{ $fromAI('displayName', 'Name of the job', 'string') }}",
		{ descriptionType: 'manual', toolDescription: 'Creates a job', options: { timeout: 500 } },
		{
			...{ name: 'Create a job', type: 'n8n-nodes-job-orchestration.jobOrchestrationTool' },
			...{ retryOnFail: true, maxTries: 3, waitBetweenTries: 1 },
		},
	);

	/** Returns one of n8n's AI nodes, with this name, type and version. */
	const langchain = (
		[name, type, typeVersion]: [string, string, number],
		parameters: object,
		more = {},
	) => node(name, `@n8n/n8n-nodes-langchain.${type}`, { ...parameters }, { typeVersion, ...more });

	/** Makes the service carry out the first create without answering it. */
	function loseTheFirstAnswer(): void {
		host.sandbox.faults.plan(({ operation, nOfOperation }) =>
			operation === 'createJob' && nOfOperation === 1
				? { kind: 'stall', when: 'afterActing' }
				: undefined,
		);
	}

	test('sends one create for each call of an MCP client, which needs the token', async () => {
		const path = 'retry-tools';
		const url = `${host.url}/mcp/${path}`;
		const [name, token] = ['Token of the MCP client', 'of the client'];
		const id = await host.api.createCredential({ name, type: 'httpBearerAuth', data: { token } });
		const workflow = await host.api.createWorkflow({
			name: 'MCP',
			nodes: [
				langchain(
					['MCP Server Trigger', 'mcpTrigger', 2],
					{ authentication: 'bearerAuth', path },
					{ webhookId: path, credentials: { httpBearerAuth: { id, name } } },
				),
				tool,
			],
			connections: {
				[tool.name]: { ai_tool: [[{ node: 'MCP Server Trigger', type: 'ai_tool', index: 0 }]] },
			},
		});
		await expect(connectMcp(url, token)).rejects.toThrow('answers 404');
		await host.api.activate(workflow);
		await expect(connectMcp(url)).rejects.toThrow('answers 403');
		const callTool = await connectMcp(url, token);
		const call = async () => await callTool('Create_a_job', { displayName: 'Report' });

		loseTheFirstAnswer();
		expect(await call()).toMatch(/the job may exist/);
		expect(creates()).toHaveLength(1);

		// A second call with the same arguments asks for another job.
		expect(await call()).toContain('"uid"');
		expect(jobs()).toEqual(['Report', 'Report']);
		await host.api.deactivate(workflow.id);
	});

	test('sends one create for each call of an AI Agent', async () => {
		const name = 'Stand-in for OpenAI';
		const data = { apiKey: 'none', url: openAi.url, header: false };
		const id = await host.api.createCredential({ name, type: 'openAiApi', data });
		const credentials = { openAiApi: { id, name } };
		const model = { __rl: true, mode: 'list', value: 'gpt-4.1-mini' };
		const webhookId = 'retry-chat';
		const workflow = await publish(host.api, {
			name: 'Agent',
			nodes: [
				langchain(
					['Chat', 'chatTrigger', 1.3],
					{ public: true, options: { responseMode: 'lastNode' } },
					{ webhookId },
				),
				langchain(['Agent', 'agent', 3], { options: {} }),
				langchain(['Model', 'lmChatOpenAi', 1.2], { model, options: {} }, { credentials }),
				tool,
			],
			connections: {
				Chat: { main: [[{ node: 'Agent', type: 'main', index: 0 }]] },
				Model: { ai_languageModel: [[{ node: 'Agent', type: 'ai_languageModel', index: 0 }]] },
				[tool.name]: { ai_tool: [[{ node: 'Agent', type: 'ai_tool', index: 0 }]] },
			},
			settings: { executionOrder: 'v1' },
		});

		loseTheFirstAnswer();
		const createJob = { tool: 'Create_a_job', arguments: { displayName: 'Report' } };
		openAi.willAnswer(createJob, createJob, { says: 'Done.' });
		expect(await say(host, webhookId, 'A report')).toContain('Done.');
		await host.api.deactivate(workflow.id);
		const told = openAi.requests.slice(-2).map(({ messages }) => JSON.stringify(messages.at(-1)));
		expect(told).toEqual([
			expect.stringMatching(/the job may exist/),
			expect.stringMatching(/uid/),
		]);
		expect(creates()).toHaveLength(2);
	});
});
