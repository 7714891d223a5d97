const base = require('../../jest.config.js');

/** @type {import('jest').Config} Tests in an n8n in queue mode. They need Debian's Redis and PostgreSQL. */
module.exports = {
	...base,
	rootDir: '../..',
	testMatch: ['<rootDir>/test/queue/**/*.test.ts'],
	testPathIgnorePatterns: [],
	testTimeout: 120_000,
	maxWorkers: 1,
};
