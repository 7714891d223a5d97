import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

import { Problem, Stopped } from './problem';

export interface CommandOptions {
	/** The working directory of the command. */
	cwd: string;
	/** The file that the command's output is appended to. */
	logFile: string;
	/** Additional environment variables. The command also gets those of this process. */
	env?: NodeJS.ProcessEnv;
	/** Ends the command and all processes that it has started. */
	signal?: AbortSignal | undefined;
}

/**
 * Runs a command and waits until it ends.
 * @throws Problem if the command can't be started, or, with the log file, if its exit status isn't 0
 * @throws Stopped if the signal was aborted
 */
export async function runCommand(
	command: string,
	args: readonly string[],
	{ cwd, logFile, env, signal }: CommandOptions,
): Promise<void> {
	if (signal?.aborted) throw new Stopped();
	await mkdir(dirname(logFile), { recursive: true });
	const log = await open(logFile, 'a');
	const child = spawn(command, args, {
		cwd,
		env: { ...process.env, ...env },
		stdio: ['ignore', log.fd, log.fd],
		...ownGroup,
	});
	const stop = () => killTree(child, 'SIGTERM');
	signal?.addEventListener('abort', stop, { once: true });
	try {
		const code = await new Promise<number | null>((resolve, reject) => {
			child.once('error', ({ message }) =>
				reject(new Problem(`\`${command}\` can't be started: ${message}. Is it installed?`)),
			);
			child.once('exit', resolve);
		});
		if (signal?.aborted) throw new Stopped();
		if (code !== 0) {
			throw new Problem(`\`${[command, ...args].join(' ')}\` failed in ${cwd}.`, logFile);
		}
	} finally {
		signal?.removeEventListener('abort', stop);
		await log.close();
	}
}

/** Runs a program, and returns whether its exit status is 0. Returns false if the program can't be started. */
export async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
	return await promisify(execFile)(command, args).then(
		() => true,
		() => false,
	);
}

/** Runs npm. If npm has started this process, runs the same npm. */
export async function runNpm(args: readonly string[], options: CommandOptions): Promise<void> {
	const npmScript = process.env['npm_execpath'];
	if (npmScript?.endsWith('.js')) await runCommand(process.execPath, [npmScript, ...args], options);
	else await runCommand(process.platform === 'win32' ? 'npm.cmd' : 'npm', args, options);
}

/**
 * Options for `spawn` that put the child into a process group of its own. `killTree` can then signal all processes that
 * the child has started. Ctrl-C in the terminal doesn't reach the group, so this process decides when the child ends.
 */
export const ownGroup = { detached: process.platform !== 'win32' } as const;

/** Sends a signal to a child that was started with `ownGroup`, and to all processes that the child has started. */
export function killTree(child: ChildProcess, signal: NodeJS.Signals): void {
	if (child.pid === undefined) return;
	try {
		if (ownGroup.detached) process.kill(-child.pid, signal);
		else child.kill(signal);
	} catch (error) {
		// The child has already ended.
		if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
	}
}
