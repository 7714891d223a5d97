import { join } from 'node:path';
import { pool, type Pool } from 'workerpool';

/** The project's folder, in which all processes run. */
export const ROOT = join(__dirname, '../..');

/** Starts a file of bench/ in a new process until it is no longer used. */
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
