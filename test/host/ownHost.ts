import { saveCredential } from '../../host/examples';
import { hostSteps, startHost, type Host } from '../../host/host';
import { emptyFolder } from '../../host/install';
import { Steps } from '../../host/steps';
import { startSandbox, type SandboxOptions } from '../../sandbox';
import { dataFolderOf, hostFolder } from './setUp';

/** How long a test with its own n8n waits for something, in milliseconds. */
export const LONGEST_MS = 300_000;

/** An n8n that no other file uses, and a sandbox to which its credential leads. */
export interface OwnHost extends Host {
	/**
	 * The address in the credential. It differs from that of the host's own sandbox, as if the user had entered another
	 * service: otherwise, each start would replace it by the address of the host's own sandbox.
	 */
	credentialUrl: string;
	/** Stops or kills n8n, and starts it again on the same port. */
	restart(how?: { kill?: boolean; meanwhile?: () => Promise<void> }): Promise<void>;
}

/** Gives the tests of a file an n8n that they may stop. It is available while tests run. */
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
