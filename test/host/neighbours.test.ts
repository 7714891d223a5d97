import type { WorkflowFile, WorkflowNode } from '../../host/api';
import type { ExecutionResult } from '../../host/executionResult';
import { waitFor } from '../../host/wait';
import { inARow, jobNode, manualTrigger, node, rows } from '../../host/workflow';
import { CLUSTER, clusterById } from '../support/fixture';
import { hasEnded, runToEnd, useHost } from './host';
import { createNode, subWorkflow } from './workflows';

/*
 * In a real n8n, the nodes that people put behind this node work with each kind of its output, and get the right data.
 */

const host = useHost('neighbours');

/** n8n checks waiting executions once a minute, so it can take up to a minute until it notices that a limit is over. */
const SLOWEST_MS = 90_000;
jest.setTimeout(SLOWEST_MS + 30_000);

const TABLE = 'Neighbours';
const ID = 'metadata.uid';
/** The row of an item whose row isn't known. */
const NO_ROW = -1;

const always = {
	conditions: {
		options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 },
		conditions: [
			{
				...{ id: 'always', leftValue: '={{ Object.keys($json).length > 0 }}', rightValue: '' },
				operator: { type: 'boolean', operation: 'true', singleValue: true },
			},
		],
		combinator: 'and',
	},
};
const code = (name: string, jsCode: string, mode = 'runOnceForEachItem') =>
	node(name, 'n8n-nodes-base.code', { mode, jsCode }, { typeVersion: 2 });
const merge = (name: string, parameters: WorkflowNode['parameters']) =>
	node(name, 'n8n-nodes-base.merge', { mode: 'combine', ...parameters }, { typeVersion: 3.2 });

/** Where the neighbours are, and what they read. */
interface Place {
	/** The output of the last node that leads to the neighbours. */
	branch: number;
	/** A field that differs from item to item. */
	field: string;
	/** The number of an item's row, or an expression for it. */
	row: number | string;
}

/** The nodes that get the output. The node Items only passes it on, so that the test can read it. */
const neighbours = ({ field, row }: Place): WorkflowNode[] => [
	node('Items', 'n8n-nodes-base.noOp', {}),
	code('Code, all items', 'return $input.all();', 'runOnceForAllItems'),
	code('Code, each item', 'return $input.item;'),
	code('Code, item', 'return item;'),
	node('If', 'n8n-nodes-base.if', always, { typeVersion: 2.2 }),
	node('Filter', 'n8n-nodes-base.filter', always, { typeVersion: 2.2 }),
	node(
		'Set',
		'n8n-nodes-base.set',
		{
			includeOtherFields: true,
			assignments: {
				assignments: [{ id: 'row', name: 'row', value: row, type: 'number' }],
			},
		},
		{ typeVersion: 3.4 },
	),
	node('Aggregate', 'n8n-nodes-base.aggregate', { aggregate: 'aggregateAllItemData' }),
	node('Split Out', 'n8n-nodes-base.splitOut', { fieldToSplitOut: field }),
	node('Loop', 'n8n-nodes-base.splitInBatches', {}, { typeVersion: 3 }),
	node(
		'Insert',
		'n8n-nodes-base.dataTable',
		{
			...{ resource: 'row', operation: 'insert' },
			dataTableId: { __rl: true, mode: 'name', value: TABLE },
			columns: {
				mappingMode: 'defineBelow',
				value: { item: '={{ JSON.stringify($json) }}' },
				matchingColumns: [],
				schema: [{ id: 'item', displayName: 'item', type: 'string', display: true }],
			},
		},
		{ typeVersion: 1.1 },
	),
	merge('By position', { combineBy: 'combineByPosition' }),
	merge('By field', { combineBy: 'combineByFields', fieldsToMatchString: field }),
];

/**
 * Puts the neighbours behind the last node of a workflow, a Code node behind Filter, and the output of Set beside it
 * into both Merge nodes.
 */
