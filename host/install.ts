import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { readJson } from './files';
import { Problem } from './problem';
import { runCommand, runNpm } from './process';
import { findRuntime } from './runtime';
import { step } from './step';

/** Returns the dependencies of the package.json in a folder: for each package, its version. */
async function dependenciesIn(folder: string): Promise<Partial<Record<string, string>>> {
	type Manifest = { dependencies: Record<string, string> };
	return (await readJson<Manifest>(join(folder, 'package.json'))).dependencies;
}

/** Returns the version of n8n that the folder pins; undefined if the folder only pins n8n's engine. */
export async function pinnedVersion(hostFolder: string): Promise<string | undefined> {
	return (await dependenciesIn(hostFolder))['n8n'];
}

/**
 * Installs n8n or only its engine from the lock file, unless this installation exists.
 * @param hostFolder a folder with a package.json that pins n8n or only its engine, a lock file and a .npmrc
 * @throws Problem if the installation fails
 */
export async function installIfNeeded(hostFolder: string): Promise<void> {
	// The stamp lies in node_modules, so that it is deleted with it.
	const packages = join(hostFolder, 'node_modules');
	const stamp = join(packages, '.installed-from');
	const lockFile = await readFile(join(hostFolder, 'package-lock.json'), 'utf8');
	const wanted = `${process.platform} ${process.arch}\n${lockFile}`;
	const found = await readFile(stamp, 'utf8').catch(() => undefined);
	if (found === wanted) return;
	const { n8n, 'n8n-core': engine } = await dependenciesIn(hostFolder);
	const [what, cost] =
		n8n === undefined
			? [`n8n-core ${engine}`, '425 MB, about 40 seconds']
			: [`n8n ${n8n}`, '2.2 GB, about 4 minutes'];
	const again = existsSync(packages) ? ` again, because ${whyAgain(found, wanted)}` : '';
	await step(`Installing ${what}${again} (${cost})`, async () => {
		const logFile = join(hostFolder, '.data', 'install.log');
		await installPackages(hostFolder, logFile);
		if (n8n !== undefined) await prepareSqlite(hostFolder, logFile);
		await writeFile(stamp, wanted);
	});
}

/**
 * Returns why an existing installation can't be used.
 * @param found its stamp: the platform and the architecture in the first line, then the lock file; undefined if it has none
 */
export function whyAgain(found: string | undefined, wanted: string): string {
	if (found === undefined) return "the last installation didn't finish";
	const [[oldTarget, oldLock], [target, lock]] = [partsOf(found), partsOf(wanted)];
	const reasons = [
		...(oldTarget === target ? [] : [`it was installed for ${oldTarget}, and this is ${target}`]),
		...(oldLock === lock ? [] : ['its package-lock.json has changed']),
	];
	return reasons.join('; ');
}

function partsOf(stamp: string): [target: string, lockFile: string] {
	const end = stamp.indexOf('\n');
	return [stamp.slice(0, end), stamp.slice(end + 1)];
}

async function installPackages(cwd: string, logFile: string): Promise<void> {
	const args = ['ci', '--loglevel=error', '--no-audit', '--no-fund'];
	await runNpm(args, { cwd, logFile }).catch(() => {
		const advice = 'Is the npm registry within reach, and is 3 GB of disk free?';
		throw new Problem(`n8n could not be installed. ${advice}`, logFile);
	});
}

const loadSqlite3 = 'new (require("sqlite3").Database)(":memory:", (e) => { if (e) throw e; })';

/** Runs the install script of n8n's SQLite driver, which downloads the binary or, if that fails, compiles it. */
async function prepareSqlite(cwd: string, logFile: string): Promise<void> {
	const { node, headers } = await findRuntime(cwd);
	try {
		await runNpm(['rebuild', 'sqlite3', '--ignore-scripts=false', '--loglevel=error'], {
			...{ cwd, logFile },
			// The compiler uses all processors, which takes a fifth less time.
			env: { ...process.env, JOBS: 'max', ...(headers && { npm_config_nodedir: headers }) },
		});
		await runCommand({ command: node, args: ['-e', loadSqlite3], cwd, logFile });
	} catch {
		throw new Problem(
			"n8n's SQLite driver could be neither downloaded nor compiled. To compile it, this machine needs " +
				'Python 3, make and a C++ compiler (Debian: apt-get install python3 build-essential).',
			logFile,
		);
	}
}
