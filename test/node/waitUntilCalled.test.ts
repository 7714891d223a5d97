import { ExecuteContext } from 'n8n-core';
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { create, useSandbox } from '../support/fixture';
import type { NodeOptions } from '../support/run';

/*
 * Create with Wait Until Called passes an address to the job and waits, and no Retry creates the job again. The tests
 * in test/host contain the call itself, in a real n8n.
 */

const fixture = useSandbox();

const waiting = (parameters: INodeParameters = {}) =>
	create({ options: { waitUntilCalled: 'callbackUrl', waitLimit: 60 }, ...parameters });

/** The output of Create while it waits: the job, without a call. */
const noCall = [expect.objectContaining({ displayName: 'Report', callback: null }) as unknown];

test.each<[id: string, INodeParameters, inputs?: INodeParameters]>([
	// The option with its default value, which the editor stores (form.test.ts).
	['callbackUrl', { waitUntilCalled: 'callbackUrl' }, { inputs: { input: [{ id: 'b' }] } }],
	['a', { waitUntilCalled: ' a' }, { specifyParameters: 'json', inputsJson: '[{ "id": "b" }]' }],
	['callbackUrl', { waitUntilCalled: '' }],
	['callbackUrl', { waitUntilCalled: ' ', waitLimit: '' }],
	['callbackUrl', { waitUntilCalled: '={{ $json.absent }}', waitLimit: '={{ $json.absent }}' }],
	['callbackUrl', { waitUntilCalled: '={{ null }}', waitLimit: '={{ null }}' }],
])(
	'the input %s contains the address that the job calls, with %j, and n8n waits for an hour',
	async (id, options, inputs = {}) => {
		const parameters = create({ options, ...inputs });
		const { items, run } = await fixture.succeeds(parameters);
		expect(items.map(({ json }) => json)).toEqual(noCall);
		expect(Math.abs(Number(run.waitTill) - Date.now() - 3_600_000)).toBeLessThan(60_000);
		const address = { id, default: expect.stringContaining('http://127.0.0.1:5678') as unknown };
		const others = Object.keys(inputs).length === 0 ? [] : [{ id: 'b' }];
		expect(fixture.sentJobs()).toMatchObject([{ inputs: [...others, address] }]);
	},
);

const isTaken = /'Wait Until Called' is "callbackUrl", which is already an input of the job/;
const withSpaces = '[{ "id": " callbackUrl " }]';

test.each<[string, INodeParameters, IDataObject[], RegExp]>([
	['an input of that ID', { inputs: { input: [{ id: 'callbackUrl', value: '' }] } }, [{}], isTaken],
	[
		'an input of that ID with spaces, as JSON',
		{ specifyParameters: 'json', inputsJson: withSpaces },
		[{}],
		isTaken,
	],
	['two items', {}, [{}, {}], /'Wait Until Called' takes one item per execution, not 2/],
])('Create sends nothing with %s', async (_, parameters, items, message) => {
	const { error, run } = await fixture.engine.run({ parameters: waiting(parameters) }, items);
	expect(error?.message).toMatch(message);
	expect(run.waitTill).toBeUndefined();
	expect(fixture.sandbox.calls).toEqual([]);
});

test('Create does not wait for an item that fails', async () => {
	const parameters = waiting({ workCluster: { __rl: true, mode: 'id', value: 'no-cluster' } });
	const { items, run } = await fixture.engine.run({ parameters, onError: 'continueRegularOutput' });
	expect(items).toHaveLength(1);
	expect(run.waitTill).toBeUndefined();
});

test('Retry after a wait that ended without a call creates no second job, and does not wait again', async () => {
	const nodes = [{ parameters: waiting() }];
	const result = await fixture.engine.start(nodes, [{}]).result;
	// n8n leaves an execution in this state when its wait has ended: without a waiting time, and with the node on the
	// stack.
	delete result.run.data.waitTill;
	const retried = await fixture.engine.retry(result, nodes);
	expect(retried.items.map(({ json }) => json)).toEqual(result.items.map(({ json }) => json));
	expect(retried.run.waitTill).toBeUndefined();
	expect(fixture.sentJobs()).toHaveLength(1);
});

test('Retry returns what the job sent, if n8n crashed after it had received the call', async () => {
	// This covers a special case: with an error output, n8n empties the list that a node returns.
	const nodes: NodeOptions[] = [{ parameters: waiting(), onError: 'continueErrorOutput' }];
	const result = await fixture.engine.start(nodes, [{}]).result;
	// n8n stores an execution in this state when a call resumes it.
	const [entry] = result.run.data.executionData?.nodeExecutionStack ?? [];
	const [item] = entry?.data.main?.[0] ?? [];
	if (item !== undefined) item.json = { ...item.json, callback: { state: 'done' } };
	result.run.data.resultData.runData['Node 1']?.pop();
	delete result.run.data.waitTill;
	const retried = await fixture.engine.retry(result, nodes);
	expect(retried.items.map(({ json }) => json)).toEqual([
		expect.objectContaining({ displayName: 'Report', callback: { state: 'done' } }),
	]);
	expect(retried.run.waitTill).toBeUndefined();
	expect(fixture.sentJobs()).toHaveLength(1);
});

test.each(['Retry On Fail', 'Retry'])(
	'if n8n fails to begin the wait, %s waits for the same job',
	async (way) => {
		const settings = { retryOnFail: way === 'Retry On Fail', maxTries: 2, waitBetweenTries: 0 };
		const nodes = [{ parameters: waiting(), settings }];
		const begin = jest.spyOn(ExecuteContext.prototype, 'putExecutionToWait');
		begin.mockRejectedValueOnce(new Error('database is locked'));
		const first = await fixture.engine.start(nodes, [{}]).result;
		const { run, items } = settings.retryOnFail ? first : await fixture.engine.retry(first, nodes);
		expect(begin).toHaveBeenCalledTimes(2);
		expect(run.waitTill).toBeDefined();
		expect(items.map(({ json }) => json)).toEqual(noCall);
		expect(fixture.sentJobs()).toHaveLength(1);
	},
);

