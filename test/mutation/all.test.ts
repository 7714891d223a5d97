import { readdirSync } from 'node:fs';
import { join } from 'node:path';

// The import is here so that the hooks of this module apply to all blocks. Otherwise, they would only apply to the
// first block that imports it.
import '../support/hurry';

/*
 * Mutants are tested by all these tests in one file, because Stryker would run each file separately. Each test file has
 * its own block, so that its hooks only apply to its own tests.
 */

/** The folders with the fastest tests come first, so that most mutants are killed early. */
const folders = ['pace', 'node', 'login', 'reliability'];

// These tests change n8n's environment, which n8n only reads when it is loaded.
const leftOut = ['node/n8nBlocks'];

const files = folders.flatMap((folder) =>
	readdirSync(join(__dirname, '..', folder))
		.filter((name) => name.endsWith('.test.ts'))
		.map((name) => `${folder}/${name.replace('.test.ts', '')}`),
);

for (const file of ['secrets/secrets', ...files]) {
	if (leftOut.includes(file)) continue;
	const load = () => void jest.requireActual(`../${file}.test`);
	// Jest finds its snapshots by the names of its tests, without the name of a block.
	if (file === 'node/form') load();
	else describe(file, load);
}
