const base = require('../../jest.config.js');

const all = process.env.QUEUE_TESTS === 'all';

/** @type {import('jest').Config} Tests on an n8n in queue mode; needs Debian's Redis and PostgreSQL. See run.ts. */
module.exports = {
	...base,
	rootDir: '../..',
	testMatch: ['<rootDir>/test/queue/**/*.test.ts'],
	testPathIgnorePatterns: all ? [] : ['/fourWorkers.test.ts'],
	testTimeout: 120_000,
	maxWorkers: 1,
};
