const TestEnvironment = require('../support/environment.cjs');

/**
 * Skips all tests after the first failure, because the mutant is then killed. Jest's own `bail` counts failed files,
 * but all tests of mutants are in one file (all.test.ts).
 */
module.exports = class StopAtFirstFailure extends TestEnvironment {
	handleTestEvent(event, state) {
		if (event.name === 'test_done' && event.test.errors.length > 0) {
			skipAll(state.rootDescribeBlock);
		}
	}
};

function skipAll(block) {
	for (const child of block.children) {
		if (child.type === 'describeBlock') skipAll(child);
		else child.mode = 'skip';
	}
}
