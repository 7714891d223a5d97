import type { N8nApi, SavedWorkflow, WorkflowNode } from '../../host/api';
import type { Sandbox } from '../../sandbox';
import { publish, readExample, runToEnd, soon } from '../host/host';
import { changed } from '../host/workflows';

const TABLE = 'Job ledger of crash-safe-batch';

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
			changed(await readExample('crash-safe-batch.json'), {
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
		await this.api.addDataTableRows(TABLE, rows);
	}

	/** Returns the rows of a batch. */
	private async rows(batch: string): Promise<Array<Record<string, unknown>>> {
		const all = await this.api.dataTableRows(TABLE);
		return all.filter(({ key }) => String(key).startsWith(`${batch} `));
	}

	/** Waits until no row of a batch is waiting or being sent. */
	async settle(batch: string): Promise<void> {
		const isOpen = ({ state }: Record<string, unknown>) =>
			state === 'waiting' || state === 'sending';
		await soon(async () => !(await this.rows(batch)).some(isOpen), 150_000);
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
