import { join } from 'node:path';

import type { SavedWorkflow } from '../../host/api';
import { saveCredential, saveExamples } from '../../host/examples';
import { clusterSteps, startCluster, type Cluster } from '../../host/queue/cluster';
import { Steps } from '../../host/steps';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox';

/** What the tests of a file share: an n8n in queue mode with the examples in it. */
export interface ClusterUnderTest extends Cluster {
	/** The example of this file name. */
	example(file: string): SavedWorkflow;
	/** Starts a sandbox for the rest of the test, and has the credential of the examples lead to it. */
	useSandbox(options?: SandboxOptions): Promise<Sandbox>;
}

/**
 * Starts an n8n in queue mode before the tests of a file, and stops it after them.
 * @param name of the folder for what it keeps
 * @returns what gives it, once it is there
 */
export function useCluster(
	name: string,
	options: { workers: number; env?: NodeJS.ProcessEnv },
): () => ClusterUnderTest {
	let shared: ClusterUnderTest;
	let sandbox: Sandbox | undefined;
	const root = join(__dirname, '../..');

	beforeAll(async () => {
		const dataFolder = join(root, 'host', '.data', name);
		const cluster = await startCluster({ dataFolder, steps: new Steps(clusterSteps), ...options });
		// The examples refer to their credential by its name when they are brought in; where it leads to is
		// each test's affair.
		await saveCredential(cluster.api, { url: 'http://127.0.0.1', userName: '', password: '' });
		const examples = await saveExamples(cluster.api, join(root, 'examples'));
		shared = {
			...cluster,
			example: (file) => {
				const found = examples.get(file);
				if (found === undefined) throw new Error(`There is no examples/${file}`);
				return found;
			},
			useSandbox: async (sandboxOptions) => {
				sandbox = await startSandbox(sandboxOptions);
				await saveCredential(cluster.api, sandbox);
				return sandbox;
			},
		};
	}, 15 * 60_000);
	afterEach(async () => {
		await sandbox?.close();
		sandbox = undefined;
	});
	afterAll(async () => {
		await shared?.stop();
	});
	return () => shared;
}
