const base = require('../../jest.config.js');

/** @type {import('jest').Config} Tests on a real n8n: the first run installs it. */
module.exports = {
	...base,
	displayName: 'host',
	rootDir: '../..',
	testMatch: ['<rootDir>/test/host/**/*.test.ts'],
	testPathIgnorePatterns: [],
	globalSetup: '<rootDir>/test/host/setUp.ts',
	globalTeardown: '<rootDir>/test/host/tearDown.ts',
	testTimeout: 90_000,
};
