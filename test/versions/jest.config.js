const { dirname, join } = require('node:path');

const base = require('../../jest.config.js');

/**
 * What of n8n the tests import, as it lies in the n8n whose folder N8N_UNDER_TEST names: the package itself, and
 * a file in it.
 */
function fromN8nUnderTest(name) {
	const n8n = dirname(require.resolve('n8n/package.json', { paths: [process.env.N8N_UNDER_TEST] }));
	const folder = dirname(require.resolve(`${name}/package.json`, { paths: [n8n] }));
	return [
		[`^${name}$`, require.resolve(name, { paths: [n8n] })],
		[`^${name}/(.*)$`, join(folder, '$1')],
	];
}

/** @type {import('jest').Config} The tests of the node in the engine of another n8n: run.ts runs them. */
module.exports = {
	...base,
	rootDir: '../..',
	testMatch: ['node', 'login', 'faults', 'leaks', 'properties'].map(
		(folder) => `<rootDir>/test/${folder}/**/*.test.ts`,
	),
	moduleNameMapper: Object.fromEntries(
		['n8n-core', 'n8n-workflow', '@n8n/di'].flatMap(fromN8nUnderTest),
	),
	setupFilesAfterEnv: ['<rootDir>/test/versions/letGo.ts'],
};
