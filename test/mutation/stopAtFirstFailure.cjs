const TestEnvironment = require('../support/environment.cjs');

/**
 * Skips the rest after the first test that fails: the mutant is dead then. Jest's own `bail` counts files,
 * and for mutants there is one (all.test.ts).
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
