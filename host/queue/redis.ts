import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';

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
		isReady: async () => (await ask(port, 'PING')).startsWith('+PONG'),
		startTimeout: 20_000,
		signal,
	});
	return Object.assign(running, { port });
}

/** Sends Redis one command and returns what it answers, or an empty text if nothing listens there. */
async function ask(port: number, command: string): Promise<string> {
	return await new Promise((resolve) => {
		const socket = connect(port, loopback, () => socket.write(`${command}\r\n`));
		socket.once('data', (answer) => {
			socket.destroy();
			resolve(answer.toString());
		});
		socket.once('error', () => resolve(''));
	});
}
