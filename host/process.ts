import { spawn } from 'node:child_process';
import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { killTree, ownGroup } from './command';
import { Problem, Stopped } from './problem';
import { waitFor } from './wait';

/** A program that is to run until it is told to end. */
export interface ProcessOptions {
	/** What a person calls it, such as `n8n`. */
	name: string;
	command: string;
	args: readonly string[];
	/** The folder that it runs in. */
	cwd: string;
	/** Its environment; by default that of this process. */
	env?: NodeJS.ProcessEnv;
	/** What it writes goes there, and replaces what was there. */
	logFile: string;
	/** Whether it is connected to this process by Node's IPC channel (see leash.cjs). */
	leash?: boolean;
	/** What asks it to end; SIGTERM unless told otherwise. */
	stopSignal?: NodeJS.Signals;
	/** Whether it does its work by now. Asked again and again until it does. */
	isReady(): Promise<boolean>;
	/** How long it may take until it does, in milliseconds. */
	startTimeout: number;
	/** Ends it while it starts. Once it has started, `stop` does. */
	signal?: AbortSignal | undefined;
}

export interface RunningProcess {
	pid: number;
	logFile: string;
	/** Resolves when it has ended, asked to or not. */
	ended: Promise<void>;
	/** Ends it and everything that it started. May be called twice. */
	stop(): Promise<void>;
	/** Ends it and everything that it started at once, as if the machine had lost its power. */
	kill(): Promise<void>;
}

/** How long it may take to end before it is ended the hard way. */
const stopTimeout = 10_000;

/**
 * Starts a program and waits until it does its work.
 * The library execa doesn't serve here: it ends the process that it started, and not what that has started, such as the task
 * runners of n8n.
 * @throws Problem when it doesn't
 * @throws Stopped when the signal says so
 */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
	const { name, logFile, signal, startTimeout, stopSignal = 'SIGTERM' } = options;
	if (signal?.aborted) throw new Stopped();
	await mkdir(dirname(logFile), { recursive: true });
	const log = await open(logFile, 'w');
	const child = spawn(options.command, options.args, {
		cwd: options.cwd,
		env: options.env ?? process.env,
		// It writes to its log even after this process is gone.
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
		// What it started itself and left behind.
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

/** Without the lines of a stack, which say nothing to a person. */
function lastLines(text: string): string {
	const lines = text.split('\n').filter((line) => line.trim() !== '' && !/^\s+at /.test(line));
	return lines.slice(-6).join('\n');
}