function withNeighbours(workflow: WorkflowFile, place: Place): WorkflowFile {
	const source = workflow.nodes.at(-1)?.name ?? '';
	const to = (name: string, index = 0) => ({ node: name, type: 'main', index });
	const next = neighbours(place);
	const targets = next.map(({ name }) => to(name));
	return {
		...workflow,
		nodes: [
			...workflow.nodes,
			...next,
			code('Code after Filter', 'return $input.all();', 'runOnceForAllItems'),
			node('In the loop', 'n8n-nodes-base.noOp', {}),
			node('Looped', 'n8n-nodes-base.noOp', {}),
		],
		connections: {
			...workflow.connections,
			[source]: { main: place.branch === 0 ? [targets] : [[], targets] },
			Filter: { main: [[to('Code after Filter')]] },
			Set: { main: [[to('By position', 1), to('By field', 1)]] },
			Loop: { main: [[to('Looped')], [to('In the loop')]] },
			'In the loop': { main: [[to('Loop')]] },
		},
	};
}

const cluster = clusterById(`={{ $json.n === 1 ? 'no-such-cluster' : '${CLUSTER}' }}`);
const waiting = (waitLimit: number, workflowUid: string) =>
	createNode('=Job {{ $json.n }}', {
		...{ workflowUid, inputs: { input: [{ id: 'seconds', value: '0' }] } },
		options: { waitUntilCalled: 'callbackUrl', waitLimit },
	});
const failing = (onError: string) => [
	createNode('=Job {{ $json.n }}', { workCluster: cluster }, { onError }),
];

interface Kind {
	/** The numbers of the rows that are the input. */
	input: number[];
	/** The nodes that give the output, the last of which is this project's node. */
	nodes: WorkflowNode[];
	/** The output that leads to the neighbours: 1 is the error output. */
	branch?: number;
	/** A field that differs from item to item. */
	field?: string;
	/** For each output item, the number of its row, and what its JSON contains. */
	output: Array<[row: number, json: object]>;
}

const job = (n: number) => ({
	metadata: { uid: expect.any(String) as unknown },
	displayName: `Job ${n}`,
});
const failed = {
	message: expect.stringContaining('refused to create the job') as unknown,
	error: { itemIndex: 1, jobMayExist: false },
};
const kinds: Array<[what: string, Kind]> = [
	[
		'a job whose wait ended without a call',
		{
			...{ input: [0], nodes: [waiting(0.02, 'template-1')] },
			output: [[0, { ...job(0), callback: null }]],
		},
	],
	[
		'a job that has called',
		{
			...{ input: [0], nodes: [waiting(60, 'call-when-done')] },
			output: [[0, { ...job(0), callback: { state: 'succeeded' } }]],
		},
	],
	[
		'created jobs',
		{
			...{ input: [0, 1, 2], nodes: [createNode('=Job {{ $json.n }}')] },
			output: [0, 1, 2].map((n) => [n, job(n)]),
		},
	],
	[
		'created jobs and an error item',
		{
			...{ input: [0, 1, 2], nodes: failing('continueRegularOutput') },
			output: [
				[0, job(0)],
				[1, failed],
				[2, job(2)],
			],
		},
	],
	[
		'an item of the error output',
		{
			...{ input: [0, 1, 2], nodes: failing('continueErrorOutput'), branch: 1, field: 'message' },
			output: [[1, { n: 1, ...failed }]],
		},
	],
	[
		'stopped jobs',
		{
			input: [0, 1],
			nodes: [
				createNode('=Job {{ $json.n }}', {}, { name: 'Before' }),
				jobNode('Stop', { operation: 'stop', jobId: '={{ $json.metadata.uid }}' }),
			],
			output: [0, 1].map((n) => [n, { operation: 'stop', success: true, response: null }]),
		},
	],
	[
		'a list',
		{
			input: [0],
			nodes: [jobNode('List', { resource: 'cluster', operation: 'getAll', limit: 3 })],
			output: [1, 2, 3].map((n) => [0, { metadata: { uid: `wc-00000${n}` } }]),
		},
	],
];

/** Returns the nodes that output the rows. */
const begin = (input: number[]) => [
	manualTrigger(),
	...rows(JSON.stringify(input.map((n) => ({ n })))),
];

