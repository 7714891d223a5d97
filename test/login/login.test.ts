import type { IDataObject, IHttpRequestHelper } from 'n8n-workflow';

import type { ServiceError } from '../../nodes/JobOrchestration/service/messages/serviceError';
import { startSandbox } from '../../sandbox';
import { answer } from '../engine/answer';
import { create, credentialFor, getAll, numbered, useSandbox } from '../engine/fixture';
import { hurry } from '../engine/hurry';
import { Client } from '../sandbox/client';

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
	expect(list?.token).toBe(fixture.engine.token);
	expect(list?.token).toMatch(/^[\w-]{32}$/);
});

test('the token is stored with the credential, and used by the next run', async () => {
	await fixture.engine.run({ parameters: getAll() });
	await fixture.engine.run({ parameters: getAll() });
	expect(fixture.callsOf('login')).toHaveLength(1);
	expect(fixture.callsOf('listClusters')).toHaveLength(2);
});

test('500 items on an empty token at 20 at once: one log-in, 20 connections at most, in order', async () => {
	const { items, error } = await fixture.engine.run({ parameters: batch() }, numbered(500));
	expect(error).toBeUndefined();
	expect(items.map(({ json }) => json.displayName)).toEqual(
		numbered(500).map(({ n }) => `Job ${String(n)}`),
	);
	expect(fixture.sandbox.store.jobs.size).toBe(500);
	expect(fixture.callsOf('login')).toHaveLength(1);
	expect(fixture.sandbox.connections.peak).toBeLessThanOrEqual(20);
});

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
	expect(tokens.at(-1)).toBe(fixture.engine.token);
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
			expect(items.map(({ json }) => json.message)).toEqual(
				new Array(100).fill('The user name or the password is wrong'),
			);
			expect(items.map(({ json }) => json.error)).toMatchObject(
				new Array(100).fill({ httpStatus: 401, jobMayExist: false }),
			);
		}
	},
);

test('a password that becomes wrong in mid-run is tried once', async () => {
	fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
		if (operation === 'createJob' && nOfOperation === 50) return { kind: 'expireTokens' };
		if (operation !== 'login' || nOfOperation === 1) return undefined;
		return answer(401);
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
	expect(items.map(({ json }) => json.message)).toEqual(
		new Array(5).fill('The user name or the password is wrong'),
	);
	expect(fixture.callsOf('login')).toHaveLength(1);
});

test('a wrong password is tried once in an execution, by all of its nodes, and again by a later one', async () => {
	fixture.engine.saveCredential({ ...credentialFor(fixture.sandbox), password: 'wrong twice' });
	// A minute goes by whenever somebody looks at the clock.
	let now = Date.now();
	const clock = jest.spyOn(Date, 'now').mockImplementation(() => (now += 60_000));
	const node = { parameters: getAll(), onError: 'continueRegularOutput' } as const;
	for (const logins of [1, 2]) {
		const { items } = await fixture.engine.start([node, node], [{}]).result;
		expect(items[0]?.json.message).toBe('The user name or the password is wrong');
		expect(fixture.callsOf('login')).toHaveLength(logins);
	}
	clock.mockRestore();
});

test('a log-in that is refused late holds the others as long as one refused at once', async () => {
	fixture.engine.saveCredential({ ...credentialFor(fixture.sandbox), password: 'wrong and slow' });
	const now = Date.now.bind(Date);
	let passed = 0;
	const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + passed);
	fixture.sandbox.faults.plan(({ operation }) => {
		if (operation === 'login') passed += 60_000;
		return undefined;
	});
	await fixture.engine.run({ parameters: getAll() });
	await fixture.engine.run({ parameters: getAll() });
	clock.mockRestore();
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
		operation === 'login' && nOfOperation === 1 ? answer(503) : undefined,
	);
	const { error } = await fixture.engine.run({ parameters: create() });
	expect(error).toBeUndefined();
	expect(fixture.callsOf('login')).toHaveLength(2);
	expect(fixture.sandbox.store.jobs.size).toBe(1);
});

test('a password that is a number is struck out of an error, too', async () => {
	const credential = credentialFor(fixture.sandbox);
	fixture.engine.saveCredential({ ...credential, password: 24_681_357 as never });
	fixture.sandbox.faults.plan(({ operation, body }) => ({
		kind: 'answer',
		when: 'beforeActing',
		status: operation === 'login' ? 200 : 400,
		body:
			operation === 'login'
				? { access_token: 'a-token' }
				: { message: `Not 24681357: ${typeof body}` },
	}));
	const { error } = await fixture.engine.run({ parameters: create() });
	expect(error?.description).toMatch(/^The service says: "Not \*\*\*: object"/);
});

describe('a service that rejects each token', () => {
	beforeEach(() => void hurry());
	afterEach(() => jest.restoreAllMocks());

	async function rejectEach() {
		fixture.sandbox.faults.plan(({ operation }) =>
			operation === 'createJob' ? answer(401, { message: 'not you' }) : undefined,
		);
		const { items } = await fixture.engine.run(
			{ parameters: batch({ concurrency: 1 }), onError: 'continueRegularOutput' },
			numbered(3),
		);
		expect(items.map(({ json }) => json.message)).toEqual(
			new Array(3).fill('The service rejected the token that it had just issued'),
		);
		expect(items.map(({ json }) => json.error)).toMatchObject(
			new Array(3).fill({
				description: expect.stringMatching(/^The service says: "not you" \(HTTP 401\)/),
				httpStatus: 401,
				jobMayExist: false,
			}),
		);
		const sent = fixture.callsOf('createJob');
		expect(new Set(sent.map(({ token }) => token)).size).toBe(sent.length);
		return { sent: sent.length, logins: fixture.callsOf('login').length };
	}

	test('is sent each request once more', async () => {
		expect(await rejectEach()).toEqual({ sent: 2 + 2 + 2, logins: 2 + 2 + 2 });
	});

	test('is sent each request once more where it has taken another before, too', async () => {
		await fixture.engine.run({ parameters: getAll() });
		fixture.sandbox.clearCalls();
		expect(await rejectEach()).toEqual({ sent: 2 + 2 + 2, logins: 1 + 2 + 2 });
	});
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
		await expect(ask('', wrong)).rejects.toThrow('The user name or the password is wrong');
		await expect(ask('', wrong)).rejects.toThrow('The user name or the password is wrong');
		expect(logins()).toBe(1);
		later(40);
		await expect(ask('', wrong)).rejects.toThrow('The user name or the password is wrong');
		expect(logins()).toBe(2);
	});

	test('with a log-in that fails is told what to do in the message, all that the test of a credential shows', async () => {
		const url = fixture.sandbox.url;
		await expect(ask('', { password: 'wrong once more' })).rejects.toThrow(
			`The user name or the password is wrong. Correct it in the credential.`,
		);
		await expect(ask('', { baseUrl: `${url}/elsewhere` })).rejects.toThrow(
			`There is no log-in at ${url}/elsewhere/oauth/login. Check the 'Base URL' in the credential`,
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
		[{ data: { message: 'Come back later' } }, '"Come back later"'],
		[{ message: 'No seats left' }, '"No seats left"'],
		[{ access_token: '' }, 'an object with the fields access_token'],
		[{ access_token: 7 }, 'an object with the fields access_token'],
	])('and is answered %j is told what came, without what may be a token', async (body, came) => {
		fixture.sandbox.faults.plan(() => answer(200, body));
		await expect(ask('')).rejects.toThrow(`It sent ${came} (HTTP 200).`);
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
