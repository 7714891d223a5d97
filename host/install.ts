import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { runCommand, runNpm, type CommandOptions } from './command';
import { Problem, Stopped } from './problem';
import { findRuntime } from './runtime';
import type { Steps } from './steps';

/** Where an n8n is installed. */
export interface InstallOptions {
	/** A folder with a package.json that pins n8n or only its engine, a lock file and a .npmrc. */
	hostFolder: string;
	logFile: string;
	signal?: AbortSignal | undefined;
}

/**
 * The file with the fingerprint that `node_modules` was installed from. It lies in `node_modules`, so that it is
 * deleted with it.
 */
const stampName = '.installed-from';

/** Returns the version of n8n that the folder pins; undefined if the folder only pins n8n's engine. */
export async function pinnedVersion(hostFolder: string): Promise<string | undefined> {
	return (await dependenciesIn(hostFolder))['n8n'];
}

async function dependenciesIn(hostFolder: string): Promise<Partial<Record<string, string>>> {
	type Manifest = { dependencies: Record<string, string> };
	return (await readJson<Manifest>(join(hostFolder, 'package.json'))).dependencies;
}

/**
 * Installs n8n or only its engine from the lock file, unless this installation exists. Shows one step in either case.
 * @throws Problem if the installation fails
 * @throws Stopped if the signal was aborted
 */
export async function installIfNeeded(options: InstallOptions, steps: Steps): Promise<void> {
	const { n8n, 'n8n-core': engine } = await dependenciesIn(options.hostFolder);
	const name = n8n === undefined ? `n8n-core ${engine}` : `n8n ${n8n}`;
	if (await isInstalled(options.hostFolder)) {
		steps.alreadyDone(`${name} is installed`);
	} else {
		const takes = n8n === undefined ? '425 MB, about 40 seconds' : '2.2 GB, about 3 minutes';
		await steps.run(`Installing ${name} (${takes})`, async () => await install(options));
	}
}

/** Returns whether the folder's `node_modules` was installed from its present files. */
async function isInstalled(hostFolder: string): Promise<boolean> {
	const stamp = join(hostFolder, 'node_modules', stampName);
	return existsSync(stamp) && (await readFile(stamp, 'utf8')) === (await fingerprint(hostFolder));
}

/** Installs the packages that the folder pins and, for n8n, the binary of its SQLite driver. */
async function install(options: InstallOptions): Promise<void> {
	const { hostFolder } = options;
	await installPackages(options);
	if ((await pinnedVersion(hostFolder)) !== undefined) await prepareSqlite(options);
	await writeFile(join(hostFolder, 'node_modules', stampName), await fingerprint(hostFolder));
}

async function installPackages({ hostFolder, ...options }: InstallOptions): Promise<void> {
	try {
		const args = ['ci', '--loglevel=error', '--no-audit', '--no-fund'];
		await runNpm(args, { cwd: hostFolder, ...options });
	} catch (error) {
		if (error instanceof Stopped) throw error;
		const advice = 'Is the npm registry within reach, and is 3 GB of disk free?';
		throw new Problem(`n8n could not be installed. ${advice}`, options.logFile);
	}
}

/** Runs the install script of n8n's SQLite driver, which downloads the binary or, if that fails, compiles it. */
async function prepareSqlite({ hostFolder, ...options }: InstallOptions): Promise<void> {
	const { node, headers } = await findRuntime(hostFolder);
	const command: CommandOptions = { cwd: hostFolder, ...options };
	try {
		await runNpm(['rebuild', 'sqlite3', '--ignore-scripts=false', '--loglevel=error'], {
			...command,
			...(headers && { env: { npm_config_nodedir: headers } }),
		});
		await runCommand(node, ['-e', loadSqlite3], command);
	} catch (error) {
		if (error instanceof Stopped) throw error;
		throw new Problem(
			"n8n's SQLite driver could be neither downloaded nor compiled. To compile it, this machine needs " +
				'Python 3, make and a C++ compiler (Debian: apt-get install python3 build-essential).',
			options.logFile,
		);
	}
}

const loadSqlite3 = 'new (require("sqlite3").Database)(":memory:", (e) => { if (e) throw e; })';

/** Returns a hash of the platform and of the files that determine the installation. */
async function fingerprint(hostFolder: string): Promise<string> {
	const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
	for (const name of ['package.json', 'package-lock.json', '.npmrc']) {
		hash.update(await readFile(join(hostFolder, name)));
	}
	return hash.digest('hex');
}

/** Returns the content of a JSON file of this project. Doesn't check that it has the type `T`. */
export async function readJson<T>(path: string): Promise<T> {
	return JSON.parse(await readFile(path, 'utf8')) as T;
}

/** Deletes the file or folder at this path, creates an empty folder there, and returns the path. */
export async function emptyFolder(path: string): Promise<string> {
	await rm(path, { recursive: true, force: true });
	await mkdir(path, { recursive: true });
	return path;
}
