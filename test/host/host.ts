import { join } from 'node:path';

import { N8nApi, type SavedWorkflow, type WorkflowFile } from '../../host/api';
import { credentialData, credentialType, sandboxCredential } from '../../host/credential';
import type { ExecutionResult } from '../../host/executionResult';
import { readJson } from '../../host/files';
import { waitFor } from '../../host/wait';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox';
import { running, type Running } from './setUp';

/**
 * What the tests of a file use: the n8n that all files share, and a sandbox and a credential that no other file uses.
 */
export interface HostUnderTest extends Running {
	api: N8nApi;
	sandbox: Sandbox;
	credential: { id: string; name: string };
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

/** Returns an example as it is in the package. */
export const readExample = async (file: string) =>
	await readJson<WorkflowFile>(join(__dirname, '../../examples', file));

/**
 * Gives the tests of a file the shared n8n, a sandbox and a credential. They are available while tests run.
 *
 * @param name the name of the credential, which no other file uses at the same time
 */
export function useHost(name: string, options?: SandboxOptions): HostUnderTest {
	const examples = new Map<string, Promise<SavedWorkflow>>();
	const bringIn = async (file: string) => await host.api.createWorkflow(await readExample(file));
	const host = {
		example: async (file) => {
			const held = examples.get(file) ?? bringIn(file);
			examples.set(file, held);
			return await held;
		},
	} as HostUnderTest;
	beforeAll(async () => {
		const n8n = running();
		const api = new OwnApi(n8n.url);
		await api.logIn(n8n.owner);
		const sandbox = await startSandbox(options);
		const saved = { name, type: credentialType, data: credentialData(sandbox) };
		const credential = { id: await api.createCredential(saved), name };
		api.credential = credential;
		Object.assign(host, { ...n8n, api, sandbox, credential });
	});
	beforeEach(() => {
		host.sandbox.clearCalls();
		host.sandbox.faults.clear();
	});
	afterAll(async () => await host.sandbox.close());
	return host;
}

/**
 * Calls a function until it returns a value.
 *
 * @param look returns the value; undefined, 0 or false as long as the value does not exist
 * @throws Error if the value doesn't exist in time
 */
export async function soon<T>(
	look: () => Promise<T | undefined | false | 0> | T | undefined | false | 0,
	timeout = 60_000,
): Promise<T> {
	const seen = await waitFor(async () => (await look()) || undefined, { timeout });
	if (seen === undefined) throw new Error(`Not within ${timeout} ms: ${look.toString()}`);
	return seen;
}

/** The result of an execution that has ended. */
export type Ended = ExecutionResult & { id: string; status: string };

/** An execution that was started. */
export interface Started {
	id: string;
	/** Waits until the execution has one of these statuses, and returns it. */
	reaches(...statuses: string[]): Promise<string>;
	/** Waits until the execution has ended for any reason. */
	end(): Promise<Ended>;
}

/** The statuses of executions that have ended. */
export const ends = ['success', 'error', 'crashed', 'canceled'];

/** Returns an execution of a workflow. */
export function execution(api: N8nApi, workflowId: string, id: string): Started {
	const reaches = async (...statuses: string[]) =>
		await soon(async () => {
			const { status } = (await api.executions(workflowId)).find((one) => one.id === id) ?? {};
			return status !== undefined && statuses.includes(status) && status;
		});
	const end = async () => ({
		id,
		status: await reaches(...ends),
		...(await api.executionResult(id)),
	});
	return { id, reaches, end };
}

/**
 * Starts a workflow by one of its triggers, as the editor's button does.
 *
 * @param workflow the ID of a saved workflow, or a workflow that is created for this execution
 */
export async function start(
	{ api }: Pick<HostUnderTest, 'api'>,
	workflow: string | WorkflowFile,
	trigger = 'Run by hand',
): Promise<Started> {
	const id = typeof workflow === 'string' ? workflow : (await api.createWorkflow(workflow)).id;
	return execution(api, id, await api.run(id, trigger));
}

/** Starts a workflow, and waits until it has ended. */
export const runToEnd = async (...args: Parameters<typeof start>): Promise<Ended> =>
	await (await start(...args)).end();

/** Imports a workflow and activates its triggers. */
export async function publish(api: N8nApi, workflow: WorkflowFile): Promise<SavedWorkflow> {
	const saved = await api.createWorkflow(workflow);
	await api.activate(saved);
	return saved;
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
