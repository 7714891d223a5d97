import { execFile } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { freePort, loopback } from '../ports';
import { Problem } from '../problem';
import { runCommand, startServer, succeeds, type RunningProcess } from '../process';

/** A running Redis or PostgreSQL, and the environment variables with which n8n finds it. */
export interface Database extends RunningProcess {
	env: NodeJS.ProcessEnv;
}

/**
 * Wraps a command so that the kernel ends it when this process has ended for any reason. `setpriv` is part of every
 * Debian.
 * @param user the user that runs the command; by default, the current user
 */
function endsWithItsStarter(command: string, args: readonly string[], user?: string) {
	const as = user === undefined ? [] : [`--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
	return { command: 'setpriv', args: ['--pdeathsig=INT', ...as, '--', command, ...args] };
}

/**
 * Starts Debian's Redis on loopback. Redis saves nothing to disk.
 * @throws Problem if Redis isn't installed or doesn't start
 */
export async function startRedis(folder: string): Promise<Database> {
	await mkdir(folder, { recursive: true });
	const port = String(await freePort());
	const settings = { bind: loopback, port, dir: folder, save: '' };
	const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
	const running = await startServer({
		name: 'Redis',
		...endsWithItsStarter('redis-server', args),
		cwd: folder,
		logFile: join(folder, 'redis.log'),
		isReady: async () => await succeeds('redis-cli', ['-p', port, 'ping']),
		startTimeoutMs: 20_000,
	});
	return { ...running, env: { QUEUE_BULL_REDIS_HOST: loopback, QUEUE_BULL_REDIS_PORT: port } };
}

/**
 * Starts Debian's PostgreSQL with an empty database. It listens only on a socket in a temporary folder that no other
 * user can open, so it needs no password. As root, it runs as the user `postgres`, because PostgreSQL refuses to run as
 * root.
 * @throws Problem if PostgreSQL isn't installed or doesn't start
 */
export async function startPostgres(): Promise<Database> {
	const programs = postgresPrograms();
	const user = process.getuid?.() === 0 ? 'postgres' : undefined;
	const folder = await mkdtemp(join(tmpdir(), 'n8n-postgres-'));
	process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
	if (user !== undefined) await promisify(execFile)('chown', [user, folder]);

	const data = join(folder, 'data');
	const initdb = ['-D', data, '-U', 'n8n', '--auth=trust', '--encoding=UTF8', '--locale=C', '-N'];
	await runCommand({
		...endsWithItsStarter(join(programs, 'initdb'), initdb, user),
		cwd: folder,
		logFile: join(folder, 'initdb.log'),
	});
	const running = await startServer({
		name: 'PostgreSQL',
		...endsWithItsStarter(join(programs, 'postgres'), ['-D', data, '-h', '', '-k', folder], user),
		cwd: folder,
		logFile: join(folder, 'postgres.log'),
		// PostgreSQL then closes the connections of its clients instead of waiting for the clients.
		stopSignal: 'SIGINT',
		isReady: async () => await succeeds(join(programs, 'pg_isready'), ['-h', folder]),
		startTimeoutMs: 30_000,
	});
	const env = {
		DB_TYPE: 'postgresdb',
		DB_POSTGRESDB_HOST: folder,
		DB_POSTGRESDB_DATABASE: 'postgres',
		DB_POSTGRESDB_USER: 'n8n',
	};
	return { ...running, env };
}

/**
 * Returns the folder with the programs of the newest installed PostgreSQL. On Debian, this folder isn't in the PATH.
 * @throws Problem if PostgreSQL isn't installed
 */
function postgresPrograms(): string {
	const versions = '/usr/lib/postgresql';
	const newest = (existsSync(versions) ? readdirSync(versions) : [])
		.sort((one, other) => Number(other) - Number(one))
		.map((version) => join(versions, version, 'bin'))
		.find((folder) => existsSync(join(folder, 'postgres')));
	if (newest !== undefined) return newest;
	throw new Problem(
		'Queue mode needs PostgreSQL and Redis: apt-get install postgresql redis-server.',
	);
}
