const { types } = require('node:util');

const { TestEnvironment } = require('jest-environment-node');

// A worker that has run many files frees their memory as it exits, which takes longer than Jest waits for it. In
// Jest's own process, this would hide that tests have failed.
if (process.argv[1]?.includes('jest-worker')) process.once('exit', (code) => process.exit(code));

/**
 * Where the tests run: Jest's own environment, and a way past it to modules that are loaded once for all files
 * (loadOnce.ts). Those that need modules of their own say so at their head: `@jest-environment node`.
 */
module.exports = class SharedModules extends TestEnvironment {
	constructor(config, context) {
		super(config, context);
		this.global.requireOnce = require;
		// An error of a module from outside is one here, too.
		const { Error } = this.global;
		const isInstance = Function.prototype[Symbol.hasInstance];
		Object.defineProperty(Error, Symbol.hasInstance, {
			value(error) {
				return this === Error ? types.isNativeError(error) : isInstance.call(this, error);
			},
		});
	}
};
