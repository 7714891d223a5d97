import { N8nApi } from '../../host/api';
import { emptyFolder } from '../../host/files';
import { prepareHost, startHost, type Host } from '../../host/host';
import { stopAll } from '../../host/process';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox';
import { foldersOf } from './setUp';

/** How long a test with its own n8n waits for something, in milliseconds. */
export const LONGEST_MS = 300_000;

/** An n8n that no other file uses, and a sandbox to which its credential leads. */
export interface OwnHost extends Host {
	api: N8nApi;
	sandbox: Sandbox;
	/** Stops or kills n8n, and starts it again on the same port. */
	restart(how?: { kill?: boolean; meanwhile?: () => Promise<void> }): Promise<void>;
}

/** Gives the tests of a file an n8n that they may stop. It is available while tests run. */
export function useOwnHost(name: string, options?: SandboxOptions): OwnHost {
	jest.setTimeout(LONGEST_MS);
	const folders = foldersOf(name);
	const restart: OwnHost['restart'] = async ({ kill = false, meanwhile } = {}) => {
		const { n8n } = host;
		await (kill ? n8n.kill() : n8n.stop());
		await meanwhile?.();
		Object.assign(host, await startHost(folders, { port: n8n.port }));
	};
	const host = { restart } as OwnHost;
	beforeAll(async () => {
		await emptyFolder(folders.dataFolder);
		const sandbox = await startSandbox(options);
		await prepareHost(folders, sandbox);
		const { n8n, owner } = await startHost(folders);
		const api = await N8nApi.open(n8n.url, owner);
		Object.assign(host, { n8n, owner, api, sandbox });
	});
	afterAll(async () => {
		await stopAll();
		await host.sandbox.close();
	});
	return host;
}
