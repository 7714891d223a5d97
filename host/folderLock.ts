import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Problem } from './problem';

/**
 * Takes a folder for this process alone.
 * The library proper-lockfile doesn't serve here: it tells a lock that was left behind by its age alone, so that a start would
 * have to wait after a kill, and it doesn't know the process that the message has to name.
 * @returns what gives it free again
 * @throws Problem when another process that still runs has it
 */
export async function lockFolder(folder: string, what: string): Promise<() => Promise<void>> {
	const path = join(folder, 'in-use-by.pid');
	await mkdir(folder, { recursive: true });
	const holder = async () => Number(await readFile(path, 'utf8').catch(() => ''));
	const last = await holder();
	if (last === process.pid || !isAlive(last)) await rm(path, { force: true });
	// Of two that come at once, one makes the link.
	const own = `${path}.${process.pid}`;
	await writeFile(own, String(process.pid));
	try {
		await link(own, path);
	} catch {
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
