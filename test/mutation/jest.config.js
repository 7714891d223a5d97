/** @type {import('jest').Config} */
module.exports = {
	...require('../../jest.config'),
	rootDir: '../..',
	testEnvironment: require.resolve('./stopAtFirstFailure.cjs'),
	testMatch: ['<rootDir>/test/mutation/all.test.ts'],
	testPathIgnorePatterns: [],
	modulePathIgnorePatterns: [],
};
