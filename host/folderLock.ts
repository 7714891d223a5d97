import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Problem } from './problem';

/**
 * Takes a folder for this process alone.
 * @returns what gives it free again
 * @throws Problem when another process that still runs has it
 */
export async function lockFolder(folder: string, what: string): Promise<() => Promise<void>> {
	const path = join(folder, 'in-use-by.pid');
	await mkdir(folder, { recursive: true });
	const holder = Number(await readFile(path, 'utf8').catch(() => ''));
	if (holder > 0 && holder !== process.pid && isAlive(holder)) {
		throw new Problem(
			`${what} is running already, as process ${holder}: stop that one first, with Ctrl-C. ` +
				`(If that process is something else, delete ${path}.)`,
		);
	}
	await writeFile(path, String(process.pid));
	return async () => await rm(path, { force: true });
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return error instanceof Error && 'code' in error && error.code === 'EPERM';
	}
}
