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

/** The default port of n8n's editor, which is also n8n's own default. */
export const defaultPort = 5678;

/** The sandbox's port, unless it is taken. It is the same at each start, so that credentials stay correct. */
const sandboxPort = 8765;

/** The port for debuggers, unless it is taken. .vscode/launch.json refers to it. */
const defaultDebugPort = 9229;

export interface HostOptions {
	/** The folder that n8n is installed in (see `InstallOptions`). By default, this folder. */
	hostFolder?: string;
	/** The folder for n8n's data and the logs. */
	dataFolder: string;
	/**
	 * The port of n8n's editor. If it is taken, another port is used. With 0, the system chooses the port, and the
	 * sandbox gets a random port.
	 */
	port?: number;
	/** Whether n8n loads the node's sources whenever they change, and accepts debuggers. */
	watch?: boolean;
	steps: Steps;
	/** Aborts the start. */
	signal?: AbortSignal | undefined;
}

/** A running n8n that has the node, a credential for a running sandbox, and the examples. */
export interface Host {
	n8n: RunningN8n;
	api: N8nApi;
	owner: Owner;
	sandbox: Sandbox;
	/** The port on which n8n accepts debuggers; undefined without `watch`. */
	debugPort: number | undefined;
	/**
	 * n8n's error message if n8n has refused the login or to save the credential and the examples, for example because
	 * the user has changed the owner's password.
	 */
	notBroughtIn: string | undefined;
	/** The examples in n8n, by the names of their files. */
	examples: Map<string, SavedWorkflow>;
	/** Stops n8n and the sandbox. May be called more than once. */
	stop(): Promise<void>;
}

/** The number of steps that `startHost` shows. */
export const hostSteps = 6;

const projectFolder = join(__dirname, '..');

/**
 * Builds and packs the node, installs n8n if it isn't installed, installs the packed node into n8n, starts a sandbox
 * and n8n, and creates the credential and the examples in n8n.
 * @throws Problem if a step fails. All processes are then stopped.
 * @throws Stopped if the signal was aborted
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
