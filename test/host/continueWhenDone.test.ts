import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { N8nApi, type Execution, type WorkflowNode } from '../../host/api';
import type { Host } from '../../host/host';
import { startN8n, type RunningN8n } from '../../host/n8n';
import { waitFor } from '../../host/wait';
import { Client } from '../sandbox/client';
import { dataFolderOf, hostFolder, START_TIMEOUT, startTestHost } from './host';
import { example, fillIn } from './workflows';

/*
 * The example that waits for jobs, in a real n8n: each job has an execution of its own, which waits for the
 * call that the job's template makes at its end.
 */

const file = 'continue-when-done.json';

/** A minute more than a job takes: n8n looks for waits that are over once a minute. */
const patience = { timeout: 100_000 };

let host: Host;

/** The n8n that was started after the host's own was stopped. */
let restarted: RunningN8n | undefined;

beforeAll(async () => {
	host = await startTestHost('continue');
}, START_TIMEOUT);

afterAll(async () => {
	await restarted?.stop();
	await host?.stop();
});

/** What the example hands to a job, and how long that job runs. */
function inputs(seconds: string): WorkflowNode['parameters'] {
	return {
		inputsJson: `={{ [
			{ id: 'callbackUrl', default: $execution.resumeUrl },
			{ id: 'seconds', default: String(${seconds}) }
		] }}`,
	};
}

const customers = (names: string[]): WorkflowNode['parameters'] => ({
	assignments: {
		assignments: [
			{ id: 'customers', name: 'customers', value: JSON.stringify(names), type: 'array' },
		],
	},
});

/** Starts the example, and gives what looks at the executions that it has started for the jobs. */
async function start(): Promise<() => Promise<Execution[]>> {
	const { id } = example(host, file);
	const parent = Number(await host.api.run(id, 'Run by hand'));
	return async () =>
		(await host.api.executions(id)).filter((execution) => Number(execution.id) > parent);
}

/** How an execution can have ended. One that is resumed has a time at which it stopped, from when it began to wait. */
const ends = ['success', 'error', 'crashed', 'canceled'];

/** The executions for the jobs once all of them have ended. */
async function ended(jobs: () => Promise<Execution[]>, count: number): Promise<Execution[]> {
	const all = await waitFor(async () => {
		const executions = await jobs();
		const over = executions.filter(({ status }) => ends.includes(status));
		return over.length === count ? executions : undefined;
	}, patience);
	return all ?? (await jobs());
}

/** What each execution went on with, by the customer whose job it was. */
async function wentOnWith(executions: Execution[]): Promise<Record<string, unknown>> {
	const results = executions.map(async ({ id }) => {
		const [item] = (await host.api.executionResult(id)).output['Go on from here'] ?? [];
		return [String(item?.['customer']), item] as const;
	});
	return Object.fromEntries(await Promise.all(results));
}

const everyCustomer = [
	...['Alder', 'Birch', 'Cedar', 'Dogwood', 'Elm'],
	...['Fir', 'Ginkgo', 'Hazel', 'Ivy', 'Juniper'],
];

const everyResult = () =>
	Object.fromEntries(
		everyCustomer.map((customer) => {
			const displayName = `Report for ${customer}`;
			const outputs = { report: `report of ${displayName}` };
			const jobId = expect.any(String);
			const result = { jobId, displayName, state: 'succeeded', outputs };
			return [customer, { jobId, customer, result }];
		}),
	);

test('ten jobs are created, and each goes on with what it brings', async () => {
	const executions = await ended(await start(), 10);
	expect(executions.map(({ status }) => status)).toEqual(new Array(10).fill('success'));
	expect(await wentOnWith(executions)).toEqual(everyResult());
}, 120_000);

test('whichever job is done first goes on first', async () => {
	await fillIn(host, file, {
		'Jobs to create': customers(['6', '4', '2']),
		'Create job': inputs('$json.customer'),
	});
	const executions = await ended(await start(), 3);
	const byEnd = [...executions].sort((a, b) =>
		String(a.stoppedAt).localeCompare(String(b.stoppedAt)),
	);
	const order = await Promise.all(
		byEnd.map(async ({ id }) => Object.keys(await wentOnWith([{ id } as Execution]))),
	);
	expect(order.flat()).toEqual(['2', '4', '6']);
}, 120_000);

test('a job that never calls ends after the limit, in an error that says so', async () => {
	await fillIn(host, file, {
		'Jobs to create': customers(['Alder', 'Birch']),
		'Create job': inputs("$json.customer === 'Birch' ? 3600 : 1"),
		'Wait for its call': { resumeAmount: 10, resumeUnit: 'seconds' },
	});
	const executions = await ended(await start(), 2);
	const outcomes = executions.map(async ({ id, status }) => [
		status,
		(await host.api.executionResult(id)).error,
	]);
	expect((await Promise.all(outcomes)).sort()).toEqual([
		['error', "Say that it did not call: Job 'Report for Birch' did not call within 10 seconds"],
		['success', undefined],
	]);
}, 120_000);

test('n8n is restarted while it waits, and goes on', async () => {
	await fillIn(host, file, {});
	const client = new Client(host.sandbox);
	await client.login();
	const before = new Set(host.sandbox.store.jobs.keys());
	const newJobs = () => [...host.sandbox.store.jobs.keys()].filter((uid) => !before.has(uid));
	const jobs = await start();

	// Suspended, so that none calls before n8n is back.
	const suspended = new Set<string>();
	await waitFor(async () => {
		for (const uid of newJobs()) {
			if (!suspended.has(uid)) await client.change('suspend', uid);
			suspended.add(uid);
		}
		const waiting = (await jobs()).filter(({ status }) => status === 'waiting');
		return (suspended.size === 10 && waiting.length === 10) || undefined;
	}, patience);
	await host.n8n.stop();

	const { port } = host.n8n;
	const dataFolder = dataFolderOf('continue');
	const userFolder = join(dataFolder, 'n8n');
	const logFile = join(dataFolder, 'n8n-restarted.log');
	restarted = await startN8n({ hostFolder, userFolder, port, logFile });
	expect(restarted.port).toBe(port);
	host.api = await N8nApi.open(restarted.url, host.owner);
	// Before that, n8n looks for executions that run, and takes those for crashed that have just gone on.
	await waitFor(
		async () => (await readFile(logFile, 'utf8')).includes('Editor is now accessible') || undefined,
		patience,
	);
	for (const uid of suspended) await client.change('resume', uid);
	const executions = await ended(jobs, 10);
	expect(executions.map(({ status }) => status)).toEqual(new Array(10).fill('success'));
	expect(await wentOnWith(executions)).toEqual(everyResult());
}, 180_000);
