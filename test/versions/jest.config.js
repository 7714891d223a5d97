const { dirname, join } = require('node:path');

const base = require('../../jest.config.js');

/** Returns the folder of a package that the engine in the folder N8N_UNDER_TEST uses. */
function folderOf(name, from = folderOf('n8n-core', process.env.N8N_UNDER_TEST)) {
	return dirname(require.resolve(`${name}/package.json`, { paths: [from] }));
}

/** Returns mappings that load the engine's copy of a package and of its files. */
function fromThere(name) {
	return [
		[`^${name}$`, require.resolve(name, { paths: [folderOf('n8n-core')] })],
		[`^${name}/(.*)$`, join(folderOf(name), '$1')],
	];
}

/**
 * Returns the tests that needn't or can't run in this n8n. Before 1.16, its HTTP client axios loses the error of a
 * response that claims to be compressed but isn't, so the request never ends.
 */
function leftOut() {
	const { version } = require(join(folderOf('axios'), 'package.json'));
	const losesErrors = version.localeCompare('1.16.0', 'en', { numeric: true }) < 0;
	// The results of these tests don't depend on the release of the engine.
	const withoutEngine = ['rules', 'failureFromError', 'anyRun', 'ids'];
	return [
		...withoutEngine.map((name) => `<rootDir>/test/reliability/${name}.test.ts`),
		'<rootDir>/test/secrets/secrets.test.ts',
		...(losesErrors ? ['<rootDir>/test/reliability/anyAnswer.test.ts'] : []),
	];
}

/** @type {import('jest').Config} The tests of the node in the engine of another n8n. run.ts runs them. */
module.exports = {
	...base,
	rootDir: '../..',
	testMatch: ['node', 'login', 'reliability', 'secrets'].map(
		(folder) => `<rootDir>/test/${folder}/**/*.test.ts`,
	),
	testPathIgnorePatterns: leftOut(),
	moduleNameMapper: {
		...Object.fromEntries(['n8n-core', 'n8n-workflow', '@n8n/di'].flatMap(fromThere)),
		// The engine of n8n 2.0 requires this ES module. Node.js supports this since 20.19, but Jest only on Node.js
		// 24.9.
		'^p-retry$': '<rootDir>/test/versions/noRetry.ts',
	},
	setupFilesAfterEnv: ['<rootDir>/test/versions/letGo.ts'],
	// These tests check what the node does, not how fast it is.
	testTimeout: 60_000,
};
