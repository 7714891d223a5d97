import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';

import { freePort, loopback } from '../ports';
import { Problem } from '../problem';
import { startProcess } from '../process';
import { endsWithItsStarter } from './debian';
import { startRestartable, type Restartable } from './restartable';

/** A Redis that answers, with nothing in it. */
export interface Redis extends Restartable {
	port: number;
	/** From now on it writes down every change at once (its append-only file), and has it when it is started again. */
	keepOnDisk(): Promise<void>;
	/** From now on it keeps nothing on disk, as when it was started first. */
	forget(): Promise<void>;
}

/**
 * Starts Debian's Redis on loopback. It keeps nothing on disk unless told to.
 * @throws Problem when it isn't there or doesn't start
 */
export async function startRedis(folder: string, signal?: AbortSignal): Promise<Redis> {
	await mkdir(folder, { recursive: true });
	const port = await freePort();
	let appendonly = 'no';
	const running = await startRestartable(async () => {
		const settings = {
			bind: loopback,
			port: String(port),
			dir: folder,
			save: '',
			appendonly,
			appendfsync: 'always',
		};
		return await startProcess({
			name: 'Redis',
			...endsWithItsStarter('redis-server', [
				...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
			]),
			cwd: folder,
			logFile: join(folder, 'redis.log'),
			isReady: async () => (await ask(port, 'PING')).startsWith('+PONG'),
			startTimeout: 20_000,
			signal,
		});
	});
	const setAppendOnly = async (value: 'yes' | 'no') => {
		appendonly = value;
		const answer = await ask(port, `CONFIG SET appendonly ${value}`);
		if (!answer.startsWith('+OK')) throw new Problem(`Redis refused: ${answer}`, running.logFile);
	};
	return Object.assign(running, {
		port,
		keepOnDisk: async () => await setAppendOnly('yes'),
		forget: async () => await setAppendOnly('no'),
	});
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
