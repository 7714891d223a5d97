import { join } from 'node:path';

import { N8nApi, type Execution } from '../../host/api';
import { hostSteps, startHost } from '../../host/host';
import type { Host } from '../../host/host';
import { emptyFolder } from '../../host/install';
import { startN8n, type RunningN8n } from '../../host/n8n';
import { Steps } from '../../host/steps';
import { waitFor } from '../../host/wait';

const projectHost = join(__dirname, '../../host');

/** Where the n8n under test is installed. */
export const { N8N_UNDER_TEST: hostFolder = projectHost } = process.env;

/** Where a test's n8n keeps its data. */
export const dataFolderOf = (name: string) => join(projectHost, '.data', name);

/** Milliseconds that a start may take where n8n has to be installed first. */
export const START_TIMEOUT = 15 * 60_000;

/**
 * Gives the tests of a file an n8n whose data folder is new: the host's own, or the release whose folder N8N_UNDER_TEST
 * names. It is there while tests run, and stopped after them.
 *
 * @param name of its data folder
 * @returns also what starts its n8n again with the same data, once that was stopped or killed
 */
export function useHost(name: string): Host & { restart(): Promise<void> } {
	const dataFolder = dataFolderOf(name);
	let restarted: RunningN8n | undefined;
	const host = {
		async restart() {
			const { port } = host.n8n;
			const logFile = join(dataFolder, 'n8n-restarted.log');
			const userFolder = join(dataFolder, 'n8n');
			restarted = await startN8n({ hostFolder, userFolder, port, logFile });
			host.api = await N8nApi.open(restarted.url, host.owner);
		},
	} as ReturnType<typeof useHost>;
	beforeAll(async () => {
		await emptyFolder(dataFolder);
		const steps = new Steps(hostSteps);
		Object.assign(host, await startHost({ hostFolder, dataFolder, port: 0, steps }));
	}, START_TIMEOUT);
	afterAll(async () => {
		await restarted?.stop();
		await (host as Partial<Host>).stop?.();
	});
	return host;
}

/** Whether an execution has ended. One that is resumed has a time at which it stopped, from when it began to wait. */
export const hasEnded = ({ status }: Execution): boolean =>
	['success', 'error', 'crashed', 'canceled'].includes(status);

/** Whether that n8n is the host's own, the newest that is tested. */
export const isNewest = hostFolder === projectHost;

/** Runs a workflow by one of its triggers, as the editor's button does, to its end. */
export async function runToEnd(
	{ api }: Pick<Host, 'api'>,
	workflowId: string,
	trigger = 'Run by hand',
): Promise<Execution> {
	return await endOf(api, workflowId, await api.run(workflowId, trigger));
}

/**
 * Waits for the end of an execution.
 * @throws Error if it doesn't end within a minute
 */
export async function endOf(api: N8nApi, workflowId: string, id: string): Promise<Execution> {
	const ended = await waitFor(
		async () =>
			(await api.executions(workflowId)).find(
				(execution) => execution.id === id && execution.stoppedAt,
			),
		{ timeout: 60_000 },
	);
	if (ended === undefined) throw new Error(`Execution ${id} has not ended`);
	return ended;
}
