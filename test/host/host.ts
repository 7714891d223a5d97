import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import { N8nApi, type Execution, type SavedWorkflow, type WorkflowFile } from '../../host/api';
import { credentialData, credentialType, sandboxCredential } from '../../host/credential';
import { readJson } from '../../host/files';
import { waitFor } from '../../host/wait';
import { startSandbox, type Sandbox } from '../../sandbox';
import { running, type Running } from './setUp';

/**
 * What the tests of a file use: the n8n that all files share, and a sandbox and a credential that no other file uses.
 */
export interface HostUnderTest extends Pick<Running, 'url' | 'logFile'> {
	api: N8nApi;
	sandbox: Sandbox;
	/** The name of the credential. */
	credential: string;
	/** Returns the example with this file name, and imports it at the first call. */
	example(file: string): Promise<SavedWorkflow>;
}

/** Replaces the credential that workflows name by that of the test file. */
class OwnApi extends N8nApi {
	credential = sandboxCredential;

	override async createWorkflow(workflow: WorkflowFile): Promise<SavedWorkflow> {
		return await super.createWorkflow(this.own(workflow));
	}

	override async changeWorkflow(id: string, change: Partial<WorkflowFile>): Promise<SavedWorkflow> {
		return await super.changeWorkflow(id, this.own(change));
	}

	private own<Part>(workflow: Part): Part {
		const [general, own] = [sandboxCredential, this.credential].map((each) => JSON.stringify(each));
		const text = JSON.stringify(workflow).replaceAll(String(general), String(own));
		return JSON.parse(text) as Part;
	}
}

/**
 * Gives the tests of a file the shared n8n, a sandbox and a credential. They are available while tests run.
 *
 * @param name unique name of the file
 */
export function useHost(name: string): HostUnderTest {
	const credential = `Sandbox of ${name}`;
	const examples = new Map<string, Promise<SavedWorkflow>>();
	const bringIn = async (file: string) =>
		await host.api.createWorkflow(await readJson(join(__dirname, '../../examples', file)));
	const host = {
		credential,
		example: async (file) => {
			const held = examples.get(file) ?? bringIn(file);
			examples.set(file, held);
			return await held;
		},
	} as HostUnderTest;
	beforeAll(async () => {
		const { url, logFile, owner } = running();
		const api = new OwnApi(url);
		await api.logIn(owner);
		const sandbox = await startSandbox({ password: `pass-${randomUUID()}` });
		const saved = { name: credential, type: credentialType, data: credentialData(sandbox) };
		api.credential = { id: await api.createCredential(saved), name: credential };
		Object.assign(host, { url, logFile, api, sandbox });
	});
	afterAll(async () => await host.sandbox.close());
	return host;
}

/**
 * Returns whether an execution has ended. Its `stoppedAt` doesn't show this, because a resumed execution keeps the time
 * at which it began to wait.
 */
export const hasEnded = ({ status }: Execution): boolean =>
	['success', 'error', 'crashed', 'canceled'].includes(status);

/** Runs a workflow by one of its triggers, as the editor's button does, and waits for its end. */
export async function runToEnd(
	{ api }: Pick<HostUnderTest, 'api'>,
	workflowId: string,
	trigger = 'Run by hand',
): Promise<Execution> {
	return await endOf(api, workflowId, await api.run(workflowId, trigger));
}

/**
 * Waits for the end of an execution.
 *
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

/**
 * Retries an execution, as the editor's button does.
 *
 * @param loadWorkflow whether to use the currently saved workflow
 * @returns the ID of the new execution
 */
export async function pressRetry(api: N8nApi, id: string, loadWorkflow: boolean): Promise<string> {
	const path = `/rest/executions/${id}/retry`;
	return (await api.call<{ id: string }>('POST', path, { loadWorkflow })).id;
}
