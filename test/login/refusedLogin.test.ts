import type { IDataObject } from 'n8n-workflow';

import { answer } from '../support/answer';
import { create, credentialFor, getAll, numbered, useSandbox } from '../support/fixture';

const fixture = useSandbox({ recordCalls: true });

const batch = (options: IDataObject = {}) =>
	create({ displayName: '=Job {{ $json.n }}', options: { concurrency: 20, ...options } as never });

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
			expect(error?.message).toBe('The username or the password is wrong');
		} else {
			expect(items.map(({ json }) => json.message)).toEqual(
				new Array(100).fill('The username or the password is wrong'),
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
		new Array(5).fill('The username or the password is wrong'),
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
		expect(items[0]?.json.message).toBe('The username or the password is wrong');
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
