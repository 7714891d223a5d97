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
 * Starts an n8n whose data folder is new: the host's own, or the release whose folder N8N_UNDER_TEST names.
 *
 * @param name of its data folder
 */
export async function startTestHost(name: string): Promise<Host> {
	const dataFolder = await emptyFolder(dataFolderOf(name));
	return await startHost({ hostFolder, dataFolder, port: 0, steps: new Steps(hostSteps) });
}

/**
 * Starts a test's n8n again with the same data.
 *
 * @param name of its data folder
 */
export async function restart(host: Host, name: string): Promise<RunningN8n> {
	const folder = dataFolderOf(name);
	const n8n = await startN8n({
		hostFolder,
		userFolder: join(folder, 'n8n'),
		port: host.n8n.port,
		logFile: join(folder, 'n8n-restarted.log'),
	});
	host.api = await N8nApi.open(n8n.url, host.owner);
	return n8n;
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
