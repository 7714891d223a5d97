import { join } from 'node:path';

import type { N8nApi, SavedWorkflow, WorkflowFile, WorkflowNode } from '../../host/api';
import { readJson } from '../../host/install';
import { waitFor } from '../../host/wait';
import type { Sandbox } from '../../sandbox';
import { runToEnd } from '../host/host';
import { changed } from '../host/workflows';
import { publish } from './load';

const example = join(__dirname, '../../examples/crash-safe-batch.json');

/** How many rows the example marks at once. */
export const CHUNK = 50;

/** What became of the rows of a batch, counted against the jobs that there are. */
export interface LedgerCount {
	/** Rows that say they were created, and have a job. */
	created: number;
	/** Rows that a person has to look into, though some of their keys may be recorded as created, too. */
	setAside: number;
	/** Of those, how many each execution that died had marked: it reported nothing back. */
	leftBehind: number[];
	/** Jobs that are there more than once. */
	doubled: number;
	/** Jobs that are neither recorded nor in a row that was set aside. */
	lost: string[];
}

/** The example of the batch that survives a crash, which looks for work every two seconds. */
export class Ledger {
	private constructor(
		private readonly api: N8nApi,
		readonly workflow: SavedWorkflow,
	) {}

	/**
	 * Brings the example in, has it make its table, and lets it run.
	 * @param secondsLeft after how many seconds a row that is still marked is set aside, instead of ten minutes
	 * @param others what else is changed, by the names of the nodes
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

	/** Adds rows that wait. Their keys begin with the batch's name. */
	async add(batch: string, size: number): Promise<void> {
		const rows = Array.from({ length: size }, (_, index) => ({
			key: `${batch} ${String(index).padStart(3, '0')}`,
			customer: `Customer ${index}`,
			cluster: 'wc-000001',
			state: 'waiting',
		}));
		await this.api.addDataTableRows('Job ledger of crash-safe-batch', rows);
	}

	/** The rows of a batch. */
	async rows(batch: string): Promise<Array<Record<string, unknown>>> {
		const all = await this.api.dataTableRows('Job ledger of crash-safe-batch');
		return all.filter(({ key }) => String(key).startsWith(`${batch} `));
	}

	/** Waits until nothing of a batch waits or runs, and n8n says so. */
	async settle(batch: string): Promise<boolean> {
		const done = async () => {
			const rows = await this.rows(batch);
			return !rows.some(({ state }) => state === 'waiting' || state === 'sending') || undefined;
		};
		return (await waitFor(done, { timeout: 150_000, interval: 500 })) ?? false;
	}

	/** The execution that has marked the row of a job. */
	async execution(batch: string, displayName: string): Promise<string | undefined> {
		const row = (await this.rows(batch)).find((each) => nameOf(each) === displayName);
		return row?.['execution'] ? String(row['execution']) : undefined;
	}

	/** Counts the rows of a batch against what a sandbox holds. */
	async count(batch: string, { store }: Sandbox): Promise<LedgerCount> {
		const rows = await this.rows(batch);
		const created = rows.filter(
			({ state, jobId }) => state === 'created' && store.jobs.has(String(jobId)),
		);
		const setAside = rows.filter(({ state }) => state === 'may exist');
		const jobs = [...store.jobs.values()].filter(({ displayName }) =>
			displayName.startsWith(`Invoice ${batch} `),
		);
		const recorded = new Set(created.map(({ jobId }) => jobId));
		const names = new Set(setAside.map(nameOf));
		return {
			created: created.length,
			setAside: setAside.length,
			leftBehind: countsOf(setAside.map(({ execution }) => String(execution ?? ''))),
			doubled: jobs.length - new Set(jobs.map(({ displayName }) => displayName)).size,
			lost: jobs
				.filter(({ uid, displayName }) => !recorded.has(uid) && !names.has(displayName))
				.map(({ displayName }) => displayName),
		};
	}
}

/** How often each text occurs that isn't empty. */
function countsOf(texts: string[]): number[] {
	const named = new Set(texts.filter((text) => text !== ''));
	return [...named].map((name) => texts.filter((text) => text === name).length);
}

/** What the example calls the job of a row. */
function nameOf({ key }: Record<string, unknown>): string {
	return `Invoice ${String(key)}`;
}
