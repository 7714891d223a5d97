import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { N8nApi, SavedWorkflow, WorkflowFile } from './api';
import { readJson } from './install';
import { loopback } from './ports';

/** The workflow that the host runs once. */
export const firstExample = 'nightly-job.json';

/** The tag that tells the examples in n8n from the user's own workflows. */
export const exampleTag = 'Job Orchestration';

/** The name by which the examples refer to their credential. */
export const credentialName = 'Job Orchestration Sandbox';

/** What a credential of this project's node is made of. */
export interface ServiceAccess {
	url: string;
	userName: string;
	password: string;
}

/**
 * Brings the credential that the examples refer to into n8n, or renews it there. One that a user has set for a
 * service elsewhere is left as it is.
 * @param name another than the examples'
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
 * Brings in the examples. One that n8n already holds (by its name) is left as it is: it may
 * have been changed.
 * @returns the examples as n8n holds them, by the name of their file
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
