/** @type {import('jest').Config} */
module.exports = {
	...require('../../jest.config'),
	rootDir: '../..',
	testEnvironment: require.resolve('./stopAtFirstFailure.cjs'),
	snapshotResolver: require.resolve('./snapshots.cjs'),
	testMatch: ['<rootDir>/test/mutation/all.test.ts'],
	testPathIgnorePatterns: [],
	modulePathIgnorePatterns: [],
};
