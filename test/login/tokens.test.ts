import type { Account } from '../../nodes/JobOrchestration/service/account/account';
import { accountOf } from '../../nodes/JobOrchestration/service/account/account';
import { sealToken } from '../../nodes/JobOrchestration/service/account/sealedToken';
import {
	getToken,
	wasFetchedSince,
	wasRejected,
} from '../../nodes/JobOrchestration/service/account/tokens';
import type { TokenSources } from '../../nodes/JobOrchestration/service/account/tokens';
import { clockAt, slowLogin, turn, useLogins } from './useLogins';

const { account, login, ask, replace, logins } = useLogins();

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

test('a token was fetched since a time if its log-in began then or later, in this process', async () => {
	clockAt(0);
	const now = Date.now();
	expect(wasFetchedSince(account('a'), 'a 1', now)).toBe(false);
	await ask('a');
	expect(wasFetchedSince(account('a'), 'a 1', now)).toBe(true);
	expect(wasFetchedSince(account('a'), 'a 1', now + 1)).toBe(false);
	expect(wasFetchedSince(account('a'), 'another', now)).toBe(false);
	expect(wasFetchedSince(account('b'), 'a 1', now)).toBe(false);
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

test('who can not try a token gets none that the service no longer takes', async () => {
	await replace('a', 1);
	const isGood = jest.fn(async (token: string) => await Promise.resolve(token !== 'a 2'));
	expect(await ask('a', 'a 1', { isGood })).toBe('a 3');
	expect(await ask('a', 'a 1', { isGood })).toBe('a 3');
	expect(await ask('a', undefined, { isGood })).toBe('a 3');
	expect(isGood.mock.calls).toEqual([['a 2'], ['a 3'], ['a 3']]);
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
		bound.add(sealToken('token', identity));
	}
	expect(bound.size).toBe(differing.length);
});
