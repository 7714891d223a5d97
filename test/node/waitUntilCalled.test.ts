import { ExecuteContext } from 'n8n-core';
import type { IDataObject, INodeParameters, IWebhookFunctions } from 'n8n-workflow';

import { clusterById, create, useSandbox } from '../support/fixture';
import { checkKeys, type NodeOptions } from '../support/run';

/*
 * Create with Wait Until Called passes an address to the job and waits, and no Retry creates the job again. The tests
 * in test/host contain the call itself, in a real n8n.
 */

const fixture = useSandbox();

const waiting = (parameters: INodeParameters = {}) =>
	create({ options: { waitUntilCalled: 'callbackUrl', waitLimit: 60 }, ...parameters });

/** Parameters of a job with one input. */
const inFields = (id: string) => ({ inputs: { input: [{ id }] } });
const inJson = (id: string) => ({ specifyParameters: 'json', inputsJson: `[{ "id": "${id}" }]` });

/** The output of Create while it waits: the job, without a call. */
const noCall = [expect.objectContaining({ displayName: 'Report', callback: null }) as unknown];

test.each<[id: string, minutes: number, INodeParameters, inputs?: INodeParameters]>([
	// The option with its default value, which the editor stores (form.test.ts).
	['callbackUrl', 60, { waitUntilCalled: 'callbackUrl' }, inFields('b')],
	// The longest wait, which a date can hold.
	['a', 525_600, { waitUntilCalled: 'a', waitLimit: 525_600 }],
	['a', 60, { waitUntilCalled: ' a' }, inJson('b')],
	['callbackUrl', 60, { waitUntilCalled: '' }],
	['callbackUrl', 60, { waitUntilCalled: ' ', waitLimit: '' }],
	['callbackUrl', 60, { waitUntilCalled: '={{ null }}', waitLimit: '={{ null }}' }],
])(
	'the input %s contains the address that the job calls, and n8n waits for %i minutes, with %j',
	async (id, minutes, options, inputs = {}) => {
		const parameters = create({ options, ...inputs });
		const { items, run } = await fixture.succeeds(parameters);
		expect(items.map(({ json }) => json)).toEqual(noCall);
		expect(Math.abs(Number(run.waitTill) - Date.now() - minutes * 60_000)).toBeLessThan(60_000);
		const address = { id, default: expect.stringContaining('http://127.0.0.1:5678') as unknown };
		const others = Object.keys(inputs).length === 0 ? [] : [{ id: 'b' }];
		expect(fixture.sentJobs()).toMatchObject([{ inputs: [...others, address] }]);
	},
);

const isTaken = /'Wait Until Called' is "callbackUrl", which is already an input of the job/;

test.each<[string, INodeParameters, IDataObject[], RegExp]>([
	['an input of that ID', inFields('callbackUrl'), [{}], isTaken],
	['an input of that ID with spaces, as JSON', inJson(' callbackUrl '), [{}], isTaken],
	['two items', {}, [{}, {}], /'Wait Until Called' takes one item per execution, not 2/],
])('Create sends nothing with %s', async (_, parameters, items, message) => {
	const { error, run } = await fixture.engine.run({ parameters: waiting(parameters) }, items);
	expect(error?.message).toMatch(message);
	expect(run.waitTill).toBeUndefined();
	expect(fixture.sandbox.calls).toEqual([]);
});

test.each<[why: string, NodeOptions]>([
	['its item fails', { parameters: waiting({ workCluster: clusterById('no-cluster') }) }],
	['only Wait Limit is set', { parameters: create({ options: { waitLimit: 5 } }) }],
	['it runs as a tool', { parameters: waiting(), asTool: true }],
])('Create does not wait if %s', async (why, node) => {
	const onError = 'continueRegularOutput';
	const { items, run } = await fixture.engine.run({ ...node, onError });
	expect(items).toHaveLength(1);
	expect(items[0]?.json).not.toHaveProperty('callback');
	expect(run.waitTill).toBeUndefined();
	if (why !== 'its item fails') expect(fixture.sentJob()).toMatchObject({ inputs: [] });
});

/** Replaces the function by which n8n begins the wait. */
const begin = () => jest.spyOn(ExecuteContext.prototype, 'putExecutionToWait');
const locked = new Error('The database is locked');

/** Returns what n8n gives the node when a job calls this address, and the execution waits with this item. */
const callOf = (address: string, item: unknown) =>
	({
		evaluateExpression: () => item,
		getQueryData: () => ({ call: new URL(address).searchParams.get('call') }),
		getHeaderData: () => ({ 'content-type': 'application/json' }),
		getRequestObject: () => ({
			readRawBody: async () => await Promise.resolve(),
			rawBody: new TextEncoder().encode('{ "state": "done" }'),
		}),
	}) as unknown as IWebhookFunctions;

