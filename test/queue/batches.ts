import type { N8nApi, SavedWorkflow } from '../../host/api';
import { waitFor } from '../../host/wait';
import type { Sandbox } from '../../sandbox';
import { byWebhook, orNotYet, post, publish } from './load';
import type { ClusterUnderTest } from './useCluster';

/** What became of executions, and of their jobs by what n8n and the sandbox say. */
export interface BatchCount {
	/** How many executions have which status. */
	executions: Record<string, number>;
	jobs: number;
	/** Jobs that are there more than once. */
	doubled: number;
	/** Jobs that no execution accounts for: neither by its output nor by having failed. */
	lost: string[];
	/** Of executions that ended well, how many rows came out of them. */
	rows: number[];
}

const unfinished = ['new', 'running', 'waiting', 'unknown'];

/** The example of a batch with an error branch, each of whose executions makes some jobs, by a webhook. */
export class Batches {
	private constructor(
		private readonly api: N8nApi,
		private readonly url: string,
		private readonly workflow: SavedWorkflow,
	) {}

	/** @param path of its webhook, which nothing else has */
	static async open(cluster: ClusterUnderTest, path: string, jobsEach: number): Promise<Batches> {
		const { api, main, example } = cluster;
		const rows = Array.from({ length: jobsEach }, (_, index) => ({
			customer: `Customer ${index}`,
			workflow: 'monthly-invoice',
			cluster: 'wc-000001',
		}));
		const changes: Record<string, Record<string, unknown>> = {
			Rows: { jsonOutput: JSON.stringify({ rows }) },
			'Create a job': { displayName: '=Batch {{ $execution.id }} {{ $json.customer }}' },
		};
		const file = byWebhook(example('batch-with-error-branch.json'), path, 'onReceived');
		const workflow = await publish(api, {
			...file,
			name: `${file.name}: ${path}`,
			nodes: file.nodes.map((node) => ({
				...node,
				parameters: { ...node.parameters, ...changes[node.name] },
			})),
		});
		return new Batches(api, `${main.url}/webhook/${path}`, workflow);
	}

	/** Begins so many executions, all at once. */
	async begin(executions: number): Promise<void> {
		const answers = await post(this.url, new Array(executions).fill({}), executions);
		const refused = answers.filter(({ status }) => status !== 200);
		if (refused.length > 0) throw new Error(`n8n refused ${JSON.stringify(refused)}`);
	}

	/**
	 * Waits until all executions have ended, or nothing has changed for a while.
	 * @returns how many have not ended
	 */
	async settle(quiet: number): Promise<number> {
		let last = '';
		let changedAt = Date.now();
		const left = await waitFor(
			orNotYet(async () => {
				const counts = await this.statuses();
				const now = JSON.stringify(counts);
				if (now !== last) changedAt = Date.now();
				last = now;
				const count = unfinished.reduce((sum, status) => sum + (counts[status] ?? 0), 0);
				return count === 0 || Date.now() - changedAt > quiet ? count : undefined;
			}),
			{ timeout: 180_000, interval: 500 },
		);
		return left ?? -1;
	}

	async close(): Promise<void> {
		await this.api.deactivate(this.workflow.id);
	}

	/** Counts what n8n says of them against what a sandbox holds. */
	async count({ store }: Sandbox): Promise<BatchCount> {
		const jobs = [...store.jobs.values()].filter(({ displayName }) =>
			displayName.startsWith('Batch '),
		);
		const names = jobs.map(({ displayName }) => displayName);
		const executions = await this.api.executions(this.workflow.id);
		const accounted = new Set<string>();
		const rows: number[] = [];
		for (const { id, status } of executions) {
			if (status !== 'success') {
				for (const name of names) if (name.startsWith(`Batch ${id} `)) accounted.add(name);
				continue;
			}
			const { output } = await this.api.executionResult(id);
			const told = [...(output['Created'] ?? []), ...(output['Not created'] ?? [])];
			for (const { customer } of told) accounted.add(`Batch ${id} ${String(customer)}`);
			rows.push(told.length);
		}
		return {
			executions: await this.statuses(),
			jobs: jobs.length,
			doubled: names.length - new Set(names).size,
			lost: names.filter((name) => !accounted.has(name)),
			rows,
		};
	}

	private async statuses(): Promise<Record<string, number>> {
		const counts: Record<string, number> = {};
		for (const { status } of await this.api.executions(this.workflow.id)) {
			counts[status] = (counts[status] ?? 0) + 1;
		}
		return counts;
	}
}
