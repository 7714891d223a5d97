import { setTimeout as sleep } from 'node:timers/promises';

import { N8nApi, type WorkflowFile } from '../../host/api';
import { emptyFolder } from '../../host/files';
import { prepareHost, startHost, type Host } from '../../host/host';
import { stopAll } from '../../host/process';
import { inARow, jobNode, rows, webhook } from '../../host/workflow';
import { startSandbox, type NewJob, type Sandbox } from '../../sandbox';
import { CLUSTER, clusterById } from '../support/fixture';
import {
	ends,
	execution,
	pressRetry,
	publish,
	readExample,
	soon,
	start,
	type Started,
} from './host';
import { foldersOf, looksEvery } from './setUp';
import {
	addressIn,
	callUntilTaken,
	changed,
	createNode,
	createsIn,
	inALoop,
	json,
} from './workflows';

/*
 * n8n is killed while it creates jobs and waits for others, and is off until some of the waits have ended. After it was
 * started again, Retry creates no job twice, and each waiting execution continues with the call of its job.
 */

const LONGEST_MS = 300_000;
jest.setTimeout(LONGEST_MS);

const folders = foldersOf('restarts');
let sandbox: Sandbox;
let host: Host;
let api: N8nApi;
let batch: string;
let parent: Started;

const items = '[{ "n": 0 }, { "n": 1 }, { "n": 2 }, { "n": 3 }, { "n": 4 }]';
const create = (name: string, n = '$json.n', options: object = { concurrency: 1 }, more = {}) =>
	createNode(`=${name} {{ ${n} }}`, { options }, { name, ...more });
const list = jobNode('List', { resource: 'cluster', operation: 'getAll' });
const creating = (path: string, ...nodes: Array<ReturnType<typeof jobNode>>) =>
	inARow(path, [webhook(path), ...rows(items), ...nodes]);

/** Workflows, and the display name of the job, or the list, at which each is when n8n is killed. */
const crashes: Array<[where: string, stop: string, WorkflowFile]> = [
	['in the node', 'One 3', creating('one', create('One'))],
	['in the node after it', 'list', creating('two', create('Two'), list)],
	[
		'in the second of two Create nodes',
		'Fourth 1',
		creating('three', create('Third'), create('Fourth', '$itemIndex')),
	],
	['in the third round of a loop', 'Round 2', inALoop(webhook('loop'), items, create('Round'))],
];
const workflowIds = new Map<string, string>();

const names = [
	'Refused 0',
	...['Silent 0', 'Silent 1'],
	...Array.from({ length: 5 }, (_, n) => `Customer ${n}`),
];

/** Returns the body of a job's call. One of the jobs says that it failed. */
const resultOf = ({ displayName }: Pick<NewJob, 'displayName'>) => ({
	...{ displayName, state: displayName.endsWith('Customer 4') ? 'failed' : 'succeeded' },
});

const displayNames = () => createsIn(sandbox).map(({ displayName }) => displayName);
const inBatch = async (status?: string) =>
	await api.executions(batch, status === undefined ? undefined : [status]);

/** Starts the example that waits for all of its jobs. */
async function startBatch(): Promise<void> {
	const customers = { name: 'customers', value: JSON.stringify(names), type: 'array' };
	const { id } = await api.createWorkflow(
		changed(await readExample('continue-when-all-done.json'), {
			'Jobs to create': { assignments: { assignments: [{ id: 'customers', ...customers }] } },
			'Create job': {
				workflowUid: 'template-1',
				workCluster: clusterById(
					`={{ $json.job.customer.startsWith('Refused') ? 'nowhere' : '${CLUSTER}' }}`,
				),
				options: {
					waitUntilCalled: 'callbackUrl',
					waitLimit: "={{ $json.job.customer.startsWith('Silent') ? 0.05 : 60 }}",
				},
			},
			// n8n only stores waits of at least 65 seconds, and takes an execution that runs while n8n starts for crashed.
			// The first wait of the batch ends after the last row is written, unless the restart takes long.
			Wait: { amount: '={{ $runIndex === 0 ? 100 : 65 }}' },
			'Wait before the next try': { amount: 65 },
		}),
	);
	batch = id;
	parent = await start({ api }, batch);
	// The batch itself also waits.
	await soon(async () => (await inBatch('waiting')).length === 2 + 5 + 1);
}

