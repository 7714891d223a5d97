const base = require('../../jest.config.js');

/** @type {import('jest').Config} Tests in a real n8n. The first run installs n8n. */
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
