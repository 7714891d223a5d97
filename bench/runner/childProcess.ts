import { join } from 'node:path';
import { pool, type Pool } from 'workerpool';

/** The project's folder, which is the working directory of all processes. */
export const ROOT = join(__dirname, '../..');

/**
 * Runs a file in a new process, calls `use` with this process, and then ends the process.
 * @param file the path of the file in bench/
 * @param execPath the path of Node.js
 * @returns the result of `use`
 */
export async function withProcess<Result>(
	file: string,
	execPath: string,
	use: (child: Pool) => Promise<Result>,
): Promise<Result> {
	const child = pool(join(ROOT, 'bench', file), {
		workerType: 'process',
		maxWorkers: 1,
		forkOpts: {
			cwd: ROOT,
			execPath,
			execArgv: ['--import', 'tsx', '--expose-gc'],
			env: { ...process.env, N8N_LOG_LEVEL: 'silent', NODE_ENV: 'production' },
		},
	});
	try {
		return await use(child);
	} finally {
		await child.terminate(true);
	}
}