/** Starts the workflows that create jobs, and waits until each is where n8n is to be killed. */
async function startCrashes(): Promise<void> {
	const held = new Set<string>();
	sandbox.faults.plan(({ operation, body }) => {
		const { job } = Object(body) as { job?: { displayName: string } };
		const name = operation === 'listClusters' ? 'list' : String(job?.displayName);
		if (!crashes.some(([, stop]) => stop === name)) return undefined;
		held.add(name);
		return { kind: 'stall', when: 'afterActing' };
	});
	for (const [where, , workflow] of crashes) {
		const { id } = await publish(api, workflow);
		workflowIds.set(where, id);
		const [{ webhookId } = { webhookId: '' }] = workflow.nodes;
		await fetch(`${host.n8n.url}/webhook/${webhookId}`, { method: 'POST' });
	}
	await soon(() => held.size === crashes.length);
}

beforeAll(async () => {
	await emptyFolder(folders.dataFolder);
	sandbox = await startSandbox();
	await prepareHost(folders);
	// This n8n doesn't notice that waits are over.
	host = await startHost(folders, looksEvery(60 * 60_000));
	api = await N8nApi.open(host.n8n.url, host.owner);
	await api.useService(sandbox);
	await startBatch();
	await startCrashes();
	const waits = await inBatch('waiting');
	expect(waits).toHaveLength(2 + 5 + 1);
	const [, silent = 0] = waits.map(({ waitTill }) => Date.parse(waitTill ?? '')).sort();

	await host.n8n.kill();
	sandbox.faults.clear();
	await sleep(silent - Date.now());
	host = await startHost(folders, { port: host.n8n.port, ...looksEvery(1_000) });
	api = await N8nApi.open(host.n8n.url, host.owner);
});
afterAll(async () => {
	await stopAll();
	await sandbox.close();
});

test('each waiting execution accepts the call of its job', async () => {
	const jobs = createsIn(sandbox).filter(({ displayName }) => displayName.includes('Customer'));
	expect(jobs).toHaveLength(5);
	for (const job of jobs) await callUntilTaken(addressIn(job) ?? '', json(resultOf(job)));
});

test.each(crashes)(
	'if n8n was killed %s, Retry creates no job twice, and says that the jobs may exist',
	async (where) => {
		const workflowId = workflowIds.get(where) ?? '';
		const retry = async (id: string) =>
			await execution(api, workflowId, await pressRetry(api, id, true)).end();
		const crashed = await soon(async () => (await api.executions(workflowId, ['crashed'])).at(0));
		const { error, id } = await retry(crashed.id);
		expect(error).toMatch(
			/n8n was stopped while an earlier execution ran this node; the job may exist/,
		);
		expect(new Set(displayNames()).size).toBe(displayNames().length);
		if (where !== 'in the node') return;

		// After the user has looked for the jobs, Create Again If Uncertain creates the missing ones.
		expect(error).toMatch(/0 of 5 jobs were created, 5 more may exist/);
		const options = { createUncertainAgain: '={{ ![0, 1, 2, 3].includes($itemIndex) }}' };
		const again = create('One', '$json.n', options, { onError: 'continueRegularOutput' });
		await api.changeWorkflow(workflowId, { nodes: creating('one', again).nodes });
		await retry(id);
		const own = displayNames().filter((name) => name.startsWith('One '));
		expect(own.sort()).toEqual(['One 0', 'One 1', 'One 2', 'One 3', 'One 4']);
	},
);

test('the batch continues once, with the result of each job', async () => {
	await soon(
		async () => (await inBatch()).every(({ status }) => ends.includes(status)),
		LONGEST_MS,
	);
	expect((await inBatch()).map(({ status }) => status)).toEqual(
		new Array(names.length + 1).fill('success'),
	);
	const { output } = await api.executionResult(parent.id);
	expect(output['Go on from here']).toEqual(
		names.map((customer) => {
			const [kind] = customer.split(' ');
			const jobId = expect.any(String) as unknown;
			if (kind === 'Silent') return { customer, state: 'no call', jobId, result: null };
			const displayName = `Report for ${customer}`;
			if (kind === 'Customer') {
				const result = resultOf({ displayName });
				return { customer, state: result.state === 'failed' ? 'failed' : 'done', jobId, result };
			}
			const message = expect.stringContaining('refused to create the job') as unknown;
			return { customer, state: 'not created', jobId: null, result: { message } };
		}),
	);
});
