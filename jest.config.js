require('./test/support/quiet.cjs');

/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: '<rootDir>/test/support/environment.cjs',
	testMatch: ['<rootDir>/test/**/*.test.ts'],
	transform: {
		'^.+\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } } }],
	},
	modulePathIgnorePatterns: [
		'<rootDir>/host/node_modules',
		'<rootDir>/host/.data',
		'<rootDir>/host/versions',
	],
	testPathIgnorePatterns: [
		'<rootDir>/test/editor/',
		'<rootDir>/test/host/',
		'<rootDir>/test/queue/',
	],
	setupFiles: ['<rootDir>/test/support/loadOnce.ts'],
	testTimeout: 20_000,
	// Tests wait most of the time. More workers would take longer to load n8n's engine than they save.
	maxWorkers: 3,
};
