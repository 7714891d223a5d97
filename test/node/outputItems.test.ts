import type { IExecuteData, INodeExecutionData, IWebhookFunctions } from 'n8n-workflow';

import { operations } from '../support/operations';
import { change, clusterById, CLUSTER, create, numbered, useSandbox } from '../support/fixture';
import type { NodeOptions, Result } from '../support/run';

/*
 * Each item that leaves the node has the keys json, pairedItem and binary, and no others: n8n's Code node refuses an item
 * with any other key. test/host/neighbours.test.ts shows this in a real n8n.
 */

const fixture = useSandbox();

/** Expects items that have no other keys, and returns them. */
function expectPlain(items: INodeExecutionData[]): INodeExecutionData[] {
	expect(items).not.toEqual([]);
	const keys = new Set(items.flatMap((item) => Object.keys(item)));
	const others = [...keys].filter((key) => !['json', 'pairedItem', 'binary'].includes(key));
	expect(others).toEqual([]);
	return items;
}

const failing = (onError: NonNullable<NodeOptions['onError']>): NodeOptions => ({
	onError,
	parameters: create({
		workCluster: clusterById(`={{ $json.n === 1 ? 'no-such-cluster' : '${CLUSTER}' }}`),
	}),
});

test.each<[kind: string, NodeOptions]>([
	...operations
		.filter(({ kind }) => kind !== 'change')
		.map(({ value, parameters }): [string, NodeOptions] => [value, { parameters: parameters() }]),
	['an error item', failing('continueRegularOutput')],
	['an item of the error output', failing('continueErrorOutput')],
	[
		'an error item of a field',
		{ parameters: create({ displayName: "={{ '' }}" }), onError: 'continueRegularOutput' },
	],
])('items of %s', async (_, node) => {
	const binary = { file: { data: 'aGk=', mimeType: 'text/plain', fileName: 'hi.txt' } };
	const given = numbered(3).map((json) => ({ ...json, $binary: binary }));
	const { items, error } = await fixture.engine.run(node, given);
	expect(error).toBeUndefined();
	expectPlain(items);
});

test.each(operations.filter(({ kind }) => kind === 'change'))(
	'items of $value',
	async ({ value }) => {
		const onError = 'continueRegularOutput';
		const jobId = '={{ $json.n === 0 ? $json.metadata.uid : "no-such-job" }}';
		const created = await fixture.succeeds(create());
		const uid = created.items.map(({ json }) => json.metadata)[0];
		const given = [{ n: 0, metadata: uid ?? {} }, { n: 1 }];
		const { items } = await fixture.engine.run(
			{ parameters: change(value, { jobId }), onError },
			given,
		);
		expect(expectPlain(items)).toHaveLength(2);
	},
);

describe.each(['stopWorkflow', 'continueErrorOutput'] as const)(
	'with Wait Until Called and On Error %s, items of',
	(onError) => {
		const node: NodeOptions = {
			parameters: create({ options: { waitUntilCalled: 'callbackUrl' } }),
			onError,
		};
		const wait = async () => await fixture.engine.start([node], [{}]).result;

		/** Returns the entry of the waiting node in n8n's stack. */
		const entryOf = ({ run }: Result): IExecuteData => {
			const [entry] = run.data.executionData?.nodeExecutionStack ?? [];
			if (entry === undefined) throw new Error('The execution does not wait');
			return entry;
		};

		test('a wait that ended without a call', async () => {
			const waiting = await wait();
			expectPlain(entryOf(waiting).data.main?.[0] ?? []);
			const { items } = await fixture.engine.retry(waiting, [node]);
			expect(expectPlain(items)).toMatchObject([{ json: { callback: null } }]);
		});

		test('a job that has called, also if n8n crashed after the call', async () => {
			const waiting = await wait();
			const { data } = waiting.run;
			const entry = entryOf(waiting);
			const [address = ''] = fixture.sentJobs().map(({ inputs }) => inputs?.at(-1)?.default);
			const call = callOf(address, entry.data.main?.[0]?.[0]);
			const { workflowData } = (await fixture.engine.loaded.node.webhook?.call(call)) ?? {};
			const output = expectPlain(workflowData?.[0] ?? []);
			const called = [{ json: { callback: { state: 'succeeded' } } }];
			expect(output).toMatchObject(called);

			// n8n stores an execution in this state when a call resumes it.
			entry.data.main = [output];
			data.resultData.runData['Node 1']?.pop();
			delete data.waitTill;
			const { items } = await fixture.engine.retry(waiting, [node]);
			expect(expectPlain(items)).toMatchObject(called);
		});
	},
);

/** Returns what n8n gives the node when a job calls this address, and the execution waits with this item. */
function callOf(address: string, item: unknown): IWebhookFunctions {
	const call: Partial<IWebhookFunctions> = {
		evaluateExpression: () => item as ReturnType<IWebhookFunctions['evaluateExpression']>,
		getQueryData: () => ({ call: new URL(address).searchParams.get('call') ?? '' }),
		getHeaderData: () => ({ 'content-type': 'application/json' }),
		getRequestObject: () =>
			({
				readRawBody: async () => await Promise.resolve(),
				rawBody: new TextEncoder().encode('{ "state": "succeeded" }'),
			}) as unknown as ReturnType<IWebhookFunctions['getRequestObject']>,
	};
	return call as IWebhookFunctions;
}