test('a call of the job resumes the execution, and Retry returns what the job sent, if n8n then crashes', async () => {
	// This covers a special case: with an error output, n8n empties the list that a node returns.
	const nodes: NodeOptions[] = [{ parameters: waiting(), onError: 'continueErrorOutput' }];
	const result = await fixture.engine.start(nodes, [{}]).result;
	const { data } = result.run;
	const [entry] = data.executionData?.nodeExecutionStack ?? [];
	const address = String(fixture.sentJob().inputs?.at(-1)?.default);
	const call = callOf(address, entry?.data.main?.[0]?.[0]);
	const { workflowData = [] } = (await fixture.engine.loaded.node.webhook?.call(call)) ?? {};
	checkKeys(workflowData.flat());
	const called = { displayName: 'Report', callback: { state: 'done' } };
	expect(workflowData).toMatchObject([[{ json: called }]]);
	// n8n stores an execution in this state when a call resumes it.
	if (entry !== undefined) entry.data.main = workflowData;
	data.resultData.runData['Node 1']?.pop();
	delete data.waitTill;
	const retried = await fixture.engine.retry(result, nodes);
	expect(retried.items).toMatchObject([{ json: called }]);
	expect(retried.run.waitTill).toBeUndefined();
	expect(fixture.sentJobs()).toHaveLength(1);
});

test.each(['Retry On Fail', 'Retry'])(
	'if n8n fails to begin the wait, %s waits for the same job',
	async (way) => {
		const settings = { retryOnFail: way === 'Retry On Fail', maxTries: 2, waitBetweenTries: 1 };
		const nodes = [{ parameters: waiting(), settings }];
		const beginning = begin().mockRejectedValueOnce(locked);
		const first = await fixture.engine.start(nodes, [{}]).result;
		const { run, items } = settings.retryOnFail ? first : await fixture.engine.retry(first, nodes);
		expect(beginning).toHaveBeenCalledTimes(2);
		expect(run.waitTill).toBeDefined();
		expect(items.map(({ json }) => json)).toEqual(noCall);
		expect(fixture.sentJobs()).toHaveLength(1);
	},
);

test('a cancel while the wait begins ends the wait but not the job', async () => {
	const running = fixture.engine.start([{ parameters: waiting() }], [{}]);
	begin().mockImplementationOnce(async () => await Promise.resolve(running.cancel()));
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
		`If you cancel the execution, job ${uid} goes on. Its ID stays in n8n's log.`,
	]);
	// n8n 1.x gives nodes no access to the highlighted data.
	const isThere = 'customData' in ExecuteContext.prototype;
	expect(run.data.resultData.metadata).toEqual(isThere ? { job: uid } : undefined);
});

test("each wait has an address of its own, with a random part and the signature that n8n's own address has", async () => {
	const resumeUrl = 'https://n8n.example.com/webhook-waiting/1?signature=abc';
	jest.spyOn(ExecuteContext.prototype, 'evaluateExpression').mockReturnValue(resumeUrl);
	await fixture.engine.run({ parameters: waiting() });
	await fixture.engine.run({ parameters: waiting() });
	const addresses = fixture.sentJobs().map(({ inputs }) => String(inputs?.at(-1)?.default));
	for (const address of addresses) {
		expect(address).toMatch(
			/^https:\/\/n8n\.example\.com\/webhook-waiting\/1\/job-called\?signature=abc&call=[\w-]{32,}$/,
		);
	}
	expect(new Set(addresses).size).toBe(2);
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

test('if n8n cannot begin the wait, the item fails, and its error names the job', async () => {
	begin().mockRejectedValue(locked);
	const parameters = waiting();
	const continued = await fixture.engine.run({ parameters, onError: 'continueErrorOutput' });
	const stopped = await fixture.engine.run({ parameters });
	const [first, second] = fixture.sandbox.store.jobs.keys();
	const says = (description: string) => ({
		message: expect.stringMatching(
			/^The job was created, but n8n can't wait for its call/,
		) as unknown,
		description: expect.stringMatching(new RegExp(description, 's')) as unknown,
	});
	const { message, description } = says(`Job ${first} .*The database is locked`);
	const error = { description, itemIndex: 0, httpStatus: null, jobMayExist: true };
	expect(continued.branches).toMatchObject([[], [{ json: { message, error } }]]);
	const createdJobs = [{ itemIndex: 0, uid: second, displayName: 'Report', namespace: 'default' }];
	expect(stopped.error).toMatchObject({
		...says(`Job ${second} .*use Retry of execution .*The database is locked`),
		context: { createdJobs, jobMayExist: true },
	});
	for (const { run } of [continued, stopped]) expect(run.waitTill).toBeUndefined();
});
