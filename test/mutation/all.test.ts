import { readdirSync } from 'node:fs';
import { join } from 'node:path';

// Imported here, its hooks hold for all blocks. Otherwise they would hold for the first block that imports it.
import '../support/hurry';

/*
 * The tests that mutants are held against, in one file: Stryker would run each of them by itself. Each has a block of
 * its own, so that its hooks are its own.
 */

/** The folders with the quickest tests come first, so that most mutants die early. */
const folders = ['pace', 'node', 'login', 'reliability'];

const leftOut = [
	// They need an n8n whose environment names a proxy, or what it must not reach.
	'node/n8nProxy',
	'node/n8nBlocks',
];

const files = folders.flatMap((folder) =>
	readdirSync(join(__dirname, '..', folder))
		.filter((name) => name.endsWith('.test.ts'))
		.map((name) => `${folder}/${name.replace('.test.ts', '')}`),
);

for (const file of ['secrets/secrets', ...files]) {
	if (leftOut.includes(file)) continue;
	const load = () => void jest.requireActual(`../${file}.test`);
	// Its snapshots are found by the names of its tests alone.
	if (file === 'node/form') load();
	else describe(file, load);
}
