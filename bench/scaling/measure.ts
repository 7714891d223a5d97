import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';

import type { SavedWorkflow, WorkflowFile } from '../../host/api';
import { saveCredential, saveExamples } from '../../host/examples';
import { pinnedVersion } from '../../host/install';
import type { RunningN8n } from '../../host/n8n';
import { clusterSteps, startCluster, type Cluster } from '../../host/queue/cluster';
import { Steps } from '../../host/steps';
import { waitFor } from '../../host/wait';
import { startSandbox, type Sandbox } from '../../sandbox';
import { byWebhook, endedBy, post, publish } from '../../test/queue/load';
import type { Alone, Figures, Run } from './figures';
import { firstThreadTime, processorTimes } from './processorTime';

const root = join(__dirname, '../..');

/** n8n's own number of executions that a worker has under way at once. */
const CONCURRENCY = 10;
/** Milliseconds. */
const LATENCY = 50;
/** Calls of the webhook that are under way at once. */
const CALLERS = 20;

/** Settings of a worker that may make a difference. */
const OTHER_SETTINGS: Array<Record<string, string>> = [
	{ N8N_EXPRESSION_ENGINE_POOL_SIZE: String(CONCURRENCY) },
	{ N8N_EXPRESSION_ENGINE: 'legacy' },
	{ EXECUTIONS_DATA_SAVE_ON_SUCCESS: 'none' },
];

/** How many executions with how many jobs each make a run. */
export interface Load {
	jobsEach: number;
	executions: number;
}

/**
 * Measures an n8n in queue mode on this machine, with one worker, two and four: throughput, processor time of
 * each part, and what the service sees.
 */
export async function measure(loads: Load[], say: (text: string) => void): Promise<Figures> {
	const dataFolder = join(root, 'host', '.data', 'scaling');
	const sandbox = await startSandbox({ latency: LATENCY, recordCalls: true });
	try {
		const cluster = await startCluster({ dataFolder, workers: 1, steps: new Steps(clusterSteps) });
		try {
			await saveCredential(cluster.api, sandbox);
			const bench = new Bench(cluster, sandbox);
			const runAll = async (what: string): Promise<Run[]> => {
				const runs: Run[] = [];
				for (const load of loads) {
					// The first time everything is loaded, compiled and cached.
					await bench.run({ ...load, executions: Math.ceil(load.executions / 5) });
					const run = await bench.run(load);
					const perSecond = (run.seen.jobs / run.seconds).toFixed(1);
					say(`${what}, ${load.jobsEach} job(s) in an execution: ${perSecond} jobs a second`);
					runs.push(run);
				}
				return runs;
			};
			const alone: Alone[] = [];
			for (const load of loads) await bench.prepare(load);
			for (const { jobsEach } of loads) alone.push(await bench.alone(jobsEach));
			const runs = await runAll('1 worker');
			await bench.addWorker();
			runs.push(...(await runAll('2 workers')));
			await bench.addWorker();
			await bench.addWorker();
			runs.push(...(await runAll('4 workers')));
			const settings: Figures['settings'] = [];
			for (const env of OTHER_SETTINGS) {
				await bench.stopWorkers();
				await bench.addWorker(env);
				const what = Object.entries(env).map(([name, value]) => `${name}=${value}`);
				settings.push({ env, runs: await runAll(what.join(' ')) });
			}
			return {
				date: new Date().toISOString().slice(0, 10),
				machine: `${cpus().length} × ${cpus()[0]?.model ?? '?'}, ${Math.round(totalmem() / 1e9)} GB`,
				cores: cpus().length,
				n8n: await pinnedVersion(join(root, 'host')),
				concurrency: CONCURRENCY,
				latency: LATENCY,
				logins: sandbox.tokens.issued,
				alone,
				runs,
				settings,
			};
		} finally {
			await cluster.stop();
		}
	} finally {
		await sandbox.close();
	}
}

class Bench {
	private batch: SavedWorkflow | undefined;
	private workers: RunningN8n[];

	constructor(
		private readonly cluster: Cluster,
		private readonly sandbox: Sandbox,
	) {
		this.workers = [...cluster.workers];
	}

	async addWorker(env?: Record<string, string>): Promise<void> {
		this.workers.push(await this.cluster.addWorker(env));
	}

	async stopWorkers(): Promise<void> {
		for (const worker of this.workers.splice(0)) await worker.stop();
	}

