/*
 * The tests that mutants are held against, in one file: Stryker would run each of them by itself. The quick ones
 * come first, so that most mutants die early. Each has a block of its own, so that its hooks are its own. Left out are
 * those that need an engine of their own (the rest of test/leaks). One that runs the node in other processes (login/oneSession)
 * would not be asked: Stryker doesn't see what code they run.
 */
const files = [
	'faults/retryPolicy',
	'faults/failureOf',
	'leaks/secrets',
	'node/fieldValue',
	'pace/limiter',
	'pace/pace',
	'pace/rateLimit',
	'pace/concurrencyLimit',
	'login/byAccount',
	'faults/deadlines',
	'node/form',
	'node/connectionMessages',
	'node/changeState',
	'node/badInput',
	'node/createJob',
	'node/dates',
	'node/clusters',
	'node/goodAnswers',
	'node/serviceMessages',
	'node/dropDown',
	'node/errors',
	'node/connectionErrors',
	'faults/items',
	'faults/stoppedByError',
	'faults/token',
	'faults/retryOnFail',
	'faults/retryButton',
	'faults/cancel',
	'faults/timeLimit',
	'faults/ifStopped',
	'login/tokens',
	'login/login',
	'login/anyToken',
	'login/account',
	'login/otherNodes',
	'login/otherStore',
	'faults/waiting',
	'faults/matrix',
];

for (const file of files) {
	describe(file, () => {
		jest.requireActual(`../${file}.test`);
	});
}
