import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { succeeds } from '../command';
import { freePort, loopback } from '../ports';
import { startProcess, type RunningProcess } from '../process';
import { endsWithItsStarter } from './debian';

/** A running Redis that contains no data. */
export interface Redis extends RunningProcess {
	port: number;
}

/**
 * Starts Debian's Redis on loopback. Redis saves nothing to disk.
 * @throws Problem if Redis isn't installed or doesn't start
 * @throws Stopped if the signal was aborted
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