/** Returns a workflow in which the neighbours are behind the nodes of a kind. */
const directly = async ({ input, nodes, branch = 0, field = ID }: Kind) =>
	await Promise.resolve(
		withNeighbours(inARow('Direct', [...begin(input), ...nodes]), {
			...{ branch, field },
			row: "={{ $('Split').item.json.n }}",
		}),
	);

/** Returns a workflow in which the nodes of a kind are in a sub-workflow, and the neighbours are in its parent. */
async function inTheParent({ input, nodes, branch = 0, field = ID }: Kind): Promise<WorkflowFile> {
	const passedOn = node('Passed on', 'n8n-nodes-base.noOp', {});
	const last = nodes.at(-1)?.name ?? '';
	const toPassedOn = [{ node: passedOn.name, type: 'main', index: 0 }];
	const { execute } = await subWorkflow(host, [...nodes, passedOn], {
		[last]: { main: branch === 0 ? [toPassedOn] : [[], toPassedOn] },
	});
	// n8n doesn't pass on which item of the sub-workflow belongs to which row.
	const workflow = inARow('Parent', [...begin(input), execute]);
	return withNeighbours(workflow, { branch: 0, field, row: NO_ROW });
}

/** Starts a workflow, and returns a function that waits for its end and returns its result. */
async function start(workflow: WorkflowFile) {
	const { id } = await host.api.createWorkflow(workflow);
	const executionId = await host.api.run(id, 'Run by hand');
	return async (): Promise<ExecutionResult & { status?: string | undefined }> => {
		const look = async () =>
			(await host.api.executions(id)).find((one) => one.id === executionId && hasEnded(one));
		const ended = await waitFor(look, { timeout: SLOWEST_MS });
		return { status: ended?.status, ...(await host.api.executionResult(executionId)) };
	};
}

const places = [
	['behind this node', directly, true],
	['behind the parent of a sub-workflow', inTheParent, false],
] as const;
const ends = new Map<string, Awaited<ReturnType<typeof start>>>();

// All executions begin here, because one of them waits for up to a minute until n8n notices that its limit is over.
beforeAll(async () => {
	const columns = { column: [{ name: 'item', type: 'string' }] };
	const table = { resource: 'table', operation: 'create', tableName: TABLE, columns };
	const create = node('Table', 'n8n-nodes-base.dataTable', table, { typeVersion: 1.1 });
	const { id } = await host.api.createWorkflow(inARow('Table', [manualTrigger(), create]));
	expect(await runToEnd(host, id)).toMatchObject({ status: 'success' });
	for (const [what, kind] of kinds) {
		for (const [place, workflowOf] of places) {
			ends.set(`${what} ${place}`, await start(await workflowOf(kind)));
		}
	}
});

describe.each(places)('The nodes %s work with', (place, _, hasRows) => {
	test.each([...kinds].reverse())('%s', async (what, { output: expected, field = ID }) => {
		const { status, error, output } = (await ends.get(`${what} ${place}`)?.()) ?? {};
		expect({ status, error }).toEqual({ status: 'success', error: undefined });
		const { Items: items = [], ...others } = output ?? {};
		expect(items).toHaveLength(expected.length);
		expect(items).toMatchObject(expected.map(([, json]) => json));
		const withRows = items.map((json, n) => ({
			...json,
			row: hasRows ? expected[n]?.[0] : NO_ROW,
		}));
		const fields = items.map((json) => valueOf(json, field)).filter((value) => value !== undefined);
		expect(others).toMatchObject({
			'Code, all items': items,
			'Code, each item': items,
			'Code, item': items,
			If: items,
			Filter: items,
			'Code after Filter': items,
			Set: withRows,
			Aggregate: [{ data: items }],
			'Split Out': fields.map((value) => ({ [field]: value })),
			Looped: items,
			Insert: items.map((json) => ({ item: JSON.stringify(json) })),
			'By position': withRows,
			'By field': withRows.filter((json) => valueOf(json, field) !== undefined),
		});
	});
});

/** Returns the value at a path, such as `metadata.uid`. */
function valueOf(json: unknown, path: string): unknown {
	return path
		.split('.')
		.reduce((value, name) => (Object(value) as Record<string, unknown>)[name], json);
}
