import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { N8nApi, type WorkflowFile } from '../host/api';
import { emptyFolder } from '../host/files';
import { prepareHost, startHost } from '../host/host';
import { stopAll, type RunningProcess } from '../host/process';
import { step } from '../host/step';
import { waitFor } from '../host/wait';
import { inARow, jobNode, manualTrigger, rows } from '../host/workflow';
import { startSandbox } from '../sandbox';
import { number } from '../sandbox/number';
import { table, type Cell } from './report';
import { ROOT } from './runner';

const help = `Measures single executions with very many items in a real n8n with its default memory.

  npm run bench:large                 10,000, 50,000 and 100,000 items: about six minutes
  npm run bench:large -- 1000 2000    other numbers
`;

const LONGEST_MS = 900_000;

const folders = { dataFolder: join(ROOT, 'host/.data/large') };

const tasks = { create: 'jobs created', list: 'clusters listed' };
type Task = keyof typeof tasks;

async function main(): Promise<void> {
	const { values, positionals } = parseArgs({
		allowPositionals: true,
		options: { help: { type: 'boolean', default: false } },
	});
	if (values.help) {
		process.stdout.write(help);
		return;
	}
	const given = positionals.map((count) => number(count, { least: 1, whole: true }));
	const counts = given.length > 0 ? given : [10_000, 50_000, 100_000];
	await emptyFolder(folders.dataFolder);
	await prepareHost(folders);
	const measured: Cell[][] = [];
	try {
		for (const count of counts) {
			measured.push(await measure('create', count), await measure('list', count));
		}
	} finally {
		await stopAll();
	}
	const heading = ['', 'ended as', 'seconds', 'n8n before, MB', 'at most, MB', 'jobs created'];
	process.stdout.write(`\n${await table(heading, measured)}\n`);
}

/**
 * Measures one execution, and returns a row of the table. Starts a new n8n process, so that its memory contains no other
 * execution.
 */
async function measure(task: Task, count: number): Promise<Cell[]> {
	const { n8n, owner } = await startHost(folders);
	const sandbox = await startSandbox({ clusters: count, recordCalls: false });
	const api = await N8nApi.open(n8n.url, owner);
	await api.useService(sandbox);
	const before = await megabytes(n8n, 'VmRSS');
	const title = `${count.toLocaleString('en')} ${tasks[task]}`;
	return await step(title, async () => {
		const { id } = await api.createWorkflow(workflow(task, count));
		const startedAt = performance.now();
		await api.run(id, 'Run by hand');
		const status = await endOf(id, api, n8n);
		const seconds = (performance.now() - startedAt) / 1_000;
		const peak = await megabytes(n8n, 'VmHWM');
		const jobs = sandbox.store.jobs.size.toLocaleString('en');
		await n8n.stop();
		await sandbox.close();
		return [title, status, seconds.toFixed(0), before, peak, jobs];
	});
}

/**
 * Waits until the execution of a workflow or n8n has ended, and returns the status of the execution.
 * @returns undefined if the execution takes too long
 */
async function endOf(id: string, api: N8nApi, n8n: RunningProcess): Promise<string | undefined> {
	let isGone = false;
	void n8n.ended.then(() => (isGone = true));
	const look = async () => {
		if (isGone) return 'not at all';
		// While n8n is busy, it doesn't respond.
		const executions = await api.executions(id).catch(() => []);
		return executions.find(({ stoppedAt }) => Boolean(stoppedAt))?.status;
	};
	return await waitFor(look, { timeout: LONGEST_MS });
}

/**
 * Returns the resident memory of n8n's process in megabytes.
 * @param name the field of `/proc/<pid>/status`: `VmRSS` for the present value, or `VmHWM` for the highest value
 * @returns undefined if the process has ended
 */
async function megabytes({ pid }: RunningProcess, name: string): Promise<Cell> {
	const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
	const kilobytes = new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1];
	return kilobytes && Math.round(Number(kilobytes) / 1_024).toLocaleString('en');
}

function workflow(task: Task, count: number): WorkflowFile {
	if (task === 'list') {
		const list = { resource: 'cluster', operation: 'getAll', returnAll: true };
		return inARow('Large', [manualTrigger(), jobNode('Clusters', list)]);
	}
	const create = jobNode('Create', {
		resource: 'job',
		operation: 'create',
		workflowUid: 'template-1',
		workCluster: { __rl: true, mode: 'id', value: 'wc-000001' },
		displayName: '=Job {{ $json.n }}',
	});
	const items = `={{ { rows: Array.from({ length: ${count} }, (_, n) => ({ n })) } }}`;
	return inARow('Large', [manualTrigger(), ...rows(items), create]);
}

void main();
