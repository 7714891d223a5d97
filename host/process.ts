import { spawn } from 'node:child_process';
import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { killTree, ownGroup } from './command';
import { Problem, Stopped } from './problem';
import { waitFor } from './wait';

/** How a program is started that runs until it is stopped. */
export interface ProcessOptions {
	/** The name of the program in messages, such as `n8n`. */
	name: string;
	command: string;
	args: readonly string[];
	/** The working directory. */
	cwd: string;
	/** The environment variables. By default, those of this process. */
	env?: NodeJS.ProcessEnv;
	/** The file for the program's output. It is overwritten. */
	logFile: string;
	/** Whether to connect the program to this process by Node's IPC channel (see leash.cjs). */
	leash?: boolean;
	/** The signal that asks the program to end. By default, SIGTERM. */
	stopSignal?: NodeJS.Signals;
	/** Returns whether the program is ready. Called repeatedly until it returns true. */
	isReady(): Promise<boolean>;
	/** Milliseconds within which the program must be ready. */
	startTimeout: number;
	/** Aborts the start. To end the program after its start, call `stop`. */
	signal?: AbortSignal | undefined;
}

export interface RunningProcess {
	pid: number;
	logFile: string;
	/** Resolves when the program has ended for any reason. */
	ended: Promise<void>;
	/**
	 * Asks the program to end, and waits for at most ten seconds. Then kills the program and all processes that it has
	 * started. May be called more than once.
	 */
	stop(): Promise<void>;
	/** Kills the program and all processes that it has started, as a power failure would. */
	kill(): Promise<void>;
}

/** Milliseconds that a program has to end before it is killed. */
const stopTimeout = 10_000;

/**
 * Starts a program and waits until it is ready.
 *
 * The library execa isn't used, because it only ends the process that it has started. It doesn't end the processes that
 * this process has started, such as n8n's task runners.
 * @throws Problem if the program can't be started, ends, or isn't ready in time
 * @throws Stopped if the signal was aborted
 */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
	const { name, logFile, signal, startTimeout, stopSignal = 'SIGTERM' } = options;
	if (signal?.aborted) throw new Stopped();
	await mkdir(dirname(logFile), { recursive: true });
	const log = await open(logFile, 'w');
	const child = spawn(options.command, options.args, {
		cwd: options.cwd,
		env: options.env ?? process.env,
		// The program writes to the file itself, so that its output isn't lost when this process has ended.
		stdio: ['ignore', log.fd, log.fd, ...(options.leash ? (['ipc'] as const) : [])],
		...ownGroup,
	});
	let failure: Error | undefined;
	let running = true;
	const ended = new Promise<void>((resolve) => {
		child.once('error', (error) => {
			failure = error;
			resolve();
		});
		child.once('exit', () => resolve());
	});
	void ended.then(() => {
		running = false;
	});
	await log.close();

	const kill = async () => {
		killTree(child, 'SIGKILL');
		await ended;
	};
	const stop = async () => {
		if (running) {
			killTree(child, stopSignal);
			await Promise.race([ended, sleep(stopTimeout, undefined, { ref: false })]);
		}
		// The program may have left processes that it has started.
		await kill();
	};

	try {
		const ready = await waitFor(
			async () => {
				if (!running) throw await notStarted(name, logFile, failure);
				return (await options.isReady()) || undefined;
			},
			{ timeout: startTimeout, signal },
		);
		if (!ready) {
			throw new Problem(`${name} did not answer within ${startTimeout / 1000} s.`, logFile);
		}
	} catch (error) {
		await stop();
		throw error;
	}
	return { pid: child.pid ?? 0, logFile, ended, stop, kill };
}

async function notStarted(
	name: string,
	logFile: string,
	failure: Error | undefined,
): Promise<Problem> {
	const log = failure?.message ?? (await readFile(logFile, 'utf8'));
	const portTaken = /port (\d+) is (?:already )?in use|EADDRINUSE/i.exec(log);
	return new Problem(
		portTaken
			? `${name} did not start: another program took port ${portTaken[1] ?? ''} meanwhile. Try again.`
			: `${name} ended before it was up. The last it wrote:\n${lastLines(log)}`,
		logFile,
	);
}

/** Returns the last six lines of a log. Omits the lines of stack traces, which don't help users. */
function lastLines(text: string): string {
	const lines = text.split('\n').filter((line) => line.trim() !== '' && !/^\s+at /.test(line));
	return lines.slice(-6).join('\n');
}
