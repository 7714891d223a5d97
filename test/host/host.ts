import { join } from 'node:path';

import type { Execution, N8nApi } from '../../host/api';
import { hostSteps, startHost } from '../../host/host';
import type { Host } from '../../host/host';
import { emptyFolder } from '../../host/install';
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
