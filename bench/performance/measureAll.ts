import { execFile } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { installIfNeeded, pinnedVersion } from '../../host/install';
import { findRuntime } from '../../host/runtime';
import { Steps } from '../../host/steps';
import { ROOT } from './childProcess';
import type { Figures, Measured } from './figures';
import { measurePackage } from './package/measurePackage';
import type { Case, Plan } from './plan';
import { profileShares } from './profile/shares';
import { Runner } from './runner';

const HOST = join(ROOT, 'host');

/** A run that was broken off: what it had measured, and where what is measured from now on is kept. */
export interface Progress {
	measured: Measured[];
	keep: (measured: Measured[]) => Promise<void>;
}

/** Measures all that a plan holds, one after the other, and says what it is at. */
export async function measureAll(
	{ cases, loads, profiled }: Plan,
	progress: Progress,
): Promise<Figures> {
	const steps = new Steps(cases.length + 3 + (profiled === undefined ? 0 : 1));
	await steps.run('Building the package', build);
	// The HTTP Request node, and the Node.js that n8n runs on, are those of the n8n that `npm start` runs.
	await installIfNeeded({ hostFolder: HOST, logFile: join(HOST, '.data', 'bench.log') }, steps);
	const { node } = await findRuntime(HOST);
	const runner = new Runner(node);
	try {
		const measured: Measured[] = [];
		for (const of of cases) {
			const before = progress.measured.find((one) => isSame(one.of, of));
			if (before === undefined) {
				measured.push(await steps.run(titleOf(of), async (say) => await runner.run(of, say)));
				await progress.keep(measured);
			} else {
				steps.alreadyDone(`${titleOf(of)}: done before`);
				measured.push(before);
			}
		}
		return {
			date: new Date().toISOString().slice(0, 10),
			machine: `${cpus().length} × ${cpus()[0]?.model ?? '?'}, ${Math.round(totalmem() / 1e9)} GB`,
			node: (await promisify(execFile)(node, ['--version'])).stdout.trim(),
			n8n: await pinnedVersion(HOST),
			measured,
			...(profiled !== undefined && {
				shares: await steps.run(
					'Profiling where the time goes',
					async (say) => await profileShares(runner, profiled, say),
				),
			}),
			package: await steps.run(
				'Loading the package',
				async () => await measurePackage(node, loads),
			),
		};
	} finally {
		runner.stop();
	}
}

async function build(): Promise<void> {
	await promisify(execFile)('npm', ['run', '--silent', 'build'], {
		cwd: ROOT,
		shell: process.platform === 'win32',
	});
}

function titleOf({ kind, count, latency, rounds, pageSize, concurrency }: Case): string {
	const what: Record<Case['kind'], string> = {
		create: `Creating ${count} jobs at ${latency} ms`,
		memory: `Memory of creating ${count} jobs`,
		list: `Listing ${count} clusters, ${pageSize} a page`,
		memoryOfList: `Memory of listing ${count} clusters`,
		concurrency: `Creating ${count} jobs at ${latency} ms, ${concurrency} at once`,
	};
	return `${what[kind]}, ${rounds} ${rounds === 1 ? 'round' : 'rounds'}`;
}

function isSame(one: Case, other: Case): boolean {
	return JSON.stringify(one) === JSON.stringify(other);
}
