const { types } = require('node:util');

const { TestEnvironment } = require('jest-environment-node');

// A worker that has run many test files takes longer to free their memory on exit than Jest waits. This ends the worker
// at once. It isn't done in Jest's own process, because it would hide that tests have failed.
if (process.argv[1]?.includes('jest-worker')) process.once('exit', (code) => process.exit(code));

/**
 * Jest's Node.js environment, extended by `requireOnce`, which loads a module once for all test files (loadOnce.ts). A
 * test file that needs its own copies of these modules begins with `@jest-environment node`.
 */
module.exports = class SharedModules extends TestEnvironment {
	constructor(config, context) {
		super(config, context);
		this.global.requireOnce = require;
		// Errors of the shared modules belong to another realm. `instanceof Error` recognizes them, too.
		const { Error } = this.global;
		const isInstance = Function.prototype[Symbol.hasInstance];
		Object.defineProperty(Error, Symbol.hasInstance, {
			value(error) {
				return this === Error ? types.isNativeError(error) : isInstance.call(this, error);
			},
		});
	}
};
