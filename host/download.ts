import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { installIfNeeded } from './install';
import { Steps } from './steps';

/*
 * Installs what the tests need beside this project: the host's n8n, and the engine of each older release. .ci/run has
 * that done beside its first steps.
 */
async function main(): Promise<void> {
	const versions = join(__dirname, 'versions');
	const folders = [__dirname, ...(await readdir(versions)).map((name) => join(versions, name))];
	const steps = new Steps(folders.length);
	for (const hostFolder of folders) {
		await installIfNeeded({ hostFolder, logFile: join(hostFolder, '.data', 'install.log') }, steps);
	}
}

void main();