	/** Brings in a workflow that makes so many jobs at once. */
	async prepare({ jobsEach }: Pick<Load, 'jobsEach'>): Promise<void> {
		const { api } = this.cluster;
		this.batch ??= (await saveExamples(api, join(root, 'examples'))).get(
			'batch-with-error-branch.json',
		);
		if (this.batch === undefined) throw new Error('The example of a batch is missing');
		for (const responseMode of ['lastNode', 'onReceived'] as const) {
			const path = pathOf(jobsEach, responseMode);
			await publish(api, withRows(byWebhook(this.batch, path, responseMode), jobsEach));
		}
	}

	/** How long an execution takes that has everything to itself. */
	async alone(jobsEach: number): Promise<Alone> {
		const times: number[] = [];
		for (let count = 0; count < 12; count += 1) {
			const startedAt = performance.now();
			await post(this.url(jobsEach, 'lastNode'), [{}], 1);
			times.push((performance.now() - startedAt) / 1000);
		}
		// The first ones load what is not loaded yet, and log in.
		const sorted = times.slice(2).sort((one, other) => one - other);
		return { jobsEach, seconds: sorted[Math.floor(sorted.length / 2)] ?? NaN };
	}

	/** Has all the executions begun as fast as n8n takes them, and waits until they have ended. */
	async run({ jobsEach, executions }: Load): Promise<Run> {
		const { sandbox, workers } = this;
		sandbox.clearCalls();
		sandbox.connections.reset();
		const jobsBefore = sandbox.store.jobs.size;
		const endedBefore = await this.ended();
		const before = await this.times();
		const startedAt = performance.now();
		await post(this.url(jobsEach, 'onReceived'), new Array(executions).fill({}), CALLERS);
		const all = await waitFor(
			async () => (await this.ended()) - endedBefore >= executions || undefined,
			{ timeout: 600_000, interval: 50 },
		);
		const seconds = (performance.now() - startedAt) / 1000;
		const after = await this.times();
		const processorTime = since(before.processorTime, after.processorTime);
		const jobs = sandbox.store.jobs.size - jobsBefore;
		if (!all || jobs !== executions * jobsEach) {
			throw new Error(`${executions} executions with ${jobsEach} jobs each made ${jobs} jobs`);
		}
		return {
			workers: workers.length,
			jobsEach,
			executions,
			seconds,
			processorTime,
			coresLeft: (after.idle - before.idle + sum(Object.values(processorTime))) / seconds,
			threadTime: since(before.threadTime, after.threadTime),
			seen: {
				jobs,
				requests: sandbox.calls.length,
				connections: sandbox.connections.peak,
			},
		};
	}

	private url(jobsEach: number, responseMode: string): string {
		return `${this.cluster.main.url}/webhook/${pathOf(jobsEach, responseMode)}`;
	}

	private async ended(): Promise<number> {
		const ids = await Promise.all(this.workers.map(endedBy));
		return ids.flat().length;
	}

	/** Seconds since everything was started; `idle` is all cores', for whatever there was to do. */
	private async times(): Promise<Pick<Run, 'processorTime' | 'threadTime'> & { idle: number }> {
		const { main, postgres, redis } = this.cluster;
		const pids = [main, postgres, redis, ...this.workers].map(({ pid }) => pid);
		const [ofMain = 0, ofPostgres = 0, ofRedis = 0, ...ofWorkers] = await processorTimes(pids);
		const threads = await Promise.all(this.workers.map(({ pid }) => firstThreadTime(pid)));
		const { user, system } = process.cpuUsage();
		return {
			processorTime: {
				worker: sum(ofWorkers),
				main: ofMain,
				postgres: ofPostgres,
				redis: ofRedis,
				rest: (user + system) / 1e6,
			},
			threadTime: { worker: sum(threads), main: await firstThreadTime(main.pid) },
			idle: sum(cpus().map(({ times }) => times.idle / 1000)),
		};
	}
}

function sum(numbers: number[]): number {
	return numbers.reduce((total, number) => total + number, 0);
}

/** What was added to each figure between two looks. */
function since<Name extends string>(
	before: Record<Name, number>,
	after: Record<Name, number>,
): Record<Name, number> {
	const names = Object.keys(after) as Name[];
	return Object.fromEntries(names.map((name) => [name, after[name] - before[name]])) as Record<
		Name,
		number
	>;
}

function pathOf(jobsEach: number, responseMode: string): string {
	return `batch-${jobsEach}-${responseMode}`;
}

/** The batch of the example with so many rows, all of them good. */
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
