import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { N8nApi, type WorkflowFile } from '../../host/api';
import type { ExecutionResult } from '../../host/executionResult';
import type { Host } from '../../host/host';
import { startN8n, type RunningN8n } from '../../host/n8n';
import { waitFor } from '../../host/wait';
import { inARow, jobNode, node } from '../../host/workflow';
import { Client } from '../sandbox/client';
import { dataFolderOf, hostFolder, START_TIMEOUT, startTestHost } from './host';

/* Create with Wait Until Called, in a real n8n: one job, and the execution continues when its template calls. */

let host: Host;
let restarted: RunningN8n | undefined;

beforeAll(async () => {
	host = await startTestHost('wait');
}, START_TIMEOUT);

afterAll(async () => {
	await restarted?.stop();
	await host?.stop();
});

beforeEach(() => host.sandbox.clearCalls());

const creates = () => host.sandbox.calls.filter(({ operation }) => operation === 'createJob');
const lastJob = () => [...host.sandbox.store.jobs.keys()].at(-1) ?? '';

function createAndWait({ seconds = '1' } = {}): WorkflowFile {
	return inARow('Wait', [
		node(
			'Every night',
			'n8n-nodes-base.scheduleTrigger',
			{ rule: { interval: [{}] } },
			{ typeVersion: 1.2 },
		),
		jobNode('Create', {
			resource: 'job',
			operation: 'create',
			namespace: 'default',
			workflowUid: 'call-when-done',
			workCluster: { __rl: true, mode: 'id', value: 'wc-000001' },
			displayName: 'Report',
			inputs: { input: [{ id: 'seconds', value: seconds }] },
			outputs: { output: [{ id: 'report', value: 'alder.pdf' }] },
			options: { waitUntilCalled: { values: { input: 'callbackUrl', limit: 60 } } },
		}),
		node('Next', 'n8n-nodes-base.noOp', {}),
	]);
}

interface Started {
	id: string;
	reaches: (...statuses: string[]) => Promise<string>;
	result: () => Promise<ExecutionResult>;
}

async function start(workflow: WorkflowFile): Promise<Started> {
	const saved = await host.api.createWorkflow(workflow);
	return follow(saved.id, await host.api.run(saved.id, 'Every night'));
}

function follow(workflowId: string, id: string): Started {
	return {
		id,
		reaches: async (...statuses) => {
			const status = await waitFor(
				async () => {
					const execution = (await host.api.executions(workflowId)).find((one) => one.id === id);
					return statuses.find((wanted) => wanted === execution?.status);
				},
				{ timeout: 100_000 },
			);
			return status ?? 'none of them';
		},
		result: async () => await host.api.executionResult(id),
	};
}

const called = {
	displayName: 'Report',
	callback: expect.objectContaining({ state: 'succeeded', outputs: { report: 'alder.pdf' } }),
};

test('the next node has the job and the body of its call', async () => {
	const execution = await start(createAndWait());
	expect(await execution.reaches('success', 'error')).toBe('success');
	const { output } = await execution.result();
	expect(output['Next']).toEqual([expect.objectContaining(called)]);
	expect(creates()).toHaveLength(1);
});

test('a cancel ends the wait, and Retry creates no second job', async () => {
	const execution = await start(createAndWait({ seconds: '3600' }));
	expect(await execution.reaches('waiting')).toBe('waiting');
	await host.api.call('POST', `/rest/executions/${execution.id}/stop`);
	expect(await execution.reaches('canceled')).toBe('canceled');
	const log = await readFile(host.n8n.logFile, 'utf8');
	expect(log).toContain(`waits for the call of job ${lastJob()} ('Report' in namespace`);
	const { id } = await host.api.call<{ id: string }>(
		'POST',
		`/rest/executions/${execution.id}/retry`,
		{ loadWorkflow: false },
	);
	const { output } = await host.api.executionResult(id);
	expect(output['Next']).toEqual([
		expect.objectContaining({ displayName: 'Report', callback: null }),
	]);
	expect(creates()).toHaveLength(1);
});

test('n8n is restarted while it waits, and continues', async () => {
	const execution = await start(createAndWait({ seconds: '2' }));
	// Suspended, so that it doesn't call before n8n is back.
	const client = new Client(host.sandbox);
	await client.login();
	await waitFor(async () => await Promise.resolve(creates().length === 1 || undefined), {
		timeout: 20_000,
	});
	await client.change('suspend', lastJob());
	expect(await execution.reaches('waiting')).toBe('waiting');
	await host.n8n.stop();
	const folder = dataFolderOf('wait');
	restarted = await startN8n({
		hostFolder,
		userFolder: join(folder, 'n8n'),
		port: host.n8n.port,
		logFile: join(folder, 'n8n-restarted.log'),
	});
	host.api = await N8nApi.open(restarted.url, host.owner);
	await client.change('resume', lastJob());
	expect(await execution.reaches('success', 'error', 'crashed')).toBe('success');
	expect((await execution.result()).output['Next']).toEqual([expect.objectContaining(called)]);
	expect(creates()).toHaveLength(1);
}, 120_000);
