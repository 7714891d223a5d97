import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { readJson } from './files';
import { succeeds } from './process';

/** The Node.js that n8n runs on. */
export interface Runtime {
	/** The path of the executable. */
	node: string;
	/** The folder whose `include/node` contains the header files; undefined for the Node.js of this process. */
	headers?: string;
}

/**
 * Returns the Node.js that was installed with n8n, so that n8n runs on the same version on each machine. The optional
 * dependencies are npm packages that contain Node.js for one platform each. Returns the Node.js of this process if none
 * of them runs on this machine, as with musl or on an unusual processor. If it is too old, n8n says so when it starts.
 */
export async function findRuntime(hostFolder: string): Promise<Runtime> {
	const manifest = join(hostFolder, 'package.json');
	const { optionalDependencies } = await readJson<{ optionalDependencies: object }>(manifest);
	for (const name of Object.keys(optionalDependencies)) {
		const folder = join(hostFolder, 'node_modules', name);
		const node = join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
		if (existsSync(node) && (await succeeds(node, ['--version']))) return { node, headers: folder };
	}
	return { node: process.execPath };
}
