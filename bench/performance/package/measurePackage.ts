import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { ask, ROOT, startProcess } from '../childProcess';
import type { PackageFigures } from '../figures';

/** What loading the package once cost. */
export interface Loaded {
	/** Milliseconds. */
	time: number;
	/** Bytes of heap. */
	memory: number;
}

/** Seconds that loading it once may take. */
const MOST_SECONDS = 30;

/** Measures what the package costs before it does anything: to load, and on the disk. */
export async function measurePackage(node: string, times: number): Promise<PackageFigures> {
	const { n8n } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
		n8n: { nodes: string[]; credentials: string[] };
	};
	const files = [...n8n.nodes, ...n8n.credentials];
	const loads: Loaded[] = [];
	for (let time = 0; time < times; time += 1) {
		const child = startProcess('package/loadProcess.cjs', node);
		loads.push(await ask<Loaded>(child, { files }, MOST_SECONDS));
	}
	return {
		loadTimes: loads.map(({ time }) => time),
		loadMemory: loads.map(({ memory }) => memory),
		...(await sizeOnDisk()),
	};
}

/** What npm would publish. */
async function sizeOnDisk(): Promise<Pick<PackageFigures, 'unpackedSize' | 'files'>> {
	const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json'], {
		cwd: ROOT,
		shell: process.platform === 'win32',
		timeout: 1000 * MOST_SECONDS,
	});
	const [packed] = JSON.parse(stdout) as Array<{ unpackedSize: number; entryCount: number }>;
	if (packed === undefined) throw new Error('npm pack told nothing');
	return { unpackedSize: packed.unpackedSize, files: packed.entryCount };
}
