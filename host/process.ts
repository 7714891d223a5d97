import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { Problem } from './problem';
import { waitFor } from './wait';

/** How a program is started. */
export interface Command {
	command: string;
	args: readonly string[];
	/** The working directory. */
	cwd: string;
	/** All environment variables of the program. By default, those of this process. */
	env?: NodeJS.ProcessEnv;
	/** The file for the program's output. It is overwritten. */
	logFile: string;
	/** The signal that asks the program to end. By default, SIGTERM. */
	stopSignal?: NodeJS.Signals;
}

/** How a program is started that runs until it is stopped. */
export interface ServerCommand extends Command {
	/** The name of the program in messages, such as `n8n`. */
	name: string;
	/** Returns whether the program is ready. Called repeatedly until it returns true. */
	isReady(): Promise<boolean>;
	/** Milliseconds within which the program must be ready. */
	startTimeoutMs: number;
}

export interface RunningProcess {
	pid: number;
	logFile: string;
	/** Resolves with the exit status when the program has ended for any reason. A signal's is null. */
	ended: Promise<number | null>;
	/**
	 * Asks the program to end, and waits for at most ten seconds. Then kills the program and all processes that it has
	 * started. May be called more than once.
	 */
	stop(): Promise<void>;
	/** Kills the program and all processes that it has started, as a power failure would. */
	kill(): Promise<void>;
}

/** Milliseconds that a program has to end before it is killed. */
const STOP_TIMEOUT_MS = 10_000;

const isWindows = process.platform === 'win32';

/** All programs that this process has started and not stopped, in this order. */
const running = new Set<RunningProcess>();

/** Stops all programs that this process has started, the latest first. */
export async function stopAll(): Promise<void> {
	for (const each of [...running].reverse()) await each.stop();
}

/**
 * Starts a program in a process group of its own: Ctrl-C in the terminal doesn't reach it, and a signal to the group
 * also reaches all processes that the program has started, such as n8n's task runners. The library execa isn't used,
 * because it only ends the program itself.
 * @throws Problem if the program can't be started
 */
async function launch(options: Command): Promise<RunningProcess> {
	const { command, args, cwd, env = process.env, logFile, stopSignal = 'SIGTERM' } = options;
	await mkdir(dirname(logFile), { recursive: true });
	const log = await open(logFile, 'w');
	// The program writes to the file itself, so that its output isn't lost when this process has ended.
	const stdio: Array<'ignore' | 'ipc' | number> = ['ignore', log.fd, log.fd, 'ipc'];
	const child = spawn(command, args, { cwd, env, stdio, detached: !isWindows });
	const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
	try {
		await once(child, 'spawn');
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error);
		throw new Problem(`\`${command}\` can't be started: ${reason}. Is it installed?`);
	} finally {
		await log.close();
	}

	const { pid = 0 } = child;
	const signalGroup = (signal: NodeJS.Signals) => {
		try {
			process.kill(isWindows ? pid : -pid, signal);
		} catch (error) {
			// No process of the group is left.
			if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
		}
	};
	const kill = async () => {
		signalGroup('SIGKILL');
		await ended;
		running.delete(started);
	};
	const stop = async () => {
		signalGroup(stopSignal);
		await Promise.race([ended, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
		// The program may have left processes that it has started.
		await kill();
	};
	const started: RunningProcess = { pid, logFile, ended, stop, kill };
	running.add(started);
	return started;
}

/**
 * Runs a command and waits until it ends.
 * @throws Problem if the command can't be started, or, with the log file, if its exit status isn't 0
 */
export async function runCommand(options: Command): Promise<void> {
	const { command, args, cwd, logFile } = options;
	const started = await launch(options);
	const status = await started.ended;
	await started.kill();
	if (status === 0) return;
	throw new Problem(`\`${[command, ...args].join(' ')}\` failed in ${cwd}.`, logFile);
}

/** Runs npm. If npm has started this process, runs the same npm. */
export async function runNpm(
	args: readonly string[],
	options: Omit<Command, 'command' | 'args'>,
): Promise<void> {
	const script = process.env['npm_execpath'];
	const npm = script?.endsWith('.js')
		? [process.execPath, script]
		: [isWindows ? 'npm.cmd' : 'npm'];
	const [command = 'npm', ...first] = npm;
	await runCommand({ ...options, command, args: [...first, ...args] });
}

/** Runs a program, and returns whether its exit status is 0. Returns false if the program can't be started. */
export async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
	return await promisify(execFile)(command, args).then(
		() => true,
		() => false,
	);
}

/**
 * Starts a program and waits until it is ready.
 * @throws Problem if the program can't be started, ends, or isn't ready in time
 */
export async function startServer(options: ServerCommand): Promise<RunningProcess> {
	const { name, logFile, startTimeoutMs } = options;
	const started = await launch(options);
	let hasEnded = false;
	void started.ended.then(() => (hasEnded = true));
	const state = await waitFor(
		async () => (hasEnded ? 'ended' : (await options.isReady()) ? 'ready' : undefined),
		{ timeout: startTimeoutMs },
	);
	if (state === 'ready') return started;
	await started.stop();
	if (state === 'ended') throw notStarted(name, await readFile(logFile, 'utf8'), logFile);
	throw new Problem(`${name} did not answer within ${startTimeoutMs / 1000} s.`, logFile);
}

function notStarted(name: string, log: string, logFile: string): Problem {
	const portTaken = /port (\d+) is (?:already )?in use|EADDRINUSE/i.exec(log);
	// Lines of stack traces don't help users.
	const lines = log.split('\n').filter((line) => line.trim() !== '' && !/^\s+at /.test(line));
	return new Problem(
		portTaken
			? `${name} did not start: another program took port ${portTaken[1] ?? ''} meanwhile. Try again.`
			: `${name} ended before it was up. The last it wrote:\n${lines.slice(-6).join('\n')}`,
		logFile,
	);
}
