import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import type { Execution, WorkflowFile } from '../host/api';
import { saveCredential } from '../host/examples';
import { hostSteps, startHost, type Host } from '../host/host';
import { emptyFolder } from '../host/install';
import { Steps } from '../host/steps';
import { waitFor } from '../host/wait';
import { inARow, jobNode, manualTrigger, rows } from '../host/workflow';
import { startSandbox } from '../sandbox';
import { number } from '../sandbox/number';
import { runMain } from './main';
import { table, type Cell } from './report/table';
import { ROOT } from './runner/childProcess';

const help = `Measures single executions with very many items in a real n8n with its default memory.

  npm run bench:large                 10,000, 50,000 and 100,000 items: about six minutes
  npm run bench:large -- 1000 2000    other numbers
`;

const LONGEST_MS = 900_000;

const tasks = { create: 'jobs created', list: 'clusters listed' };
type Task = keyof typeof tasks;

runMain(main());

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
	const measured: Cell[][] = [];
	for (const count of counts) {
		measured.push(await measure('create', count), await measure('list', count));
	}
	const heading = ['', 'ended as', 'seconds', 'n8n before, MB', 'at most, MB', 'jobs created'];
	process.stdout.write(`\n${await table(heading, measured)}\n`);
}

/**
 * Measures one execution, and returns a row of the table. Starts a new n8n, whose memory contains no other execution.
 */
async function measure(task: Task, count: number): Promise<Cell[]> {
	const dataFolder = join(ROOT, 'host/.data/large');
	await emptyFolder(dataFolder);
	const steps = new Steps(hostSteps + 1);
	const host = await startHost({ dataFolder, port: 0, steps });
	const sandbox = await startSandbox({ clusters: count, recordCalls: false });
	try {
		await saveCredential(host.api, sandbox);
		const before = await megabytes(host, 'VmRSS');
		const title = `${count.toLocaleString('en')} ${tasks[task]}`;
		return await steps.run(title, async () => {
			const { id } = await host.api.createWorkflow(workflow(task, count));
			const startedAt = performance.now();
			await host.api.run(id, 'Run by hand');
			const status = (await ended(host, id))?.status ?? 'not at all';
			const seconds = (performance.now() - startedAt) / 1_000;
			const peak = await megabytes(host, 'VmHWM');
			const jobs = sandbox.store.jobs.size.toLocaleString('en');
			return [title, status, seconds.toFixed(0), before, peak, jobs];
		});
	} finally {
		await host.stop();
		await sandbox.close();
	}
}

/**
 * Waits until the execution of a workflow has ended.
 * @returns undefined if n8n ends first, or if the execution takes too long
 */
async function ended({ api, n8n }: Host, workflowId: string): Promise<Execution | undefined> {
	const gone = new AbortController();
	void n8n.ended.then(() => gone.abort());
	const look = async () => {
		// While n8n is busy, it doesn't respond.
		const executions = await api.executions(workflowId).catch(() => []);
		return executions.find(({ stoppedAt }) => Boolean(stoppedAt));
	};
	const execution = waitFor(look, { timeout: LONGEST_MS, signal: gone.signal });
	return await execution.catch(() => undefined);
}

/**
 * Returns the resident memory of n8n's process in megabytes.
 * @param name the field of `/proc/<pid>/status`: `VmRSS` for the present value, or `VmHWM` for the highest value
 * @returns undefined if the process has ended
 */
async function megabytes({ n8n }: Host, name: string): Promise<Cell> {
	const status = await readFile(`/proc/${n8n.pid}/status`, 'utf8').catch(() => '');
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
