import type { WorkflowFile, WorkflowNode } from '../../host/api';
import { inARow, jobNode, manualTrigger, node, rows } from '../../host/workflow';
import { CLUSTER, clusterById } from '../support/fixture';
import { runToEnd, useHost } from './host';
import { createNode, subWorkflow } from './workflows';

/*
 * In a real n8n, the nodes that people put behind this node work with each kind of its output, and get the right data.
 */

const host = useHost('neighbours');

const code = (name: string, jsCode: string, mode = 'runOnceForEachItem') =>
	node(name, 'n8n-nodes-base.code', { mode, jsCode }, { typeVersion: 2 });

/** The nodes that get the output. The node Items only passes it on, so that the test can read it. */
const neighbours = (row: number | string): WorkflowNode[] => [
	node('Items', 'n8n-nodes-base.noOp', {}),
	code('Code, all items', 'return $input.all();', 'runOnceForAllItems'),
	code('Code, each item', 'return $input.item;'),
	node(
		'Set',
		'n8n-nodes-base.set',
		{
			includeOtherFields: true,
			assignments: { assignments: [{ id: 'row', name: 'row', value: row, type: 'number' }] },
		},
		{ typeVersion: 3.4 },
	),
	node('Loop', 'n8n-nodes-base.splitInBatches', {}, { typeVersion: 3 }),
	node(
		'Merge',
		'n8n-nodes-base.merge',
		{ mode: 'combine', combineBy: 'combineByPosition' },
		{ typeVersion: 3.2 },
	),
];

/**
 * Puts the neighbours behind the last node of a workflow, and the output of Set beside it into Merge.
 *
 * @param branch the output of the last node that leads to the neighbours
 * @param row the number of an item's row, or an expression for it
 */
function withNeighbours(workflow: WorkflowFile, branch: number, row: number | string) {
	const source = workflow.nodes.at(-1)?.name ?? '';
	const to = (name: string, index = 0) => ({ node: name, type: 'main', index });
	const next = neighbours(row);
	const targets = next.map(({ name }) => to(name));
	return {
		...workflow,
		nodes: [
			...workflow.nodes,
			...next,
			node('In the loop', 'n8n-nodes-base.noOp', {}),
			node('Looped', 'n8n-nodes-base.noOp', {}),
		],
		connections: {
			...workflow.connections,
			[source]: { main: branch === 0 ? [targets] : [[], targets] },
			Set: { main: [[to('Merge', 1)]] },
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
			...{ input: [0, 1, 2], nodes: failing('continueErrorOutput'), branch: 1 },
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

/** Returns a node that runs the nodes of a kind in a sub-workflow, and returns their output. */
async function inSubWorkflow({ nodes, branch = 0 }: Kind): Promise<WorkflowNode> {
	const passedOn = node('Passed on', 'n8n-nodes-base.noOp', {});
	const last = nodes.at(-1)?.name ?? '';
	const toPassedOn = [{ node: passedOn.name, type: 'main', index: 0 }];
	const main = branch === 0 ? [toPassedOn] : [[], toPassedOn];
	return (await subWorkflow(host, [...nodes, passedOn], { [last]: { main } })).execute;
}

const direct = 'this node';

test.each(
	[direct, 'the parent of a sub-workflow'].flatMap((place) =>
		kinds.map(([what, kind]) => ({ place, what, kind })),
	),
)('The nodes behind $place work with $what', async ({ place, kind }) => {
	const { input, nodes, branch = 0, output: expected } = kind;
	const begin = [manualTrigger(), ...rows(JSON.stringify(input.map((n) => ({ n }))))];
	// n8n doesn't pass on which item of a sub-workflow belongs to which row.
	const workflow =
		place === direct
			? withNeighbours(inARow(place, [...begin, ...nodes]), branch, "={{ $('Split').item.json.n }}")
			: withNeighbours(inARow(place, [...begin, await inSubWorkflow(kind)]), 0, -1);
	const { status, error, output } = await runToEnd(host, workflow);
	expect({ status, error }).toEqual({ status: 'success', error: undefined });
	const { Items: items = [], ...others } = output;
	expect(items).toMatchObject(expected.map(([, json]) => json));
	const withRows = items.map((json, n) => ({
		...json,
		row: place === direct ? expected[n]?.[0] : -1,
	}));
	expect(others).toMatchObject({
		'Code, all items': items,
		'Code, each item': items,
		Set: withRows,
		Looped: items,
		Merge: withRows,
	});
});
