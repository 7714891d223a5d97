import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

/** The project's folder, in which all processes run. */
export const ROOT = join(__dirname, '../..');

/** Starts a file of this folder in a process of its own. */
export function startProcess(file: string, node: string): ChildProcess {
	return fork(join(__dirname, file), [], {
		cwd: ROOT,
		execPath: node,
		execArgv: [...(file.endsWith('.ts') ? ['--import', 'tsx'] : []), '--expose-gc'],
		env: { ...process.env, N8N_LOG_LEVEL: 'silent', NODE_ENV: 'production' },
		stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
	});
}

/** Sends a process a message and waits for the next one that it sends. */
export async function ask<Answer>(
	child: ChildProcess,
	message: object,
	mostSeconds: number,
): Promise<Answer> {
	return await new Promise<Answer>((resolve, reject) => {
		const timer = setTimeout(() => {
			child.kill('SIGKILL');
			end(() => reject(new Error(`took more than ${mostSeconds} s`)));
		}, mostSeconds * 1000);
		const onAnswer = (answer: unknown) => end(() => resolve(answer as Answer));
		const onExit = (code: number | null) =>
			end(() => reject(new Error(`ended without an answer (${code ?? 'killed'})`)));
		const end = (settle: () => void) => {
			clearTimeout(timer);
			child.off('message', onAnswer);
			child.off('exit', onExit);
			settle();
		};
		child.on('message', onAnswer);
		child.on('exit', onExit);
		child.send(message);
	});
}
