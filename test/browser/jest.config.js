/**
 * The tests in a real browser, apart from `npm test`: they need the host's n8n and Chromium.
 * `npx jest -c test/browser/jest.config.js`
 * @type {import('jest').Config}
 */
module.exports = {
	rootDir: '../..',
	testEnvironment: 'node',
	testMatch: ['<rootDir>/test/browser/*.test.ts'],
	transform: {
		'^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } } }],
	},
	modulePathIgnorePatterns: [
		'<rootDir>/host/node_modules',
		'<rootDir>/host/.data',
		'<rootDir>/host/versions',
	],
	globalSetup: '<rootDir>/test/browser/setUp.ts',
	globalTeardown: '<rootDir>/test/browser/tearDown.ts',
	testTimeout: 120_000,
	// One n8n and one browser serve all files, one after the other.
	maxWorkers: 1,
};
