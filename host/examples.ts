import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import type { WorkflowFile } from './api';
import {
	credentialData,
	credentialType,
	sandboxCredential,
	type ServiceAccess,
} from './credential';
import { emptyFolder, readJson, writeJson } from './files';
import { runN8n, type N8nFolders, type N8nOptions } from './n8n';

/** The tag of the examples in n8n. It distinguishes them from the user's own workflows. */
export const exampleTag = { id: 'jobOrchestration', name: 'Job Orchestration' };

/** The ID of a copy of the example *Nightly job* that n8n's command `execute` can start. */
const FIRST_RUN = 'jobOrchFirstRun1';

/** Imports the node's credential into an n8n that doesn't run. */
export async function importCredential(
	service: ServiceAccess,
	folders: N8nFolders,
	options: N8nOptions,
): Promise<void> {
	const input = credentialFile(folders);
	const data = credentialData(service);
	await writeJson(input, [{ ...sandboxCredential, type: credentialType, data }]);
	await runN8n(['import:credentials', `--input=${input}`], folders, options);
}

/** Returns the port of the service in the credential that was imported; undefined if none was imported. */
export async function importedPort(folders: N8nFolders): Promise<number | undefined> {
	const file = credentialFile(folders);
	if (!existsSync(file)) return undefined;
	const [{ data }] = await readJson<[{ data: { baseUrl: string } }]>(file);
	return Number(new URL(data.baseUrl).port);
}

function credentialFile({ userFolder }: N8nFolders): string {
	return join(userFolder, 'import', 'credentials.json');
}

/** Imports the examples, and the copy for the first run, into an n8n that doesn't run. */
export async function importExamples(folders: N8nFolders, options: N8nOptions): Promise<void> {
	const examples = join(__dirname, '..', 'examples');
	const input = await emptyFolder(join(folders.userFolder, 'import', 'workflows'));
	const files = (await readdir(examples)).filter((name) => name.endsWith('.json'));
	for (const file of files) {
		const workflow = await readJson<WorkflowFile>(join(examples, file));
		await writeJson(join(input, file), { ...workflow, tags: [exampleTag] });
	}
	const nightly = await readJson<WorkflowFile>(join(examples, 'nightly-job.json'));
	await writeJson(join(input, 'first-run.json'), firstRunOf(nightly));
	await runN8n(['import:workflow', '--separate', `--input=${input}`], folders, options);
}

/** Runs the copy of the example *Nightly job*, in an n8n that doesn't run. */
export async function runFirstExample(folders: N8nFolders, options: N8nOptions): Promise<void> {
	await runN8n(['execute', `--id=${FIRST_RUN}`], folders, options);
}

/** Returns a copy with a Manual Trigger: `execute` can't start a Schedule Trigger. */
function firstRunOf({ name, nodes, ...workflow }: WorkflowFile): WorkflowFile {
	const startable = nodes.map((node) =>
		node.type === 'n8n-nodes-base.scheduleTrigger'
			? { ...node, type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} }
			: node,
	);
	return {
		...workflow,
		id: FIRST_RUN,
		name: `${name}: first run`,
		nodes: startable,
		tags: [exampleTag],
	};
}
