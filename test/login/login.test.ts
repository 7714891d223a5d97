import type { IDataObject, IHttpRequestHelper } from 'n8n-workflow';

import type { ServiceError } from '../../nodes/JobOrchestration/service/serviceError';
import { startSandbox } from '../../sandbox';
import {
	create,
	credentialFor,
	getAll,
	numbered,
	sendingsOfRejected,
	useSandbox,
} from '../engine/fixture';

const fixture = useSandbox({ recordCalls: true });

const batch = (options: IDataObject = {}) =>
	create({ displayName: '=Job {{ $json.n }}', options: { concurrency: 20, ...options } as never });

test('the log-in sends what the interface asks for, and its token goes with each call', async () => {
	await fixture.engine.run({ parameters: getAll() });
	const [login, list] = fixture.sandbox.calls;
	expect(login).toMatchObject({
		method: 'POST',
		path: '/oauth/login',
		body: { userName: 'demo', password: 'demo-password', type: 'basic' },
		token: undefined,
	});
	expect(list?.token).toBe(fixture.engine.storedToken);
});

test('the token is stored with the credential, and used by the next run', async () => {
	await fixture.engine.run({ parameters: getAll() });
	await fixture.engine.run({ parameters: getAll() });
	expect(fixture.callsOf('login')).toHaveLength(1);
	expect(fixture.callsOf('listClusters')).toHaveLength(2);
});

test('2,000 items on an empty token at 20 at once: one log-in, 20 connections at most, in order', async () => {
	const { items, error } = await fixture.engine.run({ parameters: batch() }, numbered(2_000));
	expect(error).toBeUndefined();
	expect(items.map(({ json }) => json.displayName)).toEqual(
		numbered(2_000).map(({ n }) => `Job ${String(n)}`),
	);
	expect(fixture.sandbox.store.jobs.size).toBe(2_000);
	expect(fixture.callsOf('login')).toHaveLength(1);
	expect(fixture.sandbox.connections.peak).toBeLessThanOrEqual(20);
}, 60_000);

test('the token dies in mid-run: one more log-in, and no job is lost or doubled', async () => {
	fixture.sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'createJob' && nOfOperation === 100 ? { kind: 'expireTokens' } : undefined,
	);
	const { items, error } = await fixture.engine.run({ parameters: batch() }, numbered(300));
	expect(error).toBeUndefined();
	expect(items).toHaveLength(300);
	expect(fixture.sandbox.store.jobs.size).toBe(300);
	expect(fixture.callsOf('login')).toHaveLength(2);
	const tokens = fixture
		.callsOf('createJob')
		.flatMap(({ token, status }) => (status === 200 ? [token] : []));
	expect(new Set(tokens).size).toBe(2);
	expect(tokens.at(-1)).toBe(fixture.engine.storedToken);
});

test.each(['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const)(
	'a wrong password with 100 items is tried once: %s',
	async (onError) => {
		fixture.engine.saveCredential({
			...credentialFor(fixture.sandbox),
			password: `wrong ${onError}`,
		});
		const { items, error } = await fixture.engine.run(
			{ parameters: batch(), onError },
			numbered(100),
		);
		expect(fixture.callsOf('login')).toHaveLength(1);
		expect(fixture.sandbox.store.jobs.size).toBe(0);
		if (onError === 'stopWorkflow') {
			expect(error?.message).toBe('The user name or the password is wrong');
		} else {
			expect(items.map(({ json }) => json.error)).toEqual(
				new Array(100).fill('The user name or the password is wrong'),
			);
			expect(items.map(({ json }) => json.message)).toMatchObject(
				new Array(100).fill({ httpStatus: 401, jobMayExist: false }),
			);
		}
	},
);

test('a password that becomes wrong in mid-run is tried once', async () => {
	fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
		if (operation === 'createJob' && nOfOperation === 50) return { kind: 'expireTokens' };
		if (operation !== 'login' || nOfOperation === 1) return undefined;
		return { kind: 'answer', when: 'beforeActing', status: 401 };
	});
	const { items } = await fixture.engine.run(
		{ parameters: batch(), onError: 'continueRegularOutput' },
		numbered(200),
	);
	expect(items).toHaveLength(200);
	expect(fixture.callsOf('login')).toHaveLength(2);
});

