import type { IDataObject, IHttpRequestHelper } from 'n8n-workflow';

import { answer } from '../support/answer';
import { credentialFor, useSandbox } from '../support/fixture';
import { Client } from '../sandbox/client';

const fixture = useSandbox({ recordCalls: true });

describe('a node that asks the credential for a token', () => {
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

	const logins = () => fixture.callsOf('login').length;

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

	test('with a token that another process has fetched, keeps it as long as it is good', async () => {
		const mine = String(await ask(''));
		const hash = mine.slice(0, mine.indexOf('.') + 1);
		const { body } = await new Client(fixture.sandbox).login();
		const theirs = (body as { access_token: string }).access_token;
		expect(await ask(`${hash}${theirs}`)).toBeUndefined();
		fixture.sandbox.tokens.expireAll();
		expect(await ask(`${hash}${theirs}`)).not.toBe(mine);
		expect(logins()).toBe(3);
	});

	test('with a login that fails is told what to do in the message, all that the test of a credential shows', async () => {
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
		[['a-token'], 'a list'],
		[{ token: 'a-token' }, 'an object with the fields token'],
		[{ data: { data: 'a-token' } }, 'an object with the fields data'],
		[{ error: { data: 'a-token' } }, 'an object with the fields error'],
		[{ errors: [{ body: ['a-token'] }] }, 'an object with the fields errors'],
		[{ data: { message: 'Come back later' } }, 'an object with the fields data'],
		[{ message: 'No seats left' }, 'the message "No seats left"'],
		[{ access_token: 7 }, 'an object with the fields access_token'],
	])('and is answered %j is told what came, without what may be a token', async (body, came) => {
		fixture.sandbox.faults.plan(() => answer(200, body));
		await expect(ask('')).rejects.toThrow(`It sent ${came} (HTTP 200).`);
	});

	test.each([
		[429, 'The service is receiving too many requests. Try again later.'],
		[499, 'The service refused the login. Check'],
		[500, "The service failed to log the user in. The fault is on the service's side."],
	])('and is answered %s is told whose fault that is', async (status, said) => {
		fixture.sandbox.faults.plan(() => answer(status));
		await expect(ask('')).rejects.toThrow(said);
	});

	test('and is cancelled meanwhile is told just that', async () => {
		const cancelled = Object.assign(new Error('canceled'), { code: 'ERR_CANCELED' });
		const httpRequest = async () => await Promise.reject(cancelled);
		await expect(ask('', {}, { httpRequest } as never)).rejects.toMatchObject({
			message: 'The execution was cancelled',
		});
	});
});
