import { randomBytes } from 'node:crypto';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runCommand, succeeds } from '../command';
import { emptyFolder } from '../install';
import { freePort, loopback } from '../ports';
import { startProcess, type RunningProcess } from '../process';
import { endsWithItsStarter, postgresPrograms, postgresUser } from './debian';

/** A running PostgreSQL whose database is empty. */
export interface Postgres extends RunningProcess {
	port: number;
	user: string;
	password: string;
	database: string;
}

/**
 * Creates an empty database in a folder, and starts Debian's PostgreSQL on loopback.
 * @param ownFolder the folder. If the current user is root, a temporary folder is used instead: PostgreSQL then runs as
 * another user, who may not have access to the project's folder.
 * @throws Problem if PostgreSQL isn't installed or doesn't start
 * @throws Stopped if the signal was aborted
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
		// PostgreSQL then closes the connections of its clients instead of waiting for the clients.
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
