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
import { writeBetweenMarks } from './report/document';
import { table } from './report/table';

const help = `Measures single executions with very many items in a real n8n with its default memory.

  npm run bench:large                     10,000, 50,000 and 100,000 items: about a quarter of an hour
  npm run bench:large -- 1000 2000        so many
  npm run bench:large -- --write          writes bench/results.md, too
`;

const ROOT = join(__dirname, '..');

/** Milliseconds that an execution may take. */
const LONGEST = 900_000;

/** What an execution does with so many items. */
const tasks = {
	create: 'jobs created',
	list: 'clusters listed',
};
type Task = keyof typeof tasks;

interface Measured {
	task: Task;
	count: number;
	/** How it ended, in n8n's words; undefined where n8n itself ended. */
	status: string | undefined;
	seconds: number;
	/** What n8n's process held at the most, in megabytes; and before the execution. */
	peak: number;
	before: number;
	/** Jobs that the service holds then. */
	jobs: number;
}

async function main(): Promise<void> {
	const { values, positionals } = parseArgs({
		allowPositionals: true,
		options: {
			write: { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		process.stdout.write(help);
		return;
	}
	const counts = positionals.length > 0 ? positionals.map(Number) : [10_000, 50_000, 100_000];
	const measured: Measured[] = [];
	for (const count of counts) {
		for (const task of Object.keys(tasks) as Task[]) measured.push(await measure(task, count));
	}
	const written = tableOf(measured);
	process.stdout.write(`\n${written}\n`);
	if (values.write) {
		await writeBetweenMarks(join(ROOT, 'bench/results.md'), 'npm run bench:large', written);
	}
}

/** One execution, in an n8n of its own: what the one before has left in memory doesn't count. */
async function measure(task: Task, count: number): Promise<Measured> {
	const dataFolder = join(ROOT, 'host/.data/large');
	await emptyFolder(dataFolder);
	const steps = new Steps(hostSteps + 1);
	const host = await startHost({ dataFolder, port: 0, steps });
	const sandbox = await startSandbox({ clusters: count, recordCalls: false });
	try {
		await saveCredential(host.api, sandbox);
		const before = (await memory(host)).now;
		return await steps.run(`${count} ${tasks[task]}`, async () => {
			const { id } = await host.api.createWorkflow(workflow(task, count));
			const startedAt = performance.now();
			await host.api.run(id, 'Run by hand');
			const execution = await ended(host, id);
			const seconds = (performance.now() - startedAt) / 1_000;
			const { peak } = await memory(host);
			const jobs = sandbox.store.jobs.size;
			return { task, count, status: execution?.status, seconds, peak, before, jobs };
		});
	} finally {
		await host.stop();
		await sandbox.close();
	}
}

/** @returns undefined where n8n has ended, and not the execution */
async function ended({ api, n8n }: Host, workflowId: string): Promise<Execution | undefined> {
	let isRunning = true;
	void n8n.ended.then(() => (isRunning = false));
	const look = async (): Promise<Execution | 'gone' | undefined> => {
		if (!isRunning) return 'gone';
		// While n8n has no time for it, it doesn't answer.
		const executions = await api.executions(workflowId).catch(() => []);
		return executions.find(({ stoppedAt }) => Boolean(stoppedAt));
	};
	const found = await waitFor(look, { timeout: LONGEST });
	return found === 'gone' ? undefined : found;
}

/** What n8n's process holds now and has held at the most, in megabytes, by proc(5). */
async function memory({ n8n }: Host): Promise<{ now: number; peak: number }> {
	const text = await readFile(`/proc/${n8n.pid}/status`, 'utf8').catch(() => '');
	const megabytes = (name: string) =>
		Math.round(Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(text)?.[1] ?? NaN) / 1024);
	return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') };
}

function workflow(task: Task, count: number): WorkflowFile {
	const create = {
		resource: 'job',
		operation: 'create',
		workflowUid: 'template-1',
		workCluster: { __rl: true, mode: 'id', value: 'wc-000001' },
		displayName: '=Job {{ $json.n }}',
	};
	const list = { resource: 'cluster', operation: 'getAll', returnAll: true };
	const items = `={{ { rows: Array.from({ length: ${count} }, (_, n) => ({ n })) } }}`;
	const nodes =
		task === 'list' ? [jobNode('Clusters', list)] : [...rows(items), jobNode('Create', create)];
	return inARow('Large', [manualTrigger(), ...nodes]);
}

function tableOf(measured: Measured[]): string {
	return table(
		['One execution', 'How it ended', 'Seconds', 'n8n before, MB', 'At the most, MB', 'Jobs made'],
		measured.map(({ task, count, status, seconds, before, peak, jobs }) => [
			`${count.toLocaleString('en')} ${tasks[task]}`,
			status ?? 'n8n ended',
			seconds.toFixed(0),
			String(before),
			Number.isNaN(peak) ? undefined : peak.toLocaleString('en'),
			task === 'create' ? jobs.toLocaleString('en') : undefined,
		]),
	);
}

main().catch((error: unknown) => {
	process.stderr.write(
		`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
	);
	process.exitCode = 1;
});
