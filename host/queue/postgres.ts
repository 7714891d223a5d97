import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runCommand, succeeds } from '../command';
import { emptyFolder } from '../install';
import { freePort, loopback } from '../ports';
import { startProcess, type RunningProcess } from '../process';
import { endsWithItsStarter, postgresPrograms, postgresUser } from './debian';

/** A PostgreSQL that answers, with nothing in it. */
export interface Postgres extends RunningProcess {
	port: number;
	user: string;
	password: string;
	database: string;
}

/**
 * Makes an empty database in this folder and starts Debian's PostgreSQL on it, on loopback.
 *
 * For root it is a folder in the system's temporary one: PostgreSQL then has its own user, which may not
 * be let into the project's.
 * @throws Problem when it isn't there, or doesn't start
 */
export async function startPostgres(ownFolder: string, signal?: AbortSignal): Promise<Postgres> {
	const programs = postgresPrograms();
	const systemUser = await postgresUser();
	const folder = systemUser ? await mkdtemp(join(tmpdir(), 'n8n-postgres-')) : ownFolder;
	await emptyFolder(folder);
	const data = join(folder, 'data');
	const passwordFile = join(folder, 'password');
	const password = randomBytes(18).toString('base64url');
	await writeFile(passwordFile, password, { mode: 0o600 });
	if (systemUser) {
		for (const path of [folder, passwordFile]) await chown(path, systemUser.uid, systemUser.gid);
	}

	const user = 'n8n';
	const initdb = endsWithItsStarter(
		join(programs, 'initdb'),
		[
			...['--pgdata', data, '--username', user, '--pwfile', passwordFile],
			...['--auth', 'scram-sha-256', '--encoding', 'UTF8', '--locale', 'C', '--no-sync'],
		],
		systemUser,
	);
	const logFile = join(folder, 'initdb.log');
	await runCommand(initdb.command, initdb.args, { cwd: folder, logFile, signal });
	await rm(passwordFile);

	const port = await freePort();
	const running = await startProcess({
		name: 'PostgreSQL',
		...endsWithItsStarter(
			join(programs, 'postgres'),
			['-D', data, '-h', loopback, '-p', String(port), '-k', folder],
			systemUser,
		),
		cwd: folder,
		logFile: join(folder, 'postgres.log'),
		// Ends it without waiting for those who are connected.
		stopSignal: 'SIGINT',
		isReady: async () =>
			await succeeds(join(programs, 'pg_isready'), ['-h', loopback, '-p', String(port)]),
		startTimeout: 30_000,
		signal,
	});
	const { stop } = running;
	return Object.assign(running, {
		port,
		user,
		password,
		database: 'postgres',
		stop: async () => {
			await stop();
			if (folder !== ownFolder) await rm(folder, { recursive: true, force: true });
		},
	});
}
