import type { INodeParameters } from 'n8n-workflow';

import { create, useSandbox } from '../support/fixture';

/* Create with Wait Until Called, up to the call: test/host has the call, in a real n8n. */

const fixture = useSandbox();

const waiting = (parameters: INodeParameters = {}) =>
	create({
		options: { waitUntilCalled: { values: { input: 'callbackUrl', limit: 60 } } },
		...parameters,
	});

const jobs = () => fixture.callsOf('createJob').map(({ body }) => (body as { job: object }).job);

test.each([
	['fields', { inputs: { input: [{ id: 'a', value: '1' }] } }],
	['JSON', { specifyParameters: 'json', inputsJson: '[{ "id": "a" }]' }],
])('the job, its inputs given as %s, also gets the address, and n8n waits', async (_, inputs) => {
	const { items, error, run } = await fixture.engine.run({ parameters: waiting(inputs) });
	expect(error).toBeUndefined();
	expect(items.map(({ json }) => json)).toEqual([
		expect.objectContaining({ displayName: 'Report', callback: null }),
	]);
	const inAnHour = Date.now() + 3_600_000;
	expect(Math.abs(Number(run.waitTill) - inAnHour)).toBeLessThan(60_000);
	const address = { id: 'callbackUrl', default: expect.stringContaining('http://127.0.0.1:5678') };
	expect(jobs()).toEqual([
		expect.objectContaining({
			inputs: [expect.objectContaining({ id: 'a' }), expect.objectContaining(address)],
		}),
	]);
});

test.each([
	[
		'an input of that ID',
		{ inputs: { input: [{ id: 'callbackUrl', value: '' }] } },
		[{}],
		/'Address Input' is "callbackUrl", which is already an input of the job/,
	],
	['two items', {}, [{}, {}], /'Wait Until Called' takes one item per execution, not 2/],
])('with %s, nothing is sent', async (_, parameters, items, message) => {
	const { error, run } = await fixture.engine.run({ parameters: waiting(parameters) }, items);
	expect(error?.message).toMatch(message);
	expect(run.waitTill).toBeUndefined();
	expect(fixture.sandbox.calls).toEqual([]);
});

test('an item that fails does not wait', async () => {
	const parameters = waiting({ workCluster: { __rl: true, mode: 'id', value: 'no-cluster' } });
	const { items, run } = await fixture.engine.run({ parameters, onError: 'continueRegularOutput' });
	expect(items).toHaveLength(1);
	expect(run.waitTill).toBeUndefined();
});

test('Retry of a wait that has ended otherwise creates no second job, and waits no more', async () => {
	const nodes = [{ parameters: waiting() }];
	const result = await fixture.engine.start(nodes, [{}]).result;
	// As n8n leaves a wait that is over: no time to wait for, and the node on the stack.
	delete result.run.data.waitTill;
	const retried = await fixture.engine.retry(result, nodes);
	expect(retried.items.map(({ json }) => json)).toEqual(result.items.map(({ json }) => json));
	expect(retried.run.waitTill).toBeUndefined();
	expect(jobs()).toHaveLength(1);
});

test('a tool does not wait', async () => {
	const { answers, run } = await fixture.engine.callTool({ parameters: waiting() }, [{}]);
	expect(answers).toEqual([expect.stringContaining('Report')]);
	expect(run.waitTill).toBeUndefined();
	expect(jobs()).toEqual([expect.objectContaining({ inputs: [] })]);
});
