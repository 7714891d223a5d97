import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { succeeds } from '../command';
import { freePort, loopback } from '../ports';
import { startProcess, type RunningProcess } from '../process';
import { endsWithItsStarter } from './debian';

/** A Redis that answers, with nothing in it. */
export interface Redis extends RunningProcess {
	port: number;
}

/**
 * Starts Debian's Redis on loopback. It keeps nothing on disk.
 * @throws Problem when it isn't there or doesn't start
 */
export async function startRedis(folder: string, signal?: AbortSignal): Promise<Redis> {
	await mkdir(folder, { recursive: true });
	const port = await freePort();
	const settings = { bind: loopback, port: String(port), dir: folder, save: '' };
	const running = await startProcess({
		name: 'Redis',
		...endsWithItsStarter(
			'redis-server',
			Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
		),
		cwd: folder,
		logFile: join(folder, 'redis.log'),
		isReady: async () => await succeeds('redis-cli', ['-p', String(port), 'ping']),
		startTimeout: 20_000,
		signal,
	});
	return Object.assign(running, { port });
}
