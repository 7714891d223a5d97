import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { Problem } from '../problem';

/** The IDs of a user of this system. */
export interface SystemUser {
	uid: number;
	gid: number;
}

/**
 * Wraps a command so that the kernel ends it when this process has ended for any reason. `setpriv` is part of every
 * Debian.
 * @param user the user that runs the command; by default, the current user
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
 * Returns the user that must run PostgreSQL, or undefined if the current user can run it. PostgreSQL refuses to run as
 * root, so its Debian package creates the user `postgres`.
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
 * Returns the folder with the programs of the newest installed PostgreSQL. On Debian, this folder isn't in the PATH.
 * @throws Problem if PostgreSQL isn't installed
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
