import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The project's folder, in which all processes run. */
export const ROOT = join(__dirname, '../..');

/** Starts a file of bench/ in a new process. */
export function startProcess(file: string, node: string): ChildProcess {
	return fork(join(ROOT, 'bench', file), [], {
		cwd: ROOT,
		execPath: node,
		execArgv: ['--import', 'tsx', '--expose-gc'],
		env: { ...process.env, N8N_LOG_LEVEL: 'silent', NODE_ENV: 'production' },
		stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
	});
}

/**
 * Sends a message to a process, and waits for its answer.
 * @throws Error if the process ends first, or takes too long and is killed
 */
export async function ask<Answer>(
	child: ChildProcess,
	message: object,
	longestSeconds: number,
): Promise<Answer> {
	const timer = setTimeout(() => child.kill('SIGKILL'), longestSeconds * 1_000);
	const exit = once(child, 'exit').then(([code]: unknown[]) => {
		throw new Error(
			`ended without an answer (${code ?? `killed, after ${longestSeconds} s at most`})`,
		);
	});
	child.send(message);
	try {
		const [answer] = (await Promise.race([once(child, 'message'), exit])) as [Answer];
		return answer;
	} finally {
		clearTimeout(timer);
	}
}
