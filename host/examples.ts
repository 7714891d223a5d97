import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { N8nApi, SavedWorkflow, WorkflowFile } from './api';
import { readJson } from './install';
import { loopback } from './ports';

/** The file of the example that the first start runs once. */
export const firstExample = 'nightly-job.json';

/** The tag of the examples in n8n. It distinguishes them from the user's own workflows. */
export const exampleTag = 'Job Orchestration';

/** The name of the credential that the examples use. */
export const credentialName = 'Job Orchestration Sandbox';

/** The address of a service and a login to it, from which the node's credential is created. */
export interface ServiceAccess {
	url: string;
	userName: string;
	password: string;
}

/**
 * Creates or updates the node's credential in n8n. Doesn't change a credential whose Base URL isn't on loopback,
 * because the user has then set it for another service.
 * @param name the name of the credential; by default, the name that the examples use
 */
export async function saveCredential(
	api: N8nApi,
	{ url, userName, password }: ServiceAccess,
	name = credentialName,
): Promise<void> {
	const named = { name, type: 'jobOrchestrationApi' };
	const held = await api.credentialData(named.name, named.type);
	const baseUrl = String(held?.['baseUrl'] ?? url);
	if (!baseUrl.startsWith(`http://${loopback}`)) return;
	const data = { baseUrl: url, userName, password, ignoreSslIssues: false, accessToken: '' };
	await api.saveCredential({ ...named, data });
}

/**
 * Creates the examples in n8n. Doesn't change an example if n8n has a workflow with its name, because the user may have
 * edited it.
 * @returns the workflows in n8n, by the names of the examples' files
 */
export async function saveExamples(
	api: N8nApi,
	examplesFolder: string,
): Promise<Map<string, SavedWorkflow>> {
	const files = (await readdir(examplesFolder)).filter((name) => name.endsWith('.json')).sort();
	const held = await api.workflows();
	const tags = [await api.tagId(exampleTag)];
	const saved = new Map<string, SavedWorkflow>();
	for (const file of files) {
		const workflow = await readJson<WorkflowFile>(join(examplesFolder, file));
		const found = held.find(({ name }) => name === workflow.name);
		const save = async () => await api.createWorkflow({ ...workflow, tags });
		saved.set(file, found ? await api.workflow(found.id) : await save());
	}
	return saved;
}
