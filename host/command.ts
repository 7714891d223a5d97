import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

import { Problem, Stopped } from './problem';

export interface CommandOptions {
	/** The folder it runs in. */
	cwd: string;
	/** Where all that it writes goes; added to what is there. */
	logFile: string;
	/** On top of this process's environment. */
	env?: NodeJS.ProcessEnv;
	/** Ends it, and all that it has started. */
	signal?: AbortSignal | undefined;
}

/**
 * Runs a command to its end.
 * @throws Problem when it can't be started or fails, naming the log
 * @throws Stopped when the signal ended it
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
			child.once('error', reject);
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

/** Whether a program that is soon done succeeds. */
export async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
	return await promisify(execFile)(command, args).then(
		() => true,
		() => false,
	);
}

/** Runs npm: the one that runs this process, where there is one. */
export async function runNpm(args: readonly string[], options: CommandOptions): Promise<void> {
	const npmScript = process.env['npm_execpath'];
	if (npmScript?.endsWith('.js')) await runCommand(process.execPath, [npmScript, ...args], options);
	else await runCommand(process.platform === 'win32' ? 'npm.cmd' : 'npm', args, options);
}

/**
 * For `spawn`: gives the child its own process group, by which `killTree` reaches what the child
 * starts, and which Ctrl-C in the terminal doesn't reach: this process says when its children end.
 */
export const ownGroup = { detached: process.platform !== 'win32' } as const;

/** Sends a signal to a child started with `ownGroup`, and to everything that it has started. */
export function killTree(child: ChildProcess, signal: NodeJS.Signals): void {
	if (child.pid === undefined) return;
	try {
		if (ownGroup.detached) process.kill(-child.pid, signal);
		else child.kill(signal);
	} catch (error) {
		// It has ended already.
		if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
	}
}