test('a wrong password is tried once in an execution, however long that takes', async () => {
	fixture.engine.saveCredential({ ...credentialFor(fixture.sandbox), password: 'wrong for hours' });
	// An hour goes by whenever somebody looks at the clock.
	let now = Date.now();
	const clock = jest.spyOn(Date, 'now').mockImplementation(() => (now += 3_600_000));
	const { items } = await fixture.engine.run(
		{ parameters: batch({ concurrency: 1 }), onError: 'continueRegularOutput' },
		numbered(5),
	);
	clock.mockRestore();
	expect(items.map(({ json }) => json.error)).toEqual(
		new Array(5).fill('The user name or the password is wrong'),
	);
	expect(fixture.callsOf('login')).toHaveLength(1);
});

test('a refused password is forgotten as soon as the credential changes', async () => {
	const wrong = { ...credentialFor(fixture.sandbox), password: 'mistyped' };
	fixture.engine.saveCredential(wrong);
	await fixture.engine.run({ parameters: getAll() });
	fixture.engine.saveCredential(credentialFor(fixture.sandbox));
	const { error } = await fixture.engine.run({ parameters: getAll() });
	expect(error).toBeUndefined();
	expect(fixture.callsOf('login')).toHaveLength(2);
});

test('a service that can not log in at the moment is asked again', async () => {
	fixture.sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'login' && nOfOperation === 1
			? { kind: 'answer', when: 'beforeActing', status: 503 }
			: undefined,
	);
	const { error } = await fixture.engine.run({ parameters: create() });
	expect(error).toBeUndefined();
	expect(fixture.callsOf('login')).toHaveLength(2);
	expect(fixture.sandbox.store.jobs.size).toBe(1);
});

test('a token that the service rejects right away is renewed once, and the request sent once more', async () => {
	fixture.sandbox.faults.plan(({ operation }) =>
		operation === 'createJob' ? { kind: 'answer', when: 'beforeActing', status: 401 } : undefined,
	);
	const { error } = await fixture.engine.run({ parameters: create() });
	expect(error?.message).toBe('The service rejected the token that it had just given');
	expect(error).toMatchObject({ httpCode: '401', context: { jobMayExist: false } });
	expect(fixture.callsOf('login')).toHaveLength(2);
	expect(fixture.callsOf('createJob')).toHaveLength(await sendingsOfRejected());
});

