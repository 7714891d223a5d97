const host = require('../host/jest.config.js');

/** @type {import('jest').Config} Tests in a real browser: they need Chromium. */
module.exports = {
	...host,
	displayName: 'editor',
	testMatch: ['<rootDir>/test/editor/*.test.ts'],
	testTimeout: 120_000,
	// One credential serves the files one after the other, as n8n chooses the only one by itself.
	maxWorkers: 1,
};
