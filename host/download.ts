import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { installIfNeeded } from './install';

/* Only installs the host's n8n, and the engines of the other releases that are tested. */
async function main(): Promise<void> {
	await installIfNeeded(__dirname);
	const versions = join(__dirname, 'versions');
	for (const release of readdirSync(versions)) await installIfNeeded(join(versions, release));
}

void main();
