import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/*
 * The tests that mutants are held against, in one file: Stryker would run each of them by itself. The quick ones
 * come first, so that most mutants die early. Each has a block of its own, so that its hooks are its own. Left out of
 * test/leaks are those that need an engine of their own.
 */
const files = [
	'faults/retryPolicy',
	'faults/failureFromError',
	'leaks/secrets',
	'node/fieldValue',
	'pace/limiter',
	'pace/limiterWaits',
	'pace/paceSteps',
	'pace/pace',
	'pace/trace',
	'pace/executions',
	'pace/rateLimit',
	'pace/concurrencyLimit',
	'pace/outcome',
	'pace/sendWithRetries',
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
	'faults/ifStoppedAgain',
	'login/tokens',
	'login/storedToken',
	'login/failedLogin',
	'login/login',
	'login/refusedLogin',
	'login/preAuthentication',
	'login/anyToken',
	'login/account',
	'login/otherNodes',
	'login/otherStore',
	'login/otherProcess',
	'faults/waiting',
	'faults/matrix',
	'faults/limits',
	'faults/turnedAway',
	'faults/away',
	'faults/allWait',
];

const leftOut = [
	// It runs the node in other processes: Stryker doesn't see what code they run.
	'login/oneSession',
	// They need an n8n whose environment names a proxy, or what it must not reach.
	'node/n8nProxy',
	'node/n8nBlocks',
];

test('no test of these folders is forgotten', () => {
	const all = ['faults', 'login', 'node', 'pace'].flatMap((folder) =>
		readdirSync(join(__dirname, '..', folder))
			.filter((name) => name.endsWith('.test.ts'))
			.map((name) => `${folder}/${name.replace('.test.ts', '')}`),
	);
	expect(all.filter((name) => ![...files, ...leftOut].includes(name))).toEqual([]);
});

for (const file of files) {
	describe(file, () => {
		jest.requireActual(`../${file}.test`);
	});
}
