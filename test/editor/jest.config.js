const base = require('../../jest.config.js');

/**
 * The tests in a real browser, apart from `npm test`: they need the host's n8n and Chromium.
 * `npx jest -c test/editor/jest.config.js`
 * @type {import('jest').Config}
 */
module.exports = {
	...base,
	rootDir: '../..',
	testMatch: ['<rootDir>/test/editor/*.test.ts'],
	testPathIgnorePatterns: [],
	globalSetup: '<rootDir>/test/editor/setUp.ts',
	globalTeardown: '<rootDir>/test/editor/tearDown.ts',
	testTimeout: 120_000,
	// One n8n and one browser serve all files, one after the other.
	maxWorkers: 1,
};
