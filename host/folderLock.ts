import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Problem } from './problem';

/**
 * Locks a folder for this process.
 *
 * The library proper-lockfile isn't used for two reasons: it detects an abandoned lock only by its age, so a start
 * would have to wait if the previous process was killed; and it doesn't know the process, which the error message
 * names.
 * @param what the subject of the error message, such as `An n8n with this data`
 * @returns a function that unlocks the folder
 * @throws Problem if another running process has locked the folder
 */
export async function lockFolder(folder: string, what: string): Promise<() => Promise<void>> {
	const path = join(folder, 'in-use-by.pid');
	await mkdir(folder, { recursive: true });
	const holder = async () => Number(await readFile(path, 'utf8').catch(() => ''));
	const last = await holder();
	if (last === process.pid || !isAlive(last)) await rm(path, { force: true });
	// If two processes try at the same time, only one of them can create the link.
	const own = `${path}.${process.pid}`;
	await writeFile(own, String(process.pid));
	try {
		await link(own, path);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
		const other = await holder();
		throw new Problem(
			`${what} is running already, as process ${other}: stop that one first, with Ctrl-C. ` +
				`(If that process is something else, delete ${path}.)`,
		);
	} finally {
		await rm(own, { force: true });
	}
	return async () => await rm(path, { force: true });
}

function isAlive(pid: number): boolean {
	if (!(pid > 0)) return false;
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return error instanceof Error && 'code' in error && error.code === 'EPERM';
	}
}
