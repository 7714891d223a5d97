import { join } from 'node:path';

import type { N8nApi, SavedWorkflow, WorkflowFile, WorkflowNode } from '../../host/api';
import { readJson } from '../../host/files';
import { waitFor } from '../../host/wait';
import type { Sandbox } from '../../sandbox';
import { runToEnd } from '../host/host';
import { changed } from '../host/workflows';
import { publish } from './load';

const example = join(__dirname, '../../examples/crash-safe-batch.json');

/** The number of rows that the example marks at a time. */
export const CHUNK = 50;

/** The example of the crash-safe batch, which looks for waiting rows every two seconds. */
export class Ledger {
	private constructor(
		private readonly api: N8nApi,
		readonly workflow: SavedWorkflow,
	) {}

	/**
	 * Imports the example, makes it create its table, and activates it.
	 *
	 * @param secondsLeft number of seconds, instead of ten minutes, after which a row that is still marked is set aside
	 * @param others other changed parameters, by the name of the node
	 */
	static async open(
		api: N8nApi,
		secondsLeft: number,
		others: Record<string, WorkflowNode['parameters']> = {},
	): Promise<Ledger> {
		const ago = `={{ $now.minus({ seconds: ${secondsLeft} }).toISO() }}`;
		const workflow = await publish(
			api,
			changed(await readJson<WorkflowFile>(example), {
				Rows: { jsonOutput: JSON.stringify({ rows: [] }) },
				'Every minute': { rule: { interval: [{ field: 'seconds', secondsInterval: 2 }] } },
				'Set aside what was left': {
					filters: {
						conditions: [
							{ keyName: 'state', condition: 'eq', keyValue: 'sending' },
							{ keyName: 'updatedAt', condition: 'lt', keyValue: ago },
						],
					},
				},
				...others,
			}),
		);
		await runToEnd({ api }, workflow.id, 'Fill the ledger by hand');
		return new Ledger(api, workflow);
	}

	/** Adds waiting rows. Their keys begin with the name of the batch. */
	async add(batch: string, size: number): Promise<void> {
		const rows = Array.from({ length: size }, (_, index) => ({
			key: `${batch} ${String(index).padStart(3, '0')}`,
			customer: `Customer ${index}`,
			cluster: 'wc-000001',
			state: 'waiting',
		}));
		await this.api.addDataTableRows('Job ledger of crash-safe-batch', rows);
	}

	/** Returns the rows of a batch. */
	async rows(batch: string): Promise<Array<Record<string, unknown>>> {
		const all = await this.api.dataTableRows('Job ledger of crash-safe-batch');
		return all.filter(({ key }) => String(key).startsWith(`${batch} `));
	}

	/** Waits until no row of a batch is waiting or being sent. Returns false if this takes too long. */
	async settle(batch: string): Promise<boolean> {
		const done = async () => {
			const rows = await this.rows(batch);
			return !rows.some(({ state }) => state === 'waiting' || state === 'sending') || undefined;
		};
		return (await waitFor(done, { timeout: 150_000, interval: 500 })) ?? false;
	}

	/** Returns the ID of the execution that has marked the row of a job. */
	async execution(batch: string, displayName: string): Promise<string | undefined> {
		const row = (await this.rows(batch)).find((each) => nameOf(each) === displayName);
		return row?.['execution'] ? String(row['execution']) : undefined;
	}

	/** Compares the rows of a batch with the jobs in a sandbox. */
	async count(batch: string, { store }: Sandbox) {
		const rows = await this.rows(batch);
		const created = rows.filter(
			({ state, jobId }) => state === 'created' && store.jobs.has(String(jobId)),
		);
		const setAside = rows.filter(({ state }) => state === 'may exist');
		const jobs = [...store.jobs.values()].filter(({ displayName }) =>
			displayName.startsWith(`Invoice ${batch} `),
		);
		const known = new Set([...created.map(({ jobId }) => jobId), ...setAside.map(nameOf)]);
		return {
			/** The number of rows with the state "created" whose job exists. */
			created: created.length,
			/** The number of rows that a person has to check. Some of their keys may also be recorded as created. */
			setAside: setAside.length,
			/** The number of jobs that exist more than once. */
			doubled: jobs.length - new Set(jobs.map(({ displayName }) => displayName)).size,
			/** Jobs that are neither recorded nor in a row that was set aside. */
			lost: jobs.filter(({ uid, displayName }) => !known.has(uid) && !known.has(displayName)),
		};
	}
}

/** Returns the name that the example gives the job of a row. */
function nameOf({ key }: Record<string, unknown>): string {
	return `Invoice ${String(key)}`;
}
