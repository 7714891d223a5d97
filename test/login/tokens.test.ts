import {
	sealToken,
	unsealToken,
	withoutSeal,
} from '../../nodes/JobOrchestration/service/account/sealedToken';
import type { Account } from '../../nodes/JobOrchestration/service/account/account';
import { accountOf } from '../../nodes/JobOrchestration/service/account/account';
import type { RequestFailure } from '../../nodes/JobOrchestration/service/request/failure';
import {
	markRejected,
	getToken,
	wasRejected,
} from '../../nodes/JobOrchestration/service/account/tokens';
import type {
	LoginResult,
	TokenSources,
} from '../../nodes/JobOrchestration/service/account/tokens';

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
const account = (userName: string): Account =>
	accountOf({ baseUrl: `http://${tests}.example.com`, userName, password: 'p' });

/** A log-in that gives `<user name> 1`, the next time `<user name> 2`, and so on. */
const login = (userName: string) => async (): Promise<LoginResult> => {
	logins.push(userName);
	const times = logins.filter((name) => name === userName).length;
	return await Promise.resolve({ token: `${userName} ${times}` });
};

/** Asks for the token of an account, because there is none or in place of one that was rejected. */
async function ask(
	userName: string,
	rejected?: string,
	more: Partial<TokenSources> = {},
): Promise<string> {
	if (rejected !== undefined) markRejected(account(userName), rejected);
	const isRenewal = rejected !== undefined;
	const ways = { isRenewal, login: login(userName), ...more };
	const result = await getToken(account(userName), ways);
	return 'token' in result ? result.token : 'none';
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

/** A log-in that ends when the test says so. */
function slowLogin() {
	let end: (token: string) => void = () => {};
	const begin = jest.fn(
		async () => await new Promise<LoginResult>((done) => (end = (token) => done({ token }))),
	);
	return { begin, end: (token: string) => end(token) };
}

test('no log-in begins for whoever was cancelled while the stored token was read', async () => {
	const login = jest.fn();
	const stop = { isCancelled: false };
	const result = await getToken(accountOf({ baseUrl: 'http://a', userName: 'c', password: 'p' }), {
		isRenewal: true,
		storedToken: async () => {
			stop.isCancelled = true;
			return await Promise.resolve(undefined);
		},
		isCancelled: () => stop.isCancelled,
		login,
	});
	expect(result).toEqual({ failure: { kind: 'cancelled' } });
	expect(login).not.toHaveBeenCalled();
});

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

test('an account whose log-in is under way is not forgotten for one that is idle', async () => {
	const { begin, end } = slowLogin();
	const slow = ask('slow', undefined, { login: begin });
	for (let other = 0; other < 120; other += 1) await ask(`other ${other}`);
	const same = ask('slow', undefined, { login: begin });
	await turn();
	end('at last');
	expect(await Promise.all([slow, same])).toEqual(['at last', 'at last']);
	expect(begin).toHaveBeenCalledTimes(1);
});

test('no more accounts are remembered where all of their log-ins hang, and each gets its token', async () => {
	const hanging = Array.from({ length: 150 }, (_, n) => ({ name: `user ${n}`, ...slowLogin() }));
	const asked = hanging.map(
		async ({ name, begin }) => await ask(name, undefined, { login: begin }),
	);
	await turn();
	// The oldest is forgotten, the newest is waited for.
	const again = [hanging[0], hanging[149]].map(
		async (known) => await ask(known?.name ?? '', undefined, { login: login(known?.name ?? '') }),
	);
	await turn();
	for (const { name, end } of hanging) end(`token of ${name}`);
	expect(await Promise.all(asked)).toEqual(hanging.map(({ name }) => `token of ${name}`));
	expect(await Promise.all(again)).toEqual(['user 0 1', 'token of user 149']);
});

test('the fifty tokens that were rejected last are known as such', async () => {
	await replace('a', 51);
	expect(logins).toHaveLength(52);
	expect(wasRejected(account('a'), 'a 1')).toBe(false);
	expect(wasRejected(account('a'), 'a 2')).toBe(true);
	expect(wasRejected(account('a'), 'a 51')).toBe(true);
	expect(wasRejected(account('a'), 'a 52')).toBe(false);
	expect(wasRejected(account('b'), 'a 2')).toBe(false);
	expect(await ask('a', 'a 2')).toBe('a 52');
	expect(await ask('a', 'a 52')).toBe('a 53');
});

test('a token that the service gives again is not taken for a rejected one', async () => {
	const give = (token: string): Partial<TokenSources> => ({
		login: async () => await Promise.resolve({ token }),
	});
	await ask('a', undefined, give('one'));
	await ask('a', 'one', give('two'));
	await ask('a', 'two', give('one'));
	expect(wasRejected(account('a'), 'one')).toBe(false);
	expect(await ask('a', 'two', give('three'))).toBe('one');
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

describe('the stored credential', () => {
	const holds = (...tokens: Array<string | undefined>) => {
		const storedToken = jest.fn(async () => await Promise.resolve(tokens.shift()));
		return { storedToken };
	};

	test('is looked into before a log-in: another process may have a newer token', async () => {
		await ask('a');
		clockAt(0);
		expect(await ask('a', 'a 1', holds('from elsewhere'))).toBe('from elsewhere');
		expect(await ask('a', 'a 1')).toBe('from elsewhere');
		expect(await ask('a')).toBe('from elsewhere');
		expect(logins).toEqual(['a']);
	});

	test('is not looked into where a newer token is known here', async () => {
		await replace('a', 1);
		const { storedToken } = holds('from elsewhere');
		expect(await ask('a', 'a 1', { storedToken })).toBe('a 2');
		expect(storedToken).not.toHaveBeenCalled();
	});

	test('may hold a token that was rejected, or none', async () => {
		clockAt(0);
		await ask('a');
		clockAt(60_000);
		expect(await ask('a', 'a 1', holds('a 1'))).toBe('a 2');
		clockAt(120_000);
		expect(await ask('a', 'a 2', holds(undefined))).toBe('a 3');
	});

	test('is looked into once more, a moment later, where a token was rejected within seconds', async () => {
		clockAt(0);
		await ask('a');
		clockAt(4_999);
		const waits = jest.spyOn(AbortSignal, 'timeout');
		expect(await ask('a', 'a 1', holds('a 1', 'from elsewhere'))).toBe('from elsewhere');
		expect(logins).toEqual(['a']);
		const [[time = NaN] = []] = waits.mock.calls;
		expect(time).toBeGreaterThanOrEqual(100);
		expect(time).toBeLessThanOrEqual(500);
	});

	test('is slow: who has waited for it takes what others got meanwhile', async () => {
		let answer = (): void => {};
		const slow = jest.fn(
			async () => await new Promise<undefined>((done) => (answer = () => done(undefined))),
		);
		clockAt(0);
		await ask('a');
		clockAt(60_000);
		const late = ask('a', 'a 1', { storedToken: slow });
		expect(await ask('a', 'a 1')).toBe('a 2');
		answer();
		expect(await late).toBe('a 2');
		expect(logins).toHaveLength(2);
	});

	test('is not waited for where the token had lived for longer', async () => {
		clockAt(0);
		await ask('a');
		clockAt(5_000);
		const waits = jest.spyOn(AbortSignal, 'timeout');
		expect(await ask('a', 'a 1', holds('a 1', 'from elsewhere'))).toBe('a 2');
		expect(waits).not.toHaveBeenCalled();
	});

	test('is not waited for by those who can not look into it', async () => {
		const waits = jest.spyOn(AbortSignal, 'timeout');
		await replace('a', 2);
		expect(logins).toHaveLength(3);
		expect(waits).not.toHaveBeenCalled();
	});

	test('waits of a different length let processes part', async () => {
		const waits = jest.spyOn(AbortSignal, 'timeout');
		await Promise.all(
			Array.from({ length: 5 }, async (_, n) => {
				await ask(`user ${n}`);
				await ask(`user ${n}`, `user ${n} 1`, holds(undefined, undefined));
			}),
		);
		expect(new Set(waits.mock.calls.map(([time]) => time)).size).toBeGreaterThan(1);
	});
});

test('who can not try a token gets none that the service no longer takes', async () => {
	await replace('a', 1);
	const isGood = jest.fn(async (token: string) => await Promise.resolve(token !== 'a 2'));
	expect(await ask('a', 'a 1', { isGood })).toBe('a 3');
	expect(await ask('a', 'a 1', { isGood })).toBe('a 3');
	expect(await ask('a', undefined, { isGood })).toBe('a 3');
	expect(isGood.mock.calls).toEqual([['a 2'], ['a 3'], ['a 3']]);
});

describe('a log-in that hangs', () => {
	const timeout: RequestFailure = { kind: 'timeout', after: 10_000 };

	test('is left by whoever gives up, and the next one begins anew', async () => {
		const { begin, end } = slowLogin();
		let giveUp: (failure: RequestFailure) => void = () => {};
		const givesUp = new Promise<RequestFailure>((resolve) => (giveUp = resolve));
		const sources = { isRenewal: false, login: begin };
		const patient = getToken(account('a'), sources);
		const impatient = getToken(account('a'), { ...sources, givesUp });
		await turn();
		giveUp(timeout);
		expect(await impatient).toEqual({ failure: timeout });
		expect(
			await ask('a', undefined, { login: async () => await Promise.resolve({ token: 'second' }) }),
		).toBe('second');
		end('first');
		expect(await patient).toEqual({ token: 'first' });
		expect(begin).toHaveBeenCalledTimes(1);
	});

	test('is left by one whose execution was cancelled, and waited for by all others', async () => {
		const { begin, end } = slowLogin();
		const sources = { isRenewal: false, login: begin };
		const givesUp = Promise.resolve<RequestFailure>({ kind: 'cancelled' });
		const cancelled = getToken(account('a'), { ...sources, givesUp });
		expect(await cancelled).toEqual({ failure: { kind: 'cancelled' } });
		const other = getToken(account('a'), sources);
		await turn();
		end('at last');
		expect(await other).toEqual({ token: 'at last' });
		expect(begin).toHaveBeenCalledTimes(1);
	});
});

test('ten whose new token was rejected at once log in together', async () => {
	clockAt(0);
	await ask('a');
	const asked = Array.from({ length: 10 }, async () => {
		const storedToken = async () => await Promise.resolve('a 1');
		return await ask('a', 'a 1', { storedToken });
	});
	expect(new Set(await Promise.all(asked))).toEqual(new Set(['a 2']));
	expect(logins).toEqual(['a', 'a']);
});

describe('a log-in that failed', () => {
	const refused = { kind: 'status', status: 403, text: undefined, retryAfter: undefined } as const;
	const isDown = { ...refused, status: 503 } as const;

	/** What comes of asking for a token of the account a, where the log-in fails so. */
	async function fail(
		failure: RequestFailure,
		from: Pick<TokenSources, 'execution'> = {},
	): Promise<unknown> {
		const login = async () => {
			logins.push('a');
			return await Promise.resolve({ failure });
		};
		return await getToken(account('a'), { isRenewal: false, login, ...from });
	}

	test.each<[string, RequestFailure, number, number]>([
		['refused, almost 5 seconds ago', refused, 4_999, 1],
		['refused, 5 seconds ago', refused, 5_000, 2],
		['that had no answer', { kind: 'timeout' }, 0, 2],
		['at a service that was down', isDown, 0, 2],
	])('for another node: %s', async (_, failure, age, times) => {
		clockAt(0);
		expect(await fail(failure)).toEqual({ failure });
		clockAt(age);
		expect(await fail(failure)).toMatchObject({ failure });
		expect(logins).toHaveLength(times);
	});

	const wrongPassword = { ...refused, status: 401 } as const;
	test.each<[string, RequestFailure, { isSame: boolean; age: number }, number]>([
		['the same execution, almost 30 seconds later', refused, { isSame: true, age: 29_999 }, 1],
		['the same, 30 seconds later', refused, { isSame: true, age: 30_000 }, 2],
		['the same, for its password, an hour later', wrongPassword, { isSame: true, age: 3.6e6 }, 1],
		['another one, almost 5 seconds later', wrongPassword, { isSame: false, age: 4_999 }, 1],
		['another one, 5 seconds later', wrongPassword, { isSame: false, age: 5_000 }, 2],
	])('and is asked for by %s', async (_, failure, { isSame, age }, times) => {
		const [execution, another] = [{}, {}];
		clockAt(0);
		await fail(failure, { execution });
		clockAt(age);
		await fail(failure, { execution: isSame ? execution : another });
		expect(logins).toHaveLength(times);
	});

	test('is tried once in half a minute by two executions that take turns', async () => {
		const executions = [{}, {}];
		for (let age = 0; age < 30_000; age += 2_500) {
			clockAt(age);
			for (const execution of executions) await fail(refused, { execution });
		}
		expect(logins).toHaveLength(1);
	});

	test('is forgotten once one succeeds', async () => {
		const execution = {};
		clockAt(0);
		await fail(wrongPassword, { execution });
		clockAt(5_000);
		await ask('a');
		clockAt(11_000);
		await fail(refused);
		clockAt(17_000);
		await fail(refused, { execution });
		expect(logins).toHaveLength(4);
	});

	test('for a reason of its own', async () => {
		const odd = new Error('odd');
		const login = async () => await Promise.reject(odd);
		await expect(getToken(account('a'), { isRenewal: false, login })).rejects.toBe(odd);
		expect(await ask('a')).toBe('a 1');
	});
});

test('what makes an account is all that the log-in depends on', async () => {
	const differing: Array<Partial<Account>> = [
		{},
		{ baseUrl: 'http://other.example.com' },
		{ userName: 'b' },
		{ password: 'q' },
		{ ignoreSslIssues: true },
	];
	const bound = new Set<string>();
	for (const [index, difference] of differing.entries()) {
		const identity = accountOf({ ...account('a'), ...difference });
		const own = jest.fn(async () => await Promise.resolve({ token: `token ${index}` }));
		expect(await getToken(identity, { isRenewal: false, login: own })).toEqual({
			token: `token ${index}`,
		});
		expect(own).toHaveBeenCalledTimes(1);
		bound.add(await sealToken('token', identity));
	}
	expect(bound.size).toBe(differing.length);
});

test('a stored token is that of its account only, whatever it looks like', async () => {
	for (const token of ['plain', 'with.dots', '.', 'a b=', 'ü']) {
		const stored = await sealToken(token, account('a'));
		expect(await unsealToken(stored, account('a'))).toBe(token);
		expect(await unsealToken(stored, account('b'))).toBeUndefined();
		expect(withoutSeal(stored)).toBe(token);
	}
	const seal = await sealToken('', account('a'));
	for (const none of [undefined, null, 7, '', '.', 'bare', '.bare', seal, `${seal}x`.slice(1)]) {
		expect(await unsealToken(none, account('a'))).toBeUndefined();
	}
});

/** Lets all go on that can. */
async function turn(): Promise<void> {
	await new Promise((resolve) => setImmediate(resolve));
}
