const base = require('../../jest.config.js');

/**
 * The tests in a real browser, apart from `npm test`: they need the host's n8n and Chromium.
 * `npx jest -c test/browser/jest.config.js`
 * @type {import('jest').Config}
 */
module.exports = {
	...base,
	rootDir: '../..',
	testMatch: ['<rootDir>/test/browser/*.test.ts'],
	testPathIgnorePatterns: [],
	globalSetup: '<rootDir>/test/browser/setUp.ts',
	globalTeardown: '<rootDir>/test/browser/tearDown.ts',
	testTimeout: 120_000,
	// One n8n and one browser serve all files, one after the other.
	maxWorkers: 1,
};
