import { rmSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import { Problem } from './problem';

/**
 * Locks a folder until it is unlocked or this process ends.
 *
 * The library proper-lockfile isn't used for two reasons: it detects an abandoned lock only by its age, so a start
 * would have to wait if the previous process was killed; and it doesn't know the process, which the error message
 * names.
 * @returns a function that unlocks the folder
 * @throws Problem if another running process has locked the folder
 */
export async function lockFolder(folder: string): Promise<() => void> {
	const path = `${folder}.pid`;
	await mkdir(dirname(path), { recursive: true });
	const holder = Number(await readFile(path, 'utf8').catch(() => ''));
	if (holder === process.pid || !isAlive(holder)) await rm(path, { force: true });
	try {
		await writeFile(path, String(process.pid), { flag: 'wx' });
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
		throw new Problem(
			`An n8n with the data in ${folder} is running already, as process ${holder}: stop that one first, with ` +
				`Ctrl-C. (If that process is something else, delete ${path}.)`,
		);
	}
	const unlock = () => rmSync(path, { force: true });
	process.once('exit', unlock);
	return () => {
		process.off('exit', unlock);
		unlock();
	};
}

function isAlive(pid: number): boolean {
	if (!(pid > 0)) return false;
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === 'EPERM';
	}
}
