import { readFile } from 'node:fs/promises';

import type { RunningN8n } from '../../host/n8n';

/** How long a call waits for its response, in milliseconds. */
const LONGEST_CALL = 60_000;

/**
 * Posts to a webhook a number of times, with `atOnce` concurrent calls.
 *
 * @returns the statuses of the responses; 0 for a call without a response in time
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

/** Returns the IDs of the executions that a worker has started, from its log. */
export async function begunBy({ logFile }: Pick<RunningN8n, 'logFile'>): Promise<string[]> {
	const log = await readFile(logFile, 'utf8');
	return [...log.matchAll(/Worker started execution (\d+)/g)].map(([, id]) => String(id));
}
