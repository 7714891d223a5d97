import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { Problem } from '../problem';

/** A user of this system, by its numbers. */
export interface SystemUser {
	uid: number;
	gid: number;
}

/**
 * For a process that this one starts: has the kernel end it when this process is gone, however that came
 * about. `setpriv` is part of every Debian.
 * @param user as whom it runs, when that is not the present user
 */
export function endsWithItsStarter(
	command: string,
	args: readonly string[],
	user?: SystemUser,
): { command: string; args: string[] } {
	const as = user && [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
	return {
		command: 'setpriv',
		args: ['--pdeathsig=INT', ...(as ?? []), '--', command, ...args],
	};
}

/**
 * As whom PostgreSQL has to run: it refuses to be run by root, so the package brings a user along.
 * @returns undefined where the present user will do
 */
export async function postgresUser(): Promise<SystemUser | undefined> {
	if (process.getuid?.() !== 0) return undefined;
	const number = async (flag: string) => {
		const { stdout } = await promisify(execFile)('id', [flag, 'postgres']);
		return Number(stdout);
	};
	return { uid: await number('-u'), gid: await number('-g') };
}

/**
 * Where PostgreSQL's programs are, of the newest version that is installed: Debian keeps them off the PATH.
 * @throws Problem when there are none
 */
export function postgresPrograms(): string {
	const versions = '/usr/lib/postgresql';
	const newest = (existsSync(versions) ? readdirSync(versions) : [])
		.sort((one, other) => Number(other) - Number(one))
		.map((version) => join(versions, version, 'bin'))
		.find((folder) => existsSync(join(folder, 'postgres')));
	if (newest === undefined) {
		throw new Problem(
			'Queue mode needs PostgreSQL and Redis: apt-get install postgresql redis-server.',
		);
	}
	return newest;
}
