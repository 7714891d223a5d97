const { dirname, join } = require('node:path');

const base = require('../../jest.config.js');

/** Where a package lies that the engine uses whose folder N8N_UNDER_TEST names. */
function folderOf(name, from = folderOf('n8n-core', process.env.N8N_UNDER_TEST)) {
	return dirname(require.resolve(`${name}/package.json`, { paths: [from] }));
}

/** Has the engine's package, and the files in it, taken from there. */
function fromThere(name) {
	return [
		[`^${name}$`, require.resolve(name, { paths: [folderOf('n8n-core')] })],
		[`^${name}/(.*)$`, join(folderOf(name), '$1')],
	];
}

/**
 * Tests that needn't or can't be run in this n8n. Its HTTP client, axios, loses before 1.16 the error of an answer that
 * says it is compressed and isn't: its sender waits for ever. Older releases block no address.
 */
function leftOut() {
	const { version } = require(join(folderOf('axios'), 'package.json'));
	const losesErrors = version.localeCompare('1.16.0', 'en', { numeric: true }) < 0;
	// No engine has a part in these.
	const withoutEngine = ['rules', 'failureFromError', 'anyRun', 'ids'];
	return [
		...withoutEngine.map((name) => `<rootDir>/test/reliability/${name}.test.ts`),
		'<rootDir>/test/secrets/secrets.test.ts',
		...(losesErrors ? ['<rootDir>/test/reliability/anyAnswer.test.ts'] : []),
		...(blocksAddresses() ? [] : ['<rootDir>/test/node/n8nBlocks.test.ts']),
	];
}

/** Whether this n8n has what can do that: a release that hasn't would find another one's in the folders above. */
function blocksAddresses() {
	const { dependencies } = require(join(folderOf('n8n-core'), 'package.json'));
	return '@n8n/backend-network' in dependencies;
}

/** @type {import('jest').Config} The tests of the node in the engine of another n8n: run.ts runs them. */
module.exports = {
	...base,
	rootDir: '../..',
	testMatch: ['node', 'login', 'reliability', 'secrets'].map(
		(folder) => `<rootDir>/test/${folder}/**/*.test.ts`,
	),
	testPathIgnorePatterns: leftOut(),
	moduleNameMapper: {
		...Object.fromEntries(['n8n-core', 'n8n-workflow', '@n8n/di'].flatMap(fromThere)),
		// An ES module that the engine of n8n 2.0 requires: Node.js can do that since 20.19, jest only on 24.9.
		'^p-retry$': '<rootDir>/test/versions/noRetry.ts',
	},
	setupFilesAfterEnv: ['<rootDir>/test/versions/letGo.ts'],
	// What is looked at is what the node does, not how fast.
	testTimeout: 60_000,
};
