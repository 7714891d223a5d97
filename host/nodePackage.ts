import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { killTree, ownGroup, runNpm, type CommandOptions } from './command';
import { lockFolder } from './folderLock';
import { emptyFolder } from './install';
import { Problem } from './problem';
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
export async function buildAndPack(options: Omit<CommandOptions, 'cwd' | 'env'>): Promise<string> {
	const folder = join(__dirname, '.data', 'packed');
	// Test files that start at the same time use the same folder. The first one builds, and the others use its result.
	const free = await waitFor(
		async () => await lockFolder(folder, 'A build of the node').catch(() => undefined),
		{ timeout: LONGEST_BUILD_MS, signal: options.signal },
	);
	if (free === undefined) throw new Problem(`Another build of the node takes too long: ${folder}.`);
	try {
		return await packInto(folder, { cwd: projectFolder, ...options });
	} finally {
		await free();
	}
}

async function packInto(folder: string, command: CommandOptions): Promise<string> {
	const packed = join(folder, `${await fingerprint()}.tgz`);
	if (existsSync(packed)) return packed;
	await runNpm(['run', 'build'], command);
	const packFolder = await emptyFolder(`${packed}-${process.pid}`);
	await runNpm(['pack', '--loglevel=error', '--pack-destination', packFolder], command);
	const [name] = await readdir(packFolder);
	if (name === undefined) throw new Problem('npm packed no node.', command.logFile);
	await rename(join(packFolder, name), packed);
	await rm(packFolder, { recursive: true });
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
 * Installs a packed node in the same way as n8n installs a community node (see n8n's
 * modules/community-packages/community-packages.service.js): into the folder `.n8n/nodes` of the user folder, which is
 * a package of its own, and without the node's peer dependencies, which n8n provides. n8n loads this package when it
 * starts.
 */
export async function installNode(
	userFolder: string,
	packed: string,
	options: Omit<CommandOptions, 'cwd' | 'env'>,
): Promise<void> {
	const nodesFolder = join(userFolder, '.n8n', 'nodes');
	await emptyFolder(join(nodesFolder, 'node_modules'));
	if (!existsSync(join(nodesFolder, 'package.json'))) {
		const manifest = { name: 'installed-nodes', private: true, dependencies: {} };
		await writeFile(join(nodesFolder, 'package.json'), JSON.stringify(manifest));
	}
	const flags =
		'--no-save --omit=dev --omit=peer --legacy-peer-deps --ignore-scripts --no-package-lock ' +
		'--no-audit --no-fund --loglevel=error';
	await runNpm(['install', packed, ...flags.split(' ')], { cwd: nodesFolder, ...options });
}

/**
 * Compiles the node's sources into the installed package now and whenever they change, and prints the compiler's
 * output. If N8N_DEV_RELOAD is set, n8n reloads the compiled files. Debuggers find the sources by the source maps.
 * @returns a function that ends the compiler
 */
export function watchSources(userFolder: string): () => Promise<void> {
	const { name } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8')) as {
		name: string;
	};
	const outDir = join(userFolder, '.n8n', 'nodes', 'node_modules', name, 'dist');
	const flags = ['--watch', '--preserveWatchOutput', '--sourceMap', '--outDir', outDir];
	const compiler = spawn(process.execPath, [require.resolve('typescript/bin/tsc'), ...flags], {
		cwd: projectFolder,
		stdio: ['ignore', 'inherit', 'inherit'],
		...ownGroup,
	});
	return async () => {
		killTree(compiler, 'SIGTERM');
		await Promise.resolve();
	};
}
