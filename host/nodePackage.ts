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

/** A build takes a quarter of a minute where the machine is idle. */
const LONGEST_BUILD_MS = 300_000;

/** What the packed node is made from. */
const sources = [
	...['nodes', 'credentials', 'contract', 'gulpfile.js'],
	...['tsconfig.json', 'tsconfig.build.json', 'package.json', 'package-lock.json'],
	...['README.md', 'LICENSE.md'],
];

/**
 * Builds the node and packs it, as it would be published, unless it has been packed from these sources before.
 * @returns the packed node, a .tgz
 */
export async function buildAndPack(options: Omit<CommandOptions, 'cwd' | 'env'>): Promise<string> {
	const folder = join(__dirname, '.data', 'packed');
	// Test files that start at once share the build, whose folder is one.
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

/** Tells the state of the sources from any other. */
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
 * Installs a packed node as n8n does it when a user installs one: in `.n8n/nodes` of the user folder,
 * a package of its own (n8n's modules/community-packages/community-packages.service.js), without the
 * node's peers, which n8n itself provides. n8n loads what lies there when it starts.
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
 * Compiles the node's sources into the installed package, now and whenever they change, and shows what the
 * compiler says. An n8n with N8N_DEV_RELOAD loads what it finds there; a debugger finds the sources by their maps.
 * @returns what ends it
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
