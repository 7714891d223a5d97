import type { IDataObject } from 'n8n-workflow';

import { answer } from '../support/answer';
import { create, credentialFor, getAll, numbered, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';

const fixture = useSandbox({ recordCalls: true });

const batch = (options: IDataObject = {}) =>
	create({ displayName: '=Job {{ $json.n }}', options: { concurrency: 20, ...options } as never });

test('the login sends what the interface asks for, and its token goes with each call', async () => {
	await fixture.engine.run({ parameters: getAll() });
	const [login, list] = fixture.sandbox.calls;
	expect(login).toMatchObject({
		method: 'POST',
		path: '/oauth/login',
		body: { userName: 'demo', password: fixture.sandbox.password, type: 'basic' },
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

test('500 items on an empty token at 20 at once: one login, 20 connections at most, in order', async () => {
	const { items, error } = await fixture.engine.run({ parameters: batch() }, numbered(500));
	expect(error).toBeUndefined();
	expect(items.map(({ json }) => json.displayName)).toEqual(
		numbered(500).map(({ n }) => `Job ${String(n)}`),
	);
	expect(fixture.sandbox.store.jobs.size).toBe(500);
	expect(fixture.callsOf('login')).toHaveLength(1);
	expect(fixture.sandbox.connections.peak).toBeLessThanOrEqual(20);
});

test('the token dies in mid-run: one more login, and no job is lost or doubled', async () => {
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

test('a service that can not log in at the moment is asked again', async () => {
	fixture.sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'login' && nOfOperation === 1 ? answer(503) : undefined,
	);
	const { error } = await fixture.engine.run({ parameters: create() });
	expect(error).toBeUndefined();
	expect(fixture.callsOf('login')).toHaveLength(2);
	expect(fixture.sandbox.store.jobs.size).toBe(1);
});

test('a password that is a number is withheld from an error, too', async () => {
	const credential = credentialFor(fixture.sandbox);
	fixture.engine.saveCredential({ ...credential, password: 24_681_357 as never });
	fixture.sandbox.faults.plan(({ operation }) => ({
		kind: 'answer',
		when: 'beforeActing',
		status: operation === 'login' ? 200 : 400,
		body: operation === 'login' ? { access_token: 'a-token' } : { message: 'Not 24681357' },
	}));
	const { error } = await fixture.engine.run({ parameters: create() });
	expect(error?.description).toMatch(/\nThe service's message isn't shown/);
});

describe('a service that rejects a token', () => {
	beforeEach(() => void hurry());
	afterEach(() => jest.restoreAllMocks());

	// The service accepts the token for another request, so its answer is about the create.
	test.each([
		[false, 1],
		[true, 0],
	])('for creates alone gets no other token; it took one before: %j', async (tookOne, logins) => {
		if (tookOne) await fixture.engine.run({ parameters: getAll() });
		fixture.sandbox.clearCalls();
		fixture.sandbox.faults.plan(({ operation }) =>
			operation === 'createJob' ? answer(401, { message: 'not you' }) : undefined,
		);
		const { items } = await fixture.engine.run(
			{ parameters: batch({ concurrency: 1 }), onError: 'continueRegularOutput' },
			numbered(3),
		);
		const error = {
			description: expect.stringMatching(/\nThe service says: "not you" \(HTTP 401\)/) as unknown,
			httpStatus: 401,
			jobMayExist: false,
		};
		const message = 'The service rejected the token that it had just issued';
		expect(items.map(({ json }) => json)).toMatchObject(new Array(3).fill({ message, error }));
		const tokens = new Set(fixture.callsOf('createJob').map(({ token }) => token));
		expect(tokens.size).toBe(1);
		expect(fixture.callsOf('createJob')).toHaveLength(3);
		expect(fixture.callsOf('login')).toHaveLength(logins);
	});
});

test('a create that breaks is sent once, though another execution fetched its token', async () => {
	await fixture.engine.run({ parameters: getAll() });
	fixture.engine.saveCredential(credentialFor(fixture.sandbox));
	fixture.sandbox.faults.plan(() => ({ kind: 'break', when: 'afterActing' }));
	const { error } = await fixture.engine.run({ parameters: create() });
	expect(error).toMatchObject({ context: { jobMayExist: true } });
	expect(fixture.callsOf('createJob')).toHaveLength(1);
	expect(fixture.callsOf('login')).toHaveLength(1);
});

test('a token is sent as it came, whatever visible ASCII characters it has', async () => {
	const token = String.fromCharCode(...Array.from({ length: 94 }, (_, n) => 0x21 + n));
	expect(token).toMatch(/^!"#.*xyz\{\|\}~$/);
	fixture.sandbox.faults.plan(({ operation }) =>
		answer(200, operation === 'login' ? { access_token: token } : { items: [], metadata: {} }),
	);
	for (let runs = 0; runs < 2; runs += 1) {
		const { error } = await fixture.engine.run({ parameters: getAll() });
		expect(error).toBeUndefined();
	}
	expect(fixture.callsOf('listClusters').map((call) => call.token)).toEqual([token, token]);
	expect(fixture.callsOf('login')).toHaveLength(1);
});

describe('a wrong password', () => {
	const message = 'The username or the password is wrong';
	const savePassword = (password: string) =>
		fixture.engine.saveCredential({ ...credentialFor(fixture.sandbox), password });

	test.each(['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const)(
		'is tried once with 100 items: %s',
		async (onError) => {
			savePassword(`wrong ${onError}`);
			const { items, error } = await fixture.engine.run(
				{ parameters: batch(), onError },
				numbered(100),
			);
			expect(fixture.callsOf('login')).toHaveLength(1);
			expect(fixture.sandbox.store.jobs.size).toBe(0);
			if (onError === 'stopWorkflow') return expect(error?.message).toBe(message);
			const failed = { message, error: { httpStatus: 401, jobMayExist: false } };
			expect(items.map(({ json }) => json)).toMatchObject(new Array(100).fill(failed));
		},
	);

	test('is tried once where it becomes wrong during the run, in the words of the service', async () => {
		fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
			if (operation === 'createJob' && nOfOperation === 50) return { kind: 'expireTokens' };
			return operation === 'login' && nOfOperation > 1 ? answer(401, 'demo exists') : undefined;
		});
		const { items } = await fixture.engine.run(
			{ parameters: batch(), onError: 'continueRegularOutput' },
			numbered(200),
		);
		expect(items).toHaveLength(200);
		expect(JSON.stringify(items)).toContain('The service refused the login: demo exists');
		expect(fixture.callsOf('login')).toHaveLength(2);
	});

	test('is tried once by all nodes of an execution, however long it takes, and again by the next', async () => {
		savePassword('wrong twice');
		// Each look at the clock takes an hour.
		let now = Date.now();
		const clock = jest.spyOn(Date, 'now').mockImplementation(() => (now += 3_600_000));
		const node = { parameters: getAll(), onError: 'continueRegularOutput' } as const;
		for (const logins of [1, 2]) {
			const { items } = await fixture.engine.start([node, node], numbered(5)).result;
			expect(items).toMatchObject(new Array(5).fill({ json: { message } }));
			expect(fixture.callsOf('login')).toHaveLength(logins);
		}
		clock.mockRestore();
	});

	test('that is refused late is remembered as long as one refused at once', async () => {
		savePassword('wrong and slow');
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

	test('is forgotten as soon as the credential changes', async () => {
		savePassword('mistyped');
		await fixture.engine.run({ parameters: getAll() });
		fixture.engine.saveCredential(credentialFor(fixture.sandbox));
		const { error } = await fixture.engine.run({ parameters: getAll() });
		expect(error).toBeUndefined();
		expect(fixture.callsOf('login')).toHaveLength(2);
	});
});
