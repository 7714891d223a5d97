import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';

import type { N8nApi, WorkflowFile } from '../../host/api';
import { saveCredential, saveExamples } from '../../host/examples';
import type { RunningN8n } from '../../host/n8n';
import { clusterSteps, startCluster, type Cluster } from '../../host/queue/cluster';
import { Steps } from '../../host/steps';
import { waitFor } from '../../host/wait';
import { startSandbox, type Sandbox } from '../../sandbox';
import { byWebhook, post, publish } from '../../test/queue/load';
import { medianOf } from '../report/format';
import { ROOT } from '../runner/childProcess';
import { LATENCY_MS, type Figures, type Part, type Run } from './figures';
import { firstThreadTime, processorTimes } from './processorTime';

type Load = Pick<Run, 'jobsEach' | 'executions'>;

const LOADS: Load[] = [
	{ jobsEach: 1, executions: 200 },
	{ jobsEach: 100, executions: 20 },
];
const CALLS_AT_ONCE = 20;
const LONGEST_RUN_MS = 600_000;

/** Measures an n8n in queue mode on this machine, with one worker, two and four. */
export async function measure(say: (text: string) => void): Promise<Figures> {
	const sandbox = await startSandbox({ latency: LATENCY_MS, recordCalls: false });
	try {
		const dataFolder = join(ROOT, 'host', '.data', 'scaling');
		const cluster = await startCluster({ dataFolder, workers: 1, steps: new Steps(clusterSteps) });
		try {
			await saveCredential(cluster.api, sandbox);
			await publishBatches(cluster.api);
			const alone: Figures['alone'] = [];
			for (const { jobsEach } of LOADS) {
				alone.push({ jobsEach, seconds: await secondsAlone(cluster, jobsEach) });
			}
			const runs: Run[] = [];
			for (const workers of [1, 2, 4]) {
				while (cluster.workers.length < workers) await cluster.addWorker();
				for (const load of LOADS) {
					// The first time everything is loaded, compiled and cached.
					await runLoad(cluster, sandbox, { ...load, executions: load.executions / 5 });
					const run = await runLoad(cluster, sandbox, load);
					say(`${workers} worker(s), ${load.jobsEach} job(s) each: ${run.seconds.toFixed(1)} s`);
					runs.push(run);
				}
			}
			return { logins: sandbox.tokens.issued, alone, runs };
		} finally {
			await cluster.stop();
		}
	} finally {
		await sandbox.close();
	}
}

/** Adds the example of a batch for each load, once answering at the end and once at the beginning. */
async function publishBatches(api: N8nApi): Promise<void> {
	const examples = await saveExamples(api, join(ROOT, 'examples'));
	const batch = examples.get('batch-with-error-branch.json');
	if (batch === undefined) throw new Error('The example of a batch is missing');
	for (const { jobsEach } of LOADS) {
		for (const mode of ['lastNode', 'onReceived'] as const) {
			await publish(api, withRows(byWebhook(batch, pathOf(jobsEach, mode), mode), jobsEach));
		}
	}
}

/** How long an execution takes that runs alone. The first two also load the workflow and log in. */
async function secondsAlone(cluster: Cluster, jobsEach: number): Promise<number> {
	const times: number[] = [];
	for (let count = 0; count < 12; count += 1) {
		const startedAt = performance.now();
		await post(urlOf(cluster, jobsEach, 'lastNode'), 1, 1);
		times.push((performance.now() - startedAt) / 1_000);
	}
	return medianOf(times.slice(2));
}

/** Begins executions as fast as n8n takes them, and waits until all have ended. */
async function runLoad(cluster: Cluster, sandbox: Sandbox, load: Load): Promise<Run> {
	const { jobsEach, executions } = load;
	sandbox.connections.reset();
	const jobsBefore = sandbox.store.jobs.size;
	const endedBefore = await ended(cluster);
	const before = await times(cluster);
	const startedAt = performance.now();
	await post(urlOf(cluster, jobsEach, 'onReceived'), executions, CALLS_AT_ONCE);
	const haveEnded = async () => (await ended(cluster)) - endedBefore >= executions || undefined;
	const all = await waitFor(haveEnded, { timeout: LONGEST_RUN_MS, interval: 50 });
	const seconds = (performance.now() - startedAt) / 1_000;
	const after = await times(cluster);
	const jobs = sandbox.store.jobs.size - jobsBefore;
	if (!all || jobs !== executions * jobsEach) {
		throw new Error(`${executions} executions with ${jobsEach} jobs each created ${jobs} jobs`);
	}
	const processorTime = since(before.processorTime, after.processorTime);
	return {
		...load,
		workers: cluster.workers.length,
		seconds,
		processorTime,
		threadTime: since(before.threadTime, after.threadTime),
		coresLeft: (after.idle - before.idle + sum(Object.values(processorTime))) / seconds,
		connections: sandbox.connections.peak,
	};
}

/** Seconds of processor time since everything was started; `idle` is that of all cores. */
async function times({ main, postgres, redis, workers }: Cluster) {
	const pids = [main, postgres, redis, ...workers].map(({ pid }) => pid);
	const [ofMain = 0, ofPostgres = 0, ofRedis = 0, ...ofWorkers] = await processorTimes(pids);
	const threads = await Promise.all(workers.map(async ({ pid }) => await firstThreadTime(pid)));
	const { user, system } = process.cpuUsage();
	const processorTime: Record<Part, number> = {
		worker: sum(ofWorkers),
		main: ofMain,
		postgres: ofPostgres,
		redis: ofRedis,
		rest: (user + system) / 1e6,
	};
	return {
		processorTime,
		threadTime: { worker: sum(threads), main: await firstThreadTime(main.pid) },
		idle: sum(cpus().map((core) => core.times.idle / 1_000)),
	};
}

/** How many executions the workers have ended, by their logs. */
async function ended({ workers }: Cluster): Promise<number> {
	const endedBy = async ({ logFile }: RunningN8n) =>
		(await readFile(logFile, 'utf8')).split('Worker finished execution').length - 1;
	return sum(await Promise.all(workers.map(endedBy)));
}

function sum(numbers: number[]): number {
	return numbers.reduce((total, number) => total + number, 0);
}

function since<Name extends string>(before: Record<Name, number>, after: Record<Name, number>) {
	const names = Object.keys(after) as Name[];
	const differences = names.map((name) => [name, after[name] - before[name]]);
	return Object.fromEntries(differences) as Record<Name, number>;
}

function pathOf(jobsEach: number, responseMode: string): string {
	return `batch-${jobsEach}-${responseMode}`;
}

function urlOf({ main }: Cluster, jobsEach: number, responseMode: string): string {
	return `${main.url}/webhook/${pathOf(jobsEach, responseMode)}`;
}

/** The batch of the example with other rows, all of them valid. */
function withRows(workflow: WorkflowFile, count: number): WorkflowFile {
	const rows = Array.from({ length: count }, (_, index) => ({
		customer: `Customer ${index}`,
		workflow: 'monthly-invoice',
		cluster: 'wc-000001',
	}));
	const nodes = workflow.nodes.map((node) =>
		node.name === 'Rows'
			? { ...node, parameters: { ...node.parameters, jsonOutput: JSON.stringify({ rows }) } }
			: node,
	);
	return { ...workflow, name: `${workflow.name}, ${count} rows`, nodes };
}
