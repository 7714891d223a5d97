import {
	sealToken,
	unsealToken,
	withoutSeal,
} from '../../nodes/JobOrchestration/service/account/sealedToken';
import { clockAt, useLogins } from './useLogins';

const { account, ask, replace, logins } = useLogins();

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

test('a stored token is that of its account only, whatever it looks like', async () => {
	for (const token of ['plain', 'with.dots', '.', 'a b=', 'ü']) {
		const stored = sealToken(token, account('a'));
		expect(unsealToken(stored, account('a'))).toBe(token);
		expect(unsealToken(stored, account('b'))).toBeUndefined();
		expect(withoutSeal(stored)).toBe(token);
	}
	const seal = sealToken('', account('a'));
	for (const none of [undefined, null, 7, '', '.', 'bare', '.bare', seal, `${seal}x`.slice(1)]) {
		expect(unsealToken(none, account('a'))).toBeUndefined();
	}
});
