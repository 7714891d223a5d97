import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { emptyFolder, readJson, writeJson } from './files';
import { lockFolder } from './folderLock';
import { Problem } from './problem';
import { runNpm } from './process';
import { waitFor } from './wait';

const projectFolder = join(__dirname, '..');

/** How long to wait for another build. On an idle machine, a build takes 15 seconds. */
const LONGEST_BUILD_MS = 300_000;

/** The files and folders that the packed node is built from. */
const sources = [
	...['nodes', 'credentials', 'contract', 'gulpfile.js'],
	...['tsconfig.json', 'tsconfig.build.json', 'package.json', 'package-lock.json'],
	...['README.md', 'LICENSE.md'],
];

/**
 * Builds the node and packs it as for npm, unless these sources have already been packed.
 * @returns the path of the packed node, a .tgz file
 * @throws Problem if the build fails, or if another build takes too long
 */
export async function buildAndPack(logFile: string): Promise<string> {
	const packages = join(__dirname, '.data', 'packed');
	// Test files that start at the same time use the same folder. The first one builds, and the others use its result.
	const unlock = await waitFor(async () => await lockFolder(packages).catch(() => undefined), {
		timeout: LONGEST_BUILD_MS,
	});
	if (unlock === undefined) throw new Problem(`Another build takes too long: ${packages}.pid.`);
	try {
		return await packInto(packages, logFile);
	} finally {
		unlock();
	}
}

async function packInto(packages: string, logFile: string): Promise<string> {
	const packed = join(packages, `${await fingerprint()}.tgz`);
	if (existsSync(packed)) return packed;
	const command = { cwd: projectFolder, logFile };
	await runNpm(['run', 'build'], command);
	const folder = await emptyFolder(`${packed}-${process.pid}`);
	await runNpm(['pack', '--loglevel=error', '--pack-destination', folder], command);
	const [name] = await readdir(folder);
	if (name === undefined) throw new Problem('npm packed no node.', logFile);
	await rename(join(folder, name), packed);
	await rm(folder, { recursive: true });
	return packed;
}

/** Returns a hash of the paths and contents of the sources. */
async function fingerprint(): Promise<string> {
	const hash = createHash('sha256');
	const add = async (path: string): Promise<void> => {
		const full = join(projectFolder, path);
		hash.update(`${path}\n`);
		if ((await stat(full)).isDirectory()) {
			for (const name of (await readdir(full)).sort()) await add(join(path, name));
		} else hash.update(await readFile(full));
	};
	for (const path of sources) await add(path);
	return hash.digest('hex').slice(0, 16);
}

/**
 * Installs a packed node as the README describes: into the folder `.n8n/nodes` of the user folder, without the node's
 * peer dependencies, which n8n provides. n8n loads the packages in this folder when it starts.
 */
export async function installNode(
	userFolder: string,
	packed: string,
	logFile: string,
): Promise<void> {
	const cwd = await emptyFolder(join(userFolder, '.n8n', 'nodes'));
	// Without this file, npm would install into a parent folder that has one.
	await writeJson(join(cwd, 'package.json'), { name: 'installed-nodes', private: true });
	await runNpm(
		['install', '--omit=peer', '--legacy-peer-deps', '--no-audit', '--no-fund', packed],
		{ cwd, logFile },
	);
}

/**
 * Compiles the node's sources into the installed package now and whenever they change, and prints the compiler's
 * output. If N8N_DEV_RELOAD is set, n8n reloads the compiled files. Debuggers find the sources by the source maps.
 */
export async function watchSources(userFolder: string): Promise<void> {
	const { name } = await readJson<{ name: string }>(join(projectFolder, 'package.json'));
	const outDir = join(userFolder, '.n8n', 'nodes', 'node_modules', name, 'dist');
	const flags = ['--watch', '--preserveWatchOutput', '--sourceMap', '--outDir', outDir];
	const args = [require.resolve('typescript/bin/tsc'), '-p', 'tsconfig.build.json', ...flags];
	const compiler = spawn(process.execPath, args, { cwd: projectFolder, stdio: 'inherit' });
	process.once('exit', () => compiler.kill());
}
