import { join } from 'node:path';
import { pool, type Pool } from 'workerpool';

import type { Case, ContenderName } from './case';
import type { perform, Sample } from './client';
import type { open } from './service';

/** The project's folder, which is the working directory of all processes. */
export const ROOT = join(__dirname, '..');

const LONGEST_MS = 180_000;

/** A case, and the samples of each contender. */
export interface Measured {
	of: Case;
	samples: Partial<Record<ContenderName, Sample[]>>;
}

/**
 * Measures a case. In each round, each contender is measured once.
 * @param node the path of the Node.js that runs the contenders and the services
 * @throws Error if a contender fails
 */
export async function measureCase(of: Case, node: string): Promise<Measured> {
	const samples: Measured['samples'] = {};
	for (let round = 1; round <= of.rounds; round += 1) {
		for (const contender of of.contenders) {
			(samples[contender] ??= []).push(await sample(of, contender, node));
		}
	}
	return { of, samples };
}

/** Measures a contender once, in a new process and with a new service. */
async function sample({ task, service }: Case, contender: ContenderName, node: string) {
	return await withProcess('service.ts', node, async (server) => {
		const targets = await server.exec<typeof open>('open', [service]).timeout(LONGEST_MS);
		return await withProcess('client.ts', node, async (client) => {
			const request = { contender, task, ...targets };
			return await client.exec<typeof perform>('perform', [request]).timeout(LONGEST_MS);
		});
	});
}

/** Runs a file of this folder in a new process, and returns what `use` returns. Then ends the process. */
async function withProcess<Result>(
	file: string,
	execPath: string,
	use: (child: Pool) => Promise<Result>,
): Promise<Result> {
	const child = pool(join(__dirname, file), {
		workerType: 'process',
		maxWorkers: 1,
		forkOpts: {
			cwd: ROOT,
			execPath,
			execArgv: ['--import', 'tsx'],
			env: { ...process.env, N8N_LOG_LEVEL: 'silent', NODE_ENV: 'production' },
		},
	});
	try {
		return await use(child);
	} finally {
		await child.terminate(true);
	}
}
