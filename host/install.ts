import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { runCommand, runNpm, type CommandOptions } from './command';
import { Problem, Stopped } from './problem';
import { findRuntime } from './runtime';
import type { Steps } from './steps';

/** How and where an n8n is installed. */
export interface InstallOptions {
	/** A folder with a package.json that pins n8n or its engine, its lock file and its .npmrc. */
	hostFolder: string;
	logFile: string;
	signal?: AbortSignal | undefined;
}

/** What says of what lock file an installation is. Lies within, so that it goes when that goes. */
const stampName = '.installed-from';

/** Which n8n the host's package pins; undefined if it pins n8n's engine alone. */
export async function pinnedVersion(hostFolder: string): Promise<string | undefined> {
	return (await dependenciesIn(hostFolder))['n8n'];
}

async function dependenciesIn(hostFolder: string): Promise<Partial<Record<string, string>>> {
	type Manifest = { dependencies: Record<string, string> };
	return (await readJson<Manifest>(join(hostFolder, 'package.json'))).dependencies;
}

/**
 * Installs n8n, or its engine alone, as the lock file has it unless it lies there so, which is one step either way.
 * @throws Problem when that fails
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

/** Whether what lies in the host's folder was installed from the lock file that lies there now. */
async function isInstalled(hostFolder: string): Promise<boolean> {
	const stamp = join(hostFolder, 'node_modules', stampName);
	return existsSync(stamp) && (await readFile(stamp, 'utf8')) === (await fingerprint(hostFolder));
}

/** Installs what the folder pins, and gets n8n's database going. */
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

/** Gets n8n's SQLite driver its binary: its own install script downloads one or, where it can't, compiles it. */
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

async function fingerprint(hostFolder: string): Promise<string> {
	const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
	for (const name of ['package.json', 'package-lock.json', '.npmrc']) {
		hash.update(await readFile(join(hostFolder, name)));
	}
	return hash.digest('hex');
}

/** Reads a JSON file of this project, whose shape is known. */
export async function readJson<T>(path: string): Promise<T> {
	return JSON.parse(await readFile(path, 'utf8')) as T;
}

/** An empty folder at this path, whatever was there. */
export async function emptyFolder(path: string): Promise<string> {
	await rm(path, { recursive: true, force: true });
	await mkdir(path, { recursive: true });
	return path;
}
