import { readFile } from 'node:fs/promises';

import type { N8nApi, SavedWorkflow, WorkflowFile } from '../../host/api';
import type { RunningN8n } from '../../host/n8n';

/** Brings a workflow in and lets it run by its triggers. */
export async function publish(api: N8nApi, workflow: WorkflowFile): Promise<SavedWorkflow> {
	const saved = await api.createWorkflow(workflow);
	await api.activate(saved);
	return saved;
}

/** Milliseconds after which a call is no longer waited for. */
const LONGEST_CALL = 60_000;

/**
 * Posts to a webhook a number of times, a few calls at once.
 * @returns the statuses of the answers; 0 for a call that was not answered in time
 */
export async function post(url: string, times: number, atOnce: number): Promise<number[]> {
	const statuses: number[] = [];
	let begun = 0;
	const caller = async () => {
		while (begun < times) {
			begun += 1;
			statuses.push(await postOnce(url));
		}
	};
	await Promise.all(Array.from({ length: atOnce }, caller));
	return statuses;
}

async function postOnce(url: string): Promise<number> {
	const signal = AbortSignal.timeout(LONGEST_CALL);
	const headers = { 'content-type': 'application/json' };
	try {
		const response = await fetch(url, { method: 'POST', headers, body: '{}', signal });
		await response.arrayBuffer();
		return response.status;
	} catch (error) {
		if (signal.aborted) return 0;
		throw error;
	}
}

/** The ids of the executions that a worker has begun, by its log. */
export async function begunBy({ logFile }: Pick<RunningN8n, 'logFile'>): Promise<string[]> {
	const log = await readFile(logFile, 'utf8');
	return [...log.matchAll(/Worker started execution (\d+)/g)].map(([, id]) => String(id));
}
