import { setTimeout as sleep } from 'node:timers/promises';

import type { Fault, When } from '../../sandbox';
import { change, create, getAll, numbered, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import { until } from '../sandbox/client';
import { batch, contextOf, gate, oneByOne } from './batch';

/*
 * Timeout limits the wait for a login and each request as a whole, also a response that begins in time but never ends. The
 * timeout of n8n's HTTP client doesn't limit such responses.
 */

const fixture = useSandbox();
const { callsOf, meets } = fixture;

const options = { maxRetries: 0, timeout: 1_000 };
/** Returns a fault that delays the response by `ms` milliseconds. */
const late = (ms: number, when: When = 'beforeActing'): Fault => ({
	...{ kind: 'wait', when, until: sleep(ms) },
});

test.each([
	['a create', create({ options }), true],
	['a state change', change('stop', { jobId: 'a-job', options }), false],
	['a list', getAll({ options }), false],
] as const)(
	'The execution of %s ends at Timeout if its response arrives in small parts',
	async (_, parameters, mayExist) => {
		fixture.sandbox.faults.plan(({ operation }) =>
			operation === 'login' ? undefined : { kind: 'drip', when: 'afterActing' },
		);
		const began = Date.now();
		const result = await fixture.engine.run({ parameters });
		// Without the limit, the test would take a minute.
		expect(Date.now() - began).toBeLessThan(15_000);
		expect(result.error?.message).toContain("The service didn't answer within 1 s");
		expect(contextOf(result).jobMayExist).toBe(mayExist);
		expect(fixture.sandbox.calls).toHaveLength(2);
	},
);

test('A login after a late rejection of the token has the whole Timeout, and no item fails', async () => {
	fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
		if (operation === 'login' && nOfOperation === 2) return late(700);
		const isFirst = operation === 'createJob' && nOfOperation === 1;
		return isFirst ? [late(900), { kind: 'expireTokens' }] : undefined;
	});
	const { items, error } = await fixture.engine.run(oneByOne({ timeout: 3_000 }), numbered(4));
	expect(error).toBeUndefined();
	expect(items).toHaveLength(4);
	expect(callsOf('login')).toHaveLength(2);
});

test.each([2 ** 31, 1e15])('A Timeout of %s ms does not end at once', async (timeout) => {
	const { error } = await fixture.engine.run({
		parameters: getAll({ options: { maxRetries: 0, timeout } }),
	});
	expect(error).toBeUndefined();
});

test('If a login never ends, all items fail with its error, and the next execution logs in again', async () => {
	const { orRunOut } = hurry();
	meets('login', () => orRunOut({ kind: 'stall', when: 'beforeActing' }));
	const { items } = await fixture.engine.run(
		{ parameters: batch({ timeout: 20_000 }), onError: 'continueRegularOutput' },
		numbered(300),
	);
	expect(items).toHaveLength(300);
	const says = /^Try again later, or allow more time with the option 'Timeout'/;
	const description = expect.stringMatching(says) as unknown;
	for (const { json } of items) {
		expect(json.message).toMatch(/^The service didn't answer the login within [26]0 s$/);
		expect(json.error).toMatchObject({ description, jobMayExist: false });
	}
	expect(callsOf('login')).toHaveLength(1);
	expect(callsOf('createJob')).toHaveLength(0);
	fixture.sandbox.faults.clear();
	expect((await fixture.engine.run({ parameters: create() })).error).toBeUndefined();
	expect(callsOf('login')).toHaveLength(2);
});

test('An item whose Timeout is too short for the login does not make the other items fail', async () => {
	const held = gate();
	meets('login', () => held.fault);
	const timeout = '={{ $json.n === 0 ? 50 : 60000 }}';
	const running = fixture.engine.start(
		[{ parameters: batch({ timeout, concurrency: 2 }), onError: 'continueRegularOutput' }],
		numbered(8),
	);
	await until(() => callsOf('login').length === 1);
	await sleep(200);
	held.open();
	const { items } = await running.result;
	expect(items[0]?.json.message).toBe("The service didn't answer the login within 0.05 s");
	expect(fixture.sandbox.store.jobs.size).toBe(7);
	expect(callsOf('login')).toHaveLength(1);
});