test('a cancel while the wait begins ends the wait but not the job', async () => {
	const begin = jest.spyOn(ExecuteContext.prototype, 'putExecutionToWait');
	const running = fixture.engine.start([{ parameters: waiting() }], [{}]);
	begin.mockImplementationOnce(async () => await Promise.resolve(running.cancel()));
	const { run } = await running.result;
	expect(run.status).toBe('canceled');
	expect(fixture.callsOf('changeJobState')).toEqual([]);
	expect([...fixture.sandbox.store.jobs.values()]).toMatchObject([{ state: 'running' }]);
});

test("during the wait, n8n's highlighted data and a hint contain the job's ID, but not its name", async () => {
	fixture.engine.mode = 'manual';
	const { run, hints } = await fixture.engine.run({ parameters: waiting() });
	const [uid] = fixture.sandbox.store.jobs.keys();
	expect(hints).toEqual([
		`If you cancel the execution, job ${uid} goes on. Its ID stays in n8n's log and in the browser's console.`,
	]);
	// n8n 1.x gives nodes no access to the highlighted data.
	const isThere = 'customData' in ExecuteContext.prototype;
	expect(run.data.resultData.metadata).toEqual(isThere ? { job: uid } : undefined);
});

test('each wait has an address of its own with a random part', async () => {
	await fixture.engine.run({ parameters: waiting() });
	await fixture.engine.run({ parameters: waiting() });
	const addresses = fixture.sentJobs().map(({ inputs }) => new URL(inputs?.at(-1)?.default ?? ''));
	expect(addresses.map(({ pathname }) => pathname)).toEqual(['/1/job-called', '/1/job-called']);
	const calls = addresses.map(({ searchParams }) => searchParams.get('call'));
	expect(new Set(calls).size).toBe(2);
	for (const call of calls) expect(call).toMatch(/^[\w-]{32,}$/);
});

test("the address keeps the signature that n8n's own address has", async () => {
	const resumeUrl = 'https://n8n.example.com/webhook-waiting/1?signature=abc';
	jest.spyOn(ExecuteContext.prototype, 'evaluateExpression').mockReturnValue(resumeUrl);
	await fixture.engine.run({ parameters: waiting() });
	const { origin, pathname, searchParams } = new URL(
		fixture.sentJob().inputs?.at(-1)?.default ?? '',
	);
	expect(`${origin}${pathname}`).toBe('https://n8n.example.com/webhook-waiting/1/job-called');
	expect([...searchParams.keys()]).toEqual(['signature', 'call']);
	expect(searchParams.get('signature')).toBe('abc');
});

test('of two Creates in a row, each waits for the call of its own job', async () => {
	const nodes = [{ parameters: waiting() }, { parameters: waiting({ displayName: 'Mail' }) }];
	const first = await fixture.engine.start(nodes, [{}]).result;
	expect(first.run.waitTill).toBeDefined();
	expect(fixture.sentJobs()).toHaveLength(1);
	// n8n goes on in this way after the call, and after the limit.
	const { run, items } = await fixture.engine.retry(first, nodes);
	expect(fixture.sentJobs()).toHaveLength(2);
	expect(run.waitTill).toBeDefined();
	expect(items.map(({ json }) => json)).toEqual([
		expect.objectContaining({ displayName: 'Mail', callback: null }),
	]);
});

test('the longest wait is a year, which a date can hold', async () => {
	const options = { waitUntilCalled: 'a', waitLimit: 525_600 };
	const { run } = await fixture.engine.run({ parameters: create({ options }) });
	expect(Number(run.waitTill) - Date.now()).toBeGreaterThan(364 * 86_400_000);
});

test('Create does not wait if only a Wait Limit is set', async () => {
	const parameters = create({ options: { waitLimit: 5 } });
	const { items, run } = await fixture.engine.run({ parameters });
	expect(items[0]?.json).not.toHaveProperty('callback');
	expect(run.waitTill).toBeUndefined();
	expect(fixture.sentJobs()).toEqual([expect.objectContaining({ inputs: [] })]);
});

test('if n8n cannot begin the wait and the workflow continues, the item fails, and its error names the job', async () => {
	const begin = jest.spyOn(ExecuteContext.prototype, 'putExecutionToWait');
	begin.mockRejectedValueOnce(new Error('The database is locked'));
	const onError = 'continueErrorOutput';
	const { branches, run } = await fixture.engine.run({ parameters: waiting(), onError });
	const [uid] = fixture.sandbox.store.jobs.keys();
	expect(branches[0]).toEqual([]);
	expect(branches[1]).toMatchObject([
		{
			json: {
				message: expect.stringMatching(/^The job was created, but n8n can't wait for its call/),
				error: {
					description: expect.stringContaining(`Job ${uid} `),
					itemIndex: 0,
					httpStatus: null,
					jobMayExist: true,
				},
			},
		},
	]);
	expect(JSON.stringify(branches[1])).toContain('The database is locked');
	expect(run.waitTill).toBeUndefined();
});

test('a tool does not wait', async () => {
	const { answers, run } = await fixture.engine.callTool({ parameters: waiting() }, [{}]);
	expect(answers).toEqual([expect.stringContaining('Report')]);
	expect(run.waitTill).toBeUndefined();
	expect(fixture.sentJobs()).toEqual([expect.objectContaining({ inputs: [] })]);
});
