import { join } from 'node:path';

import { startSandbox, type Sandbox } from '../sandbox';
import { N8nApi, type Owner, type SavedWorkflow } from './api';
import { saveCredential, saveExamples } from './examples';
import { lockFolder } from './folderLock';
import { installIfNeeded } from './install';
import { startN8n, type RunningN8n } from './n8n';
import { buildAndPack, installNode, watchSources } from './nodePackage';
import { Refused } from './n8nClient';
import { ownerOf } from './owner';
import { freePort } from './ports';
import type { Steps } from './steps';
import { Stops } from './stops';

/** Where n8n listens unless told otherwise, as it does elsewhere. */
export const defaultPort = 5678;

/** Where the sandbox listens if it can: the same at every start, so that credentials stay right. */
const sandboxPort = 8765;

/** Where a debugger finds n8n while sources are watched, if it can: .vscode/launch.json looks there. */
const defaultDebugPort = 9229;

export interface HostOptions {
	/** The folder of the n8n that is started (see `InstallOptions`); the host's own unless told otherwise. */
	hostFolder?: string;
	/** What n8n keeps goes there, and the logs. */
	dataFolder: string;
	/** The port of n8n's editor, or another if that is taken; 0 for any, and any for the sandbox. */
	port?: number;
	/** Whether to compile the node's sources whenever they change, have n8n load them, and let a debugger in. */
	watch?: boolean;
	steps: Steps;
	/** Ends the start. */
	signal?: AbortSignal | undefined;
}

/** An n8n with the node, a sandbox and the examples. */
export interface Host {
	n8n: RunningN8n;
	api: N8nApi;
	owner: Owner;
	sandbox: Sandbox;
	/** Where n8n listens for a debugger; undefined unless sources are watched. */
	debugPort: number | undefined;
	/** Why the credential and the examples could not be brought in, where a user's changes prevent it. */
	notBroughtIn: string | undefined;
	/** The examples as n8n holds them, by the name of their file. */
	examples: Map<string, SavedWorkflow>;
	/** Stops everything. May be called twice. */
	stop(): Promise<void>;
}

/** How many steps `startHost` announces. */
export const hostSteps = 6;

const projectFolder = join(__dirname, '..');

/**
 * Builds the node, installs n8n if need be and the packed node into it, and starts it with a sandbox.
 * @throws Problem when something of that fails; nothing is left running then
 */
export async function startHost({
	hostFolder = __dirname,
	dataFolder,
	port = defaultPort,
	watch = false,
	steps,
	signal,
}: HostOptions): Promise<Host> {
	const userFolder = join(dataFolder, 'n8n');
	const buildLog = { logFile: join(dataFolder, 'install.log'), signal };
	const stops = new Stops();
	const stop = async () => await stops.stopAll();

	try {
		stops.add(await lockFolder(dataFolder, 'An n8n with this data'));
		const packed = await steps.run('Building and packing the node', async () => {
			return await buildAndPack(buildLog);
		});

		await installIfNeeded({ hostFolder, ...buildLog }, steps);
		await steps.run('Installing the packed node into it', async () => {
			await installNode(userFolder, packed, buildLog);
		});

		const sandbox = await steps.run('Starting the sandbox', async () => {
			return await startSandbox({ port: await freePort(port === 0 ? undefined : sandboxPort) });
		});
		stops.add(async () => await sandbox.close());

		const debugPort = watch ? await freePort(defaultDebugPort) : undefined;
		const n8n = await steps.run('Starting n8n', async () => {
			const logFile = join(dataFolder, 'n8n.log');
			const env = watch ? { N8N_DEV_RELOAD: 'true' } : {};
			return await startN8n({ hostFolder, userFolder, port, debugPort, logFile, env, signal });
		});
		stops.add(async () => await n8n.stop());
		if (watch) stops.add(watchSources(userFolder));

		return await steps.run('Bringing in the credential and the examples', async () => {
			const owner = await ownerOf(userFolder);
			const parts = { n8n, owner, sandbox, debugPort, stop };
			const api = new N8nApi(n8n.url);
			let examples = new Map<string, SavedWorkflow>();
			let notBroughtIn: string | undefined;
			try {
				await api.logIn(owner);
				await saveCredential(api, sandbox);
				examples = await saveExamples(api, join(projectFolder, 'examples'));
			} catch (error) {
				if (api.isNew || !(error instanceof Refused)) throw error;
				notBroughtIn = error.message;
			}
			return { ...parts, api, examples, notBroughtIn };
		});
	} catch (error) {
		await stop();
		throw error;
	}
}
