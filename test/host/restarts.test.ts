import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { readJson } from '../../host/files';
import { waitFor } from '../../host/wait';
import { inARow, manualTrigger, node, webhook } from '../../host/workflow';
import { post, publish } from '../queue/load';
import { takesTenAtOnce } from '../support/answer';
import { CLUSTER, clusterById } from '../support/fixture';
import { hasEnded } from './host';
import { LONGEST_MS, useOwnHost } from './ownHost';
import {
	addressIn,
	callUntilTaken,
	changed,
	createNode,
	createsIn,
	customers,
	json,
} from './workflows';

/*
 * After n8n was killed or stopped and started again, waiting executions continue. Because no other file uses this n8n,
 * the file also tests many concurrent calls of a webhook.
 */

const host = useOwnHost('restarts');

async function expectSoon(look: () => Promise<boolean>): Promise<void> {
	const seen = await waitFor(async () => (await look()) || undefined, { timeout: LONGEST_MS });
	expect(seen).toBe(true);
}

const names = [
	...Array.from({ length: 3 }, (_, n) => `Refused ${n}`),
	...Array.from({ length: 5 }, (_, n) => `Silent ${n}`),
	...Array.from({ length: 42 }, (_, n) => `Customer ${n}`),
];
const results = names.map((customer) => {
	const displayName = `Report for ${customer}`;
	const jobId = expect.any(String);
	if (customer.startsWith('Refused')) {
		const result = { message: expect.stringContaining('refused to create the job') };
		return { customer, state: 'not created', jobId: null, result };
	}
	if (customer.startsWith('Silent')) return { customer, state: 'no call', jobId, result: null };
	return { customer, state: 'done', jobId, result: { displayName } };
});
let batch: string;
let parent: string;

const inBatch = async (status?: string) =>
	await host.api.executions(batch, status === undefined ? undefined : [status]);

/** Calls n8n at the same time for all jobs with such a name, each until the call is accepted. */
async function callFor(name: RegExp): Promise<void> {
	const jobs = createsIn(host.sandbox).filter(({ displayName }) => name.test(displayName));
	await Promise.all(
		jobs.map(async (job) => {
			await callUntilTaken(addressIn(job) ?? '', json({ displayName: job.displayName }));
		}),
	);
}

test('if n8n is killed while it waits for fifty jobs, and is off when some waits end, it accepts all other calls', async () => {
	const example = join(__dirname, '../../examples/continue-when-all-done.json');
	const { id } = await host.api.createWorkflow(
		changed(await readJson(example), {
			'Jobs to create': customers(names),
			'Create job': {
				workflowUid: 'template-1',
				workCluster: clusterById(
					`={{ $json.job.customer.startsWith('Refused') ? 'nowhere' : '${CLUSTER}' }}`,
				),
				options: {
					waitUntilCalled: 'callbackUrl',
					waitLimit: "={{ $json.job.customer.startsWith('Silent') ? 1 : 60 }}",
				},
			},
			// This wait is five seconds shorter than that of the whole batch. With equal waits, the batch would check
			// its rows just before the last row is written.
			'Wait before the next try': { amount: 65 },
		}),
	);
	batch = id;
	parent = await host.api.run(batch, 'Run by hand');
	// The batch itself also waits.
	await expectSoon(async () => (await inBatch('waiting')).length === 5 + 42 + 1);
	const soon = Date.now() + 5 * 60_000;
	const ends = (await inBatch('waiting'))
		.map(({ waitTill }) => Date.parse(waitTill ?? ''))
		.filter((end) => end < soon);
	expect(ends).toHaveLength(5 + 1);

	const allEnd = async () => await sleep(Math.max(...ends) - Date.now());
	await host.restart({ kill: true, meanwhile: allEnd });
	await callFor(/Customer/);
	await expectSoon(async () => (await inBatch('success')).length >= names.length);
	// n8n would treat an execution that is running when it stops as crashed.
	await expectSoon(async () => (await inBatch('running')).length === 0);
});

test('after n8n was stopped and started again, a waiting execution continues', async () => {
	const options = { waitUntilCalled: 'callbackUrl', waitLimit: 60 };
	const next = node('Next', 'n8n-nodes-base.noOp', {});
	const { id } = await host.api.createWorkflow(
		inARow('Restart', [manualTrigger(), createNode('Restarted', { options }), next]),
	);
	const execution = await host.api.run(id, 'Run by hand');
	await expectSoon(async () => (await host.api.executions(id, ['waiting'])).length === 1);

	await host.restart();
	await callFor(/Restarted/);
	await expectSoon(async () => (await host.api.executions(id)).every(hasEnded));
	const { output } = await host.api.executionResult(execution);
	expect(output['Next']).toMatchObject([{ callback: { displayName: 'Restarted' } }]);
	expect(
		createsIn(host.sandbox).filter(({ displayName }) => displayName === 'Restarted'),
	).toHaveLength(1);
});

// This test runs while the batch waits for its next check.
test('200 calls of a webhook share a limiter, so few jobs are uncertain if the service processes ten at a time', async () => {
	const create = createNode('=Job of execution {{ $execution.id }}');
	const { id } = await publish(
		host.api,
		inARow('Many calls', [webhook('many-calls', 'lastNode'), create]),
	);
	host.sandbox.faults.plan(takesTenAtOnce(300));

	const posting = post(`${host.n8n.url}/webhook/many-calls`, 200, 200);
	const isOver = posting.then(() => true);
	let slowestPageMs = 0;
	do {
		const startedAt = performance.now();
		await (await fetch(host.n8n.url)).text();
		slowestPageMs = Math.max(slowestPageMs, performance.now() - startedAt);
	} while (!(await Promise.race([isOver, Promise.resolve(false)])));
	expect(slowestPageMs).toBeLessThan(2_000);

	const failed = await host.api.executions(id, ['error', 'crashed']);
	expect(failed.length).toBeLessThanOrEqual(5);
	for (const execution of failed) {
		expect((await host.api.executionResult(execution.id)).error).toMatch(/the job may exist/);
	}
	const statuses = await posting;
	expect(statuses.filter((status) => status === 500)).toHaveLength(failed.length);
	expect(statuses.filter((status) => status === 200)).toHaveLength(200 - failed.length);
	const jobs = [...host.sandbox.store.jobs.values()].map(({ displayName }) => displayName);
	const names = jobs.filter((name) => name.startsWith('Job of'));
	expect(names).toHaveLength(200 - failed.length);
	expect(new Set(names).size).toBe(names.length);
});

test('the batch has continued once, with the result of each job', async () => {
	await expectSoon(async () => (await inBatch()).every(hasEnded));
	expect((await inBatch()).map(({ status }) => status)).toEqual(Array(51).fill('success'));
	const { output } = await host.api.executionResult(parent);
	expect(output['Go on from here']).toEqual(results);
});
