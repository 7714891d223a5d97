import { change, create, getAll, useSandbox } from '../support/fixture';
import { contextOf } from './batch';

/*
 * Timeout limits each request as a whole, also a response that begins in time but never ends. The timeout of n8n's HTTP
 * client doesn't limit such responses.
 */

const fixture = useSandbox();

const options = { maxRetries: 0, timeout: 200 };

test.each([
	['a create', create({ options }), true],
	['a state change', change('stop', { jobId: 'a-job', options }), false],
	['a list', getAll({ options }), false],
] as const)(
	'The execution of %s ends at Timeout if its response arrives in small parts',
	async (_, parameters, mayExist) => {
		// The login also has to be over in time.
		await fixture.succeeds(getAll());
		fixture.sandbox.clearCalls();
		fixture.meets('others', { kind: 'drip', when: 'afterActing' });
		const began = Date.now();
		const result = await fixture.engine.run({ parameters });
		// Without the limit, the test would take a minute.
		expect(Date.now() - began).toBeLessThan(15_000);
		expect(result.error?.message).toContain("The service didn't answer within 0.2 s");
		expect(contextOf(result).jobMayExist).toBe(mayExist);
		expect(fixture.sandbox.calls).toHaveLength(1);
	},
);

test.each([2 ** 31, 1e15])('A Timeout of %s ms does not end at once', async (timeout) => {
	await fixture.succeeds(getAll({ options: { maxRetries: 0, timeout } }));
});
