import { change, create, getAll, numbered, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import { until } from '../sandbox/client';
import { batch, contextOf, gate } from './batch';

/*
 * Answers that begin in time and never end. The timeout of n8n's HTTP client does not limit those.
 */

const fixture = useSandbox();

const options = { maxRetries: 0, timeout: 300 };
const after = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

test.each([
	['a create', create({ options }), true],
	['a state change', change('stop', { jobId: 'a-job', options }), false],
	['a list', getAll({ options }), false],
] as const)('%s whose answer drips in ends at Timeout', async (_, parameters, mayExist) => {
	fixture.sandbox.faults.plan(({ operation }) =>
		operation === 'login' ? undefined : { kind: 'drip', when: 'afterActing' },
	);
	const began = Date.now();
	const result = await fixture.engine.run({ parameters });
	// A limit that was none would be a minute's.
	expect(Date.now() - began).toBeLessThan(15_000);
	expect(result.error?.message).toContain("The service didn't answer within 0.3 s");
	expect(contextOf(result).jobMayExist).toBe(mayExist);
	expect(fixture.sandbox.calls).toHaveLength(2);
});

test('one limit covers a login and the request after it', async () => {
	fixture.sandbox.faults.plan(({ operation }) => ({
		kind: 'wait',
		when: 'afterActing',
		until: after(operation === 'login' ? 600 : 900),
	}));
	const parameters = create({ options: { maxRetries: 0, timeout: 1_000 } });
	const result = await fixture.engine.run({ parameters });
	expect(contextOf(result)).toMatchObject({ jobMayExist: true, httpStatus: null });
});

test('a token that is rejected late leaves its login the whole Timeout, and no other item fails', async () => {
	fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
		if (operation === 'login' && nOfOperation === 2)
			return { kind: 'wait', when: 'beforeActing', until: after(700) };
		if (operation === 'createJob' && nOfOperation === 1)
			return [{ kind: 'wait', when: 'beforeActing', until: after(900) }, { kind: 'expireTokens' }];
		return undefined;
	});
	const { items, error } = await fixture.engine.run(
		{ parameters: batch({ timeout: 1_500, concurrency: 1 }) },
		numbered(4),
	);
	expect(error).toBeUndefined();
	expect(items).toHaveLength(4);
	expect(fixture.callsOf('login')).toHaveLength(2);
});

test.each([2 ** 31, 1e15])('a Timeout of %s ms is not over at once', async (timeout) => {
	const { error } = await fixture.engine.run({
		parameters: getAll({ options: { maxRetries: 0, timeout } }),
	});
	expect(error).toBeUndefined();
});

test('where a login never ends, all items fail with it, and the next caller logs in again', async () => {
	const { orRunOut } = hurry();
	fixture.sandbox.faults.plan(({ operation }) =>
		operation === 'login' ? orRunOut({ kind: 'stall', when: 'beforeActing' }) : undefined,
	);
	const { items } = await fixture.engine.run(
		{ parameters: batch({ timeout: 20_000 }), onError: 'continueRegularOutput' },
		numbered(300),
	);
	expect(items).toHaveLength(300);
	const says = /^Try again later, or allow more time with the option 'Timeout' if/;
	const description = expect.stringMatching(says) as unknown;
	for (const { json } of items) {
		expect(json.message).toBe("The service didn't answer the login within 20 s");
		expect(json.error).toMatchObject({ description, jobMayExist: false });
	}
	expect(fixture.callsOf('login')).toHaveLength(1);
	expect(fixture.callsOf('createJob')).toHaveLength(0);
	fixture.sandbox.faults.clear();
	expect((await fixture.engine.run({ parameters: create() })).error).toBeUndefined();
	expect(fixture.callsOf('login')).toHaveLength(2);
});

test('an item whose Timeout is too short for the login takes none down that has more time', async () => {
	const held = gate();
	fixture.sandbox.faults.plan(({ operation }) =>
		operation === 'login' ? { kind: 'wait', when: 'beforeActing', until: held.opened } : undefined,
	);
	const timeout = '={{ $json.n === 0 ? 50 : 60000 }}';
	const running = fixture.engine.start(
		[{ parameters: batch({ timeout, concurrency: 2 }), onError: 'continueRegularOutput' }],
		numbered(8),
	);
	await until(() => fixture.callsOf('login').length === 1);
	await after(200);
	held.open();
	const { items } = await running.result;
	expect(items[0]?.json.message).toBe("The service didn't answer the login within 0.05 s");
	expect(fixture.sandbox.store.jobs.size).toBe(7);
	expect(fixture.callsOf('login')).toHaveLength(1);
});
