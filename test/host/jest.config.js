const base = require('../../jest.config.js');

/** @type {import('jest').Config} Tests on a real n8n: the first run installs it. */
module.exports = {
	...base,
	rootDir: '../..',
	testMatch: ['<rootDir>/test/host/**/*.test.ts'],
	testPathIgnorePatterns: [],
	testTimeout: 90_000,
	// Each file has an n8n of its own.
	maxWorkers: 2,
};
