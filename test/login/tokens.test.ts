import { ServiceError } from '../../nodes/JobOrchestration/service/serviceError';
import { tokenFor } from '../../nodes/JobOrchestration/service/tokens';
import type { Identity } from '../../nodes/JobOrchestration/service/tokens';

/*
 * What is remembered of log-ins, and for how long. The log-in itself is left out: what counts is how often
 * it is asked for.
 */

let tests = 0;
let logins: string[];

beforeEach(() => {
	tests += 1;
	logins = [];
});
afterEach(() => {
	jest.restoreAllMocks();
});

/** An account that no other test knows. */
const account = (userName: string): Identity => ({
	baseUrl: `http://${tests}.example.com`,
	userName,
	password: 'p',
	ignoreSslIssues: false,
});

/** Asks for the token of an account, whose log-ins give `<user name> 1` and so on. */
async function ask(userName: string, accessToken: unknown = ''): Promise<string> {
	return await tokenFor(account(userName), { accessToken }, async () => {
		logins.push(userName);
		const times = logins.filter((name) => name === userName).length;
		return await Promise.resolve(`${userName} ${times}`);
	});
}

/** Has so many tokens of an account replaced, one after the other. */
async function replace(userName: string, times: number): Promise<void> {
	let token = await ask(userName);
	for (let time = 0; time < times; time += 1) token = await ask(userName, token);
}

/** Sets the clock to so many milliseconds from now. */
function clockAt(milliseconds: number): void {
	const now = performance.timeOrigin + 1e6;
	jest.spyOn(Date, 'now').mockReturnValue(now + milliseconds);
}

test('a hundred accounts are remembered, the last used of them', async () => {
	await ask('first');
	await ask('second');
	for (let other = 0; other < 98; other += 1) await ask(`other ${other}`);
	await ask('first');
	expect(logins).toHaveLength(100);
	await ask('one more');
	expect(await ask('first')).toBe('first 1');
	expect(await ask('second')).toBe('second 2');
});

test('an account whose log-in is under way is not forgotten', async () => {
	let answer: (token: string) => void = () => {};
	const login = jest.fn(async () => await new Promise<string>((resolve) => (answer = resolve)));
	const slow = tokenFor(account('slow'), {}, login);
	for (let other = 0; other < 120; other += 1) await ask(`other ${other}`);
	const same = tokenFor(account('slow'), {}, login);
	answer('at last');
	expect(await Promise.all([slow, same])).toEqual(['at last', 'at last']);
	expect(login).toHaveBeenCalledTimes(1);
});

test('the fifty tokens that were replaced last are exchanged for the newest', async () => {
	await replace('a', 51);
	expect(logins).toHaveLength(52);
	expect(await ask('a', 'a 2')).toBe('a 52');
	expect(await ask('a', 'a 51')).toBe('a 52');
	expect(await ask('a', 'a 1')).toBe('a 53');
});

test('a token that the service gives again is not taken for one that was replaced', async () => {
	const give = async (token: string, rejected: string) =>
		await tokenFor(
			account('a'),
			{ accessToken: rejected },
			async () => await Promise.resolve(token),
		);
	await give('one', '');
	await give('two', 'one');
	await give('one', 'two');
	expect(await give('three', 'one')).toBe('three');
});

test.each<[string, number, number]>([
	['just now', 0, 1],
	['almost five seconds ago', 4_999, 1],
	['five seconds ago', 5_000, 2],
	['in the future, by a clock that was set back', -1, 2],
])('without a token, after a log-in %s: %s ms', async (_, age, times) => {
	clockAt(0);
	await ask('a');
	clockAt(age);
	await ask('a');
	expect(logins).toHaveLength(times);
});

test.each<[unknown]>([[undefined], [null], [7]])('%j is no token', async (none) => {
	expect(await ask('a')).toBe('a 1');
	expect(await ask('a', none)).toBe('a 1');
});

describe('a log-in that failed', () => {
	const words = { message: 'No', detail: '', advice: '' };
	const refused = { kind: 'status', status: 403, text: undefined, retryAfter: undefined } as const;
	const isDown = { ...refused, status: 503 } as const;
	const failure = (because: typeof refused | typeof isDown) =>
		new ServiceError({ kind: 'login', because }, words);

	async function fail(error: unknown): Promise<unknown> {
		const attempt = tokenFor(account('a'), {}, async () => {
			logins.push('a');
			return await Promise.reject(error);
		});
		return await attempt.catch((reason: unknown) => reason);
	}

	test.each<[string, unknown, number, number]>([
		['refused, almost 15 seconds ago', failure(refused), 14_999, 1],
		['refused, 15 seconds ago', failure(refused), 15_000, 2],
		['at a service that was down', failure(isDown), 0, 2],
		['for a reason of its own', new Error('odd'), 0, 2],
	])('%s', async (_, error, age, times) => {
		clockAt(0);
		expect(await fail(error)).toBe(error);
		clockAt(age);
		expect(await fail(error)).toBe(error);
		expect(logins).toHaveLength(times);
	});
});

test('what makes an account is all that the log-in depends on', async () => {
	const differing: Array<Partial<Identity>> = [
		{},
		{ baseUrl: 'http://other.example.com' },
		{ userName: 'b' },
		{ password: 'q' },
		{ ignoreSslIssues: true },
	];
	for (const [index, difference] of differing.entries()) {
		const login = jest.fn(async () => await Promise.resolve(`token ${index}`));
		expect(await tokenFor({ ...account('a'), ...difference }, {}, login)).toBe(`token ${index}`);
		expect(login).toHaveBeenCalledTimes(1);
	}
});