test('a create that breaks is sent once, though its token is one that others had fetched', async () => {
	await fixture.engine.run({ parameters: getAll() });
	fixture.engine.saveCredential(credentialFor(fixture.sandbox));
	fixture.sandbox.faults.plan(() => ({ kind: 'break', when: 'afterActing' }));
	const { error } = await fixture.engine.run({ parameters: create() });
	expect(error).toMatchObject({ context: { jobMayExist: true } });
	expect(fixture.callsOf('createJob')).toHaveLength(1);
	expect(fixture.callsOf('login')).toHaveLength(1);
});

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

	test('with the token just rejected, logs in', async () => {
		const first = String(await ask(''));
		const [second, same] = await Promise.all([ask(first), ask(first)]);
		expect(second).not.toBe(first);
		expect(same).toBe(second);
		expect(logins()).toBe(2);
	});

	test('with an older token than the newest, gets the newest without a log-in', async () => {
		const first = String(await ask(''));
		const second = String(await ask(first));
		const third = await ask(second);
		expect(await ask(first)).toBe(third);
		expect(await ask(second)).toBe(third);
		expect(logins()).toBe(3);
	});

	test('with a token that only another process can have fetched, logs in', async () => {
		const first = await ask('');
		const other = await ask('fetched-elsewhere');
		expect(other).not.toBe(first);
		expect(logins()).toBe(2);
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
		await expect(ask('', wrong)).rejects.toThrow('The user name or the password is wrong');
		await expect(ask('', wrong)).rejects.toThrow('The user name or the password is wrong');
		expect(logins()).toBe(1);
		later(20);
		await expect(ask('', wrong)).rejects.toThrow('The user name or the password is wrong');
		expect(logins()).toBe(2);
	});

	test('with a log-in that fails is told what to do in the message, all that the test of a credential shows', async () => {
		const url = fixture.sandbox.url;
		await expect(ask('', { password: 'wrong once more' })).rejects.toThrow(
			`The user name or the password is wrong. The service at ${url} refused the log-in. Correct the credential;`,
		);
		await expect(ask('', { baseUrl: `${url}/elsewhere` })).rejects.toThrow(
			`There is no log-in at ${url}/elsewhere/oauth/login. Check the Base URL in the credential`,
		);
	});

	test.each<[unknown, string]>([
		['a-token', 'a text'],
		['', 'nothing'],
		['<html><title>Sign in</title></html>', 'an HTML page'],
		[['a-token'], 'a list'],
		[{ token: 'a-token' }, 'an object of other fields (token)'],
		[{ data: 'a-token' }, 'an object of other fields (data)'],
		[{ body: 'a-token' }, 'an object of other fields (body)'],
		[{ data: { token: 'a-token' } }, 'an object of other fields (data)'],
		[{ data: { message: 'Come back later' } }, '"Come back later"'],
		[{ message: 'No seats left' }, '"No seats left"'],
		[{ access_token: '' }, 'an object of other fields (access_token)'],
		[{ access_token: 7 }, 'an object of other fields (access_token)'],
	])('and is answered %j is told what came, without what may be a token', async (body, came) => {
		fixture.sandbox.faults.plan(() => ({
			kind: 'answer',
			when: 'beforeActing',
			status: 200,
			body,
		}));
		await expect(ask('')).rejects.toThrow(
			`The service answered the log-in with ${came} instead of a token`,
		);
	});

	test('with an empty form logs in with empty texts, which the service refuses', async () => {
		const empty = { userName: undefined, password: undefined, accessToken: undefined };
		await expect(ask('', empty)).rejects.toThrow('The user name or the password is wrong');
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
		for (const [status, said] of [
			[403, `no user with ${password}`],
			[200, { message: `no user with ${password}` }],
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
			expect(`${message} ${String(description)}`).toContain('"no user with ***"');
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

describe('a request of another node with this credential', () => {
	const authenticate = async (request: IDataObject, credential: IDataObject = {}) => {
		const { authenticate: sign } = fixture.engine.loaded.credentialType('jobOrchestrationApi');
		if (typeof sign !== 'function') throw new Error('It is a function');
		return await sign(
			{ ...credentialFor(fixture.sandbox), accessToken: 'the-token', ...credential } as never,
			request as never,
		);
	};

	test('gets the token, and follows no redirect', async () => {
		expect(
			await authenticate({ url: `${fixture.sandbox.url}/api/v1/other`, headers: { A: 'b' } }),
		).toEqual({
			url: `${fixture.sandbox.url}/api/v1/other`,
			headers: { A: 'b', Authorization: 'Bearer the-token' },
			disableFollowRedirect: true,
			followRedirect: false,
			followAllRedirects: false,
		});
	});

	test('may go to any path of the host', async () => {
		const { url } = fixture.sandbox;
		expect(await authenticate({ url: `${url}/other` }, { baseUrl: `${url}/tools` })).toMatchObject({
			headers: { Authorization: 'Bearer the-token' },
		});
	});

	test('accepts any certificate only where the credential says so', async () => {
		const url = `${fixture.sandbox.url}/api/v1/other`;
		expect(await authenticate({ url }, { ignoreSslIssues: true })).toMatchObject({
			skipSslCertificateValidation: true,
			rejectUnauthorized: false,
		});
	});

	test.each([
		{ url: 'https://elsewhere.example.com/api' },
		{ uri: 'https://elsewhere.example.com/api' },
		{ baseURL: 'https://elsewhere.example.com', url: '/api' },
		{ url: 'http://127.0.0.1:1/api' },
	])('is refused where it goes elsewhere: %j', async (request) => {
		await expect(authenticate(request)).rejects.toThrow(
			`This credential is for ${fixture.sandbox.url} only`,
		);
	});
});
