const host = require('../host/jest.config.js');

/** @type {import('jest').Config} Tests in a real browser. They need Chromium. */
module.exports = {
	...host,
	displayName: 'editor',
	testMatch: ['<rootDir>/test/editor/*.test.ts'],
	testTimeout: 120_000,
	// The files run one at a time, because they share one credential: n8n only chooses a credential by itself if it is
	// the only one.
	maxWorkers: 1,
};
