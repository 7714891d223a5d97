import type { IDataObject, IHttpRequestHelper } from 'n8n-workflow';

import type { ServiceError } from '../../nodes/JobOrchestration/service/errors/serviceError';
import { startSandbox } from '../../sandbox';
import { answer } from '../support/answer';
import { credentialFor, useSandbox } from '../support/fixture';
import { Client } from '../sandbox/client';

const fixture = useSandbox({ recordCalls: true });

describe('whoever asks the credential for a token', () => {
	/** Asks as n8n does; the answer comes from the real sandbox. */
	async function ask(
		accessToken: string,
		changed: IDataObject = {},
		helpers: IHttpRequestHelper['helpers'] = fixture.engine.helpers(),
	): Promise<unknown> {
		const type = fixture.engine.loaded.credentialType('jobOrchestrationApi');
		const credentials = { ...credentialFor(fixture.sandbox), accessToken, ...changed };
		const output = await type.preAuthentication?.call(
			{ helpers } as IHttpRequestHelper,
			credentials as never,
		);
		return output?.accessToken;
	}

	afterEach(() => {
		jest.useRealTimers();
	});

	const logins = () => fixture.callsOf('login').length;

	/** Lets so many seconds go by on the clock. */
	function later(seconds: number): void {
		jest.useFakeTimers({
			doNotFake: [
				'nextTick',
				'setImmediate',
				'setTimeout',
				'setInterval',
				'queueMicrotask',
				'clearTimeout',
				'clearInterval',
				'clearImmediate',
				'performance',
				'hrtime',
			],
			now: Date.now() + seconds * 1000,
		});
	}

	test('at the same moment, waits for one log-in', async () => {
		const tokens = await Promise.all(Array.from({ length: 500 }, async () => await ask('')));
		expect(new Set(tokens).size).toBe(1);
		expect(logins()).toBe(1);
	});

	test('with a token that the service still takes, gets none', async () => {
		const first = String(await ask(''));
		expect(await Promise.all([ask(first), ask(first)])).toEqual([undefined, undefined]);
		expect(logins()).toBe(1);
	});

	test('with a token that the service rejects, logs in', async () => {
		const first = String(await ask(''));
		fixture.sandbox.tokens.expireAll();
		const [second, same] = await Promise.all([ask(first), ask(first)]);
		expect(second).not.toBe(first);
		expect(same).toBe(second);
		expect(logins()).toBe(2);
	});

	test('with an older token than the newest, gets the newest without a log-in', async () => {
		const first = String(await ask(''));
		fixture.sandbox.tokens.expireAll();
		const second = String(await ask(first));
		fixture.sandbox.tokens.expireAll();
		const third = await ask(second);
		expect(await ask(first)).toBe(third);
		expect(await ask(second)).toBe(third);
		expect(logins()).toBe(3);
	});

	test('with a token that another process has fetched, keeps it as long as it is good', async () => {
		const mine = String(await ask(''));
		const seal = mine.slice(0, mine.indexOf('.') + 1);
		const { body } = await new Client(fixture.sandbox).login();
		const theirs = (body as { access_token: string }).access_token;
		expect(await ask(`${seal}${theirs}`)).toBeUndefined();
		fixture.sandbox.tokens.expireAll();
		expect(await ask(`${seal}${theirs}`)).not.toBe(mine);
		expect(logins()).toBe(3);
	});

	test('without a token, right after a log-in gets its token, and a while later logs in', async () => {
		const first = await ask('');
		expect(await ask('')).toBe(first);
		later(6);
		expect(await ask('')).not.toBe(first);
		expect(logins()).toBe(2);
	});

	test('with a refused password is refused without asking, for some seconds', async () => {
		const wrong = { password: 'refused' };
		await expect(ask('', wrong)).rejects.toThrow('The username or the password is wrong');
		await expect(ask('', wrong)).rejects.toThrow('The username or the password is wrong');
		expect(logins()).toBe(1);
		later(40);
		await expect(ask('', wrong)).rejects.toThrow('The username or the password is wrong');
		expect(logins()).toBe(2);
	});

	test('with a log-in that fails is told what to do in the message, all that the test of a credential shows', async () => {
		const url = fixture.sandbox.url;
		await expect(ask('', { password: 'wrong once more' })).rejects.toThrow(
			`The username or the password is wrong. Correct it in the credential.`,
		);
		await expect(ask('', { baseUrl: `${url}/elsewhere` })).rejects.toThrow(
			`No login endpoint at ${url}/elsewhere/oauth/login. Check the 'Base URL' in the credential`,
		);
	});

	test.each<[unknown, string]>([
		['a-token', 'a text'],
		['', 'nothing'],
		['<html><title>Sign in</title></html>', 'an HTML page'],
		[['a-token'], 'a list'],
		[{ token: 'a-token' }, 'an object with the fields token'],
		[{ data: 'a-token' }, 'an object with the fields data'],
		[{ body: 'a-token' }, 'an object with the fields body'],
		[{ data: ['a-token'] }, 'an object with the fields data'],
		[{ data: { data: 'a-token' } }, 'an object with the fields data'],
		[{ error: { data: 'a-token' } }, 'an object with the fields error'],
		[{ errors: [{ body: ['a-token'] }] }, 'an object with the fields errors'],
		[{ data: { token: 'a-token' } }, 'an object with the fields data'],
		[{ data: { message: 'Come back later' } }, 'an object with the fields data'],
		[{ message: 'No seats left' }, '"No seats left"'],
		[{ access_token: '' }, 'an object with the fields access_token'],
		[{ access_token: 7 }, 'an object with the fields access_token'],
	])('and is answered %j is told what came, without what may be a token', async (body, came) => {
		fixture.sandbox.faults.plan(() => answer(200, body));
		await expect(ask('')).rejects.toThrow(`It sent ${came} (HTTP 200).`);
	});

	test.each([
		[429, 'The service is receiving too many logins. Try again later.'],
		[499, 'The service refused the login. Check'],
		[500, "The service can't log anyone in at the moment. Try again later."],
	])('and is answered %s is told whose fault that is', async (status, said) => {
		fixture.sandbox.faults.plan(() => answer(status));
		await expect(ask('')).rejects.toThrow(said);
	});

	test('with an empty form logs in with empty texts, which the service refuses', async () => {
		const empty = { userName: undefined, password: undefined, accessToken: undefined };
		await expect(ask('', empty)).rejects.toThrow('The username or the password is wrong');
		expect(fixture.callsOf('login').map(({ body }) => body)).toEqual([
			{ userName: '', password: '', type: 'basic' },
		]);
	});

	test('and is sent elsewhere does not take the password there', async () => {
		const other = await startSandbox();
		try {
			fixture.sandbox.faults.plan(() => ({
				kind: 'redirect',
				status: 307,
				location: `${other.url}/oauth/login`,
			}));
			await expect(ask('')).rejects.toThrow(`redirects to ${other.url}/oauth/login`);
			expect(other.calls).toEqual([]);
		} finally {
			await other.close();
		}
	});

	test('and gets its password back in a refusal does not repeat it', async () => {
		const { password } = fixture.sandbox;
		for (const [status, said, shown] of [
			[403, `no user with ${password}`, 'The service refused this user'],
			[200, { message: `no user with ${password}` }, '(not shown: contains a secret)'],
		] as const) {
			fixture.sandbox.faults.plan(() => ({
				kind: 'answer',
				when: 'beforeActing',
				status,
				body: said,
			}));
			const error: unknown = await ask('', { userName: `user ${status}` }).catch(
				(reason: unknown) => reason,
			);
			const { message, description } = error as ServiceError;
			expect(`${message} ${String(description)}`).toContain(shown);
			expect(`${message} ${String(description)}`).not.toContain('no user with');
		}
	});

	test('and is cancelled meanwhile is told just that', async () => {
		const cancelled = Object.assign(new Error('canceled'), { code: 'ERR_CANCELED' });
		const httpRequest = async () => await Promise.reject(cancelled);
		await expect(ask('', {}, { httpRequest } as never)).rejects.toMatchObject({
			message: 'The execution was cancelled',
		});
	});

	test('as another user, or of another service, has a log-in of their own', async () => {
		const other = await startSandbox();
		try {
			const [mine, theirs] = await Promise.all([ask(''), ask('', { baseUrl: other.url })]);
			expect(mine).not.toBe(theirs);
			await expect(ask('', { userName: 'nobody' })).rejects.toThrow();
			expect(await ask('')).toBe(mine);
			expect(other.calls).toHaveLength(1);
			expect(logins()).toBe(2);
		} finally {
			await other.close();
		}
	});
});
