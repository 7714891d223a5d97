import { accountOf } from '../../nodes/JobOrchestration/service/account/account';
import { getToken } from '../../nodes/JobOrchestration/service/account/tokens';
import type { TokenSources } from '../../nodes/JobOrchestration/service/account/tokens';
import type { RequestFailure } from '../../nodes/JobOrchestration/service/errors/failure';
import { clockAt, slowLogin, turn, useLogins } from './useLogins';

const { account, ask, logins } = useLogins();
const cancelledFirst: RequestFailure = { kind: 'cancelled', sent: false };

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
	expect(result).toEqual({ failure: cancelledFirst });
	expect(login).not.toHaveBeenCalled();
});

describe('a log-in that hangs', () => {
	const timeout: RequestFailure = { kind: 'timeout', after: 10_000 };

	test('is left by whoever gives up, and the next one begins anew', async () => {
		const { begin, end } = slowLogin();
		let giveUp: (failure: RequestFailure) => void = () => {};
		const givenUp = new Promise<RequestFailure>((resolve) => (giveUp = resolve));
		const loginGivenUp = async () => await givenUp;
		const sources = { isRenewal: false, login: begin };
		const patient = getToken(account('a'), sources);
		const impatient = getToken(account('a'), { ...sources, loginGivenUp });
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
		const loginGivenUp = async () => await Promise.resolve(cancelledFirst);
		const cancelled = getToken(account('a'), { ...sources, loginGivenUp });
		expect(await cancelled).toEqual({ failure: cancelledFirst });
		const other = getToken(account('a'), sources);
		await turn();
		end('at last');
		expect(await other).toEqual({ token: 'at last' });
		expect(begin).toHaveBeenCalledTimes(1);
	});
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
	const noLogin = { ...refused, status: 404 } as const;
	const redirect: RequestFailure = { kind: 'redirect', status: 302, location: undefined };
	test.each<[string, RequestFailure, { isSame: boolean; age: number }, number]>([
		['the same execution, almost 30 seconds later', noLogin, { isSame: true, age: 29_999 }, 1],
		['the same, 30 seconds later', noLogin, { isSame: true, age: 30_000 }, 2],
		[
			'the same, 30 seconds after a 405',
			{ ...refused, status: 405 },
			{ isSame: true, age: 30_000 },
			2,
		],
		[
			'the same, 30 seconds after a 500 that stays',
			{ ...refused, status: 501 },
			{ isSame: true, age: 30_000 },
			2,
		],
		['the same, 30 seconds after a redirect', redirect, { isSame: true, age: 30_000 }, 2],
		['the same, an hour after a 499', { ...refused, status: 499 }, { isSame: true, age: 3.6e6 }, 1],
		['the same, refused otherwise, an hour later', refused, { isSame: true, age: 3.6e6 }, 1],
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

	test('is tried once in half a minute by an execution that goes on for long', async () => {
		const execution = {};
		for (let age = 0; age < 120_000; age += 6_000) {
			clockAt(age);
			await fail(noLogin, { execution });
		}
		expect(logins).toHaveLength(4);
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
