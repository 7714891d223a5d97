import { join } from 'node:path';

import { emptyFolder } from './files';
import { lockFolder } from './folderLock';
import { installIfNeeded } from './install';
import { startN8n, type N8nFolders, type N8nOptions, type RunningN8n } from './n8n';
import { buildAndPack, installNode } from './nodePackage';
import { ownerOf, setUpOwner, type Owner } from './owner';
import { step } from './step';

/** The folders of an n8n with the node. */
export interface HostFolders {
	/** The folder that n8n is installed in (see `installIfNeeded`). By default, this folder. */
	hostFolder?: string;
	/** The folder for n8n's data and the logs. */
	dataFolder: string;
}

/** A running n8n that has the node. */
export interface Host {
	n8n: RunningN8n;
	owner: Owner;
}

/** Returns the folders of n8n itself. */
export function n8nFolders({ hostFolder = __dirname, dataFolder }: HostFolders): N8nFolders {
	return { hostFolder, userFolder: join(dataFolder, 'n8n') };
}

/**
 * Builds and packs the node, installs n8n if it isn't installed, and installs the packed node into n8n.
 * @returns whether n8n has no owner yet
 * @throws Problem if a step fails, or if another process uses the data folder
 */
export async function prepareHost(host: HostFolders): Promise<boolean> {
	const { dataFolder } = host;
	const folders = n8nFolders(host);
	const { userFolder } = folders;
	const logFile = join(dataFolder, 'install.log');
	await lockFolder(dataFolder);
	const packed = await step('Building and packing the node', async () => {
		return await buildAndPack(logFile);
	});
	await installIfNeeded(folders.hostFolder);
	const isNew = (await ownerOf(userFolder)) === undefined;
	// An earlier first start was stopped before its end.
	if (isNew) await emptyFolder(userFolder);
	await step('Installing the packed node into n8n', async () => {
		await installNode(userFolder, packed, logFile);
	});
	return isNew;
}

/**
 * Starts an n8n that is prepared.
 * @throws Problem if n8n doesn't start
 */
export async function startHost(
	host: HostFolders,
	options: Omit<N8nOptions, 'logFile'> = {},
): Promise<Host> {
	const folders = n8nFolders(host);
	const logFile = join(host.dataFolder, 'n8n.log');
	return await step('Starting n8n', async () => {
		const n8n = await startN8n(folders, { logFile, ...options });
		const known = await ownerOf(folders.userFolder);
		return { n8n, owner: known ?? (await setUpOwner(n8n.url, folders.userFolder)) };
	});
}
