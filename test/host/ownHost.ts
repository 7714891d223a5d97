import { saveCredential } from '../../host/examples';
import { hostSteps, startHost, type Host } from '../../host/host';
import { emptyFolder } from '../../host/install';
import { Steps } from '../../host/steps';
import { startSandbox, type SandboxOptions } from '../../sandbox';
import { dataFolderOf, hostFolder } from './setUp';

/** How long something may take that a test of such an n8n waits for. */
export const LONGEST_MS = 300_000;

/** An n8n that no other file uses, with a sandbox of its own that the credential leads to. */
export interface OwnHost extends Host {
	/**
	 * The address that the credential has. It isn't written as the host's own sandbox, so that it is a service elsewhere,
	 * as a user may have set it: each start gives the credential the address of the host's own.
	 */
	credentialUrl: string;
	/** Stops n8n, or kills it, and starts it again on its port. */
	restart(how?: { kill?: boolean; meanwhile?: () => Promise<void> }): Promise<void>;
}

/** Gives the tests of a file an n8n that they may end. It is there while tests run. */
export function useOwnHost(name: string, options?: SandboxOptions): OwnHost {
	jest.setTimeout(LONGEST_MS);
	const dataFolder = dataFolderOf(name);
	const start = async (port: number) => {
		const steps = new Steps(hostSteps);
		const { sandbox: _, ...started } = await startHost({ hostFolder, dataFolder, port, steps });
		Object.assign(host, started);
	};
	const restart: OwnHost['restart'] = async ({ kill = false, meanwhile } = {}) => {
		const { port } = host.n8n;
		if (kill) await host.n8n.kill();
		await host.stop();
		await meanwhile?.();
		await start(port);
	};
	const host = { restart } as OwnHost;
	beforeAll(async () => {
		await emptyFolder(dataFolder);
		await start(0);
		const sandbox = await startSandbox(options);
		const credentialUrl = sandbox.url.replace('127.0.0.1', 'localhost');
		await saveCredential(host.api, { ...sandbox, url: credentialUrl });
		Object.assign(host, { sandbox, credentialUrl });
	});
	afterAll(async () => {
		await host.stop();
		await host.sandbox.close();
	});
	return host;
}
