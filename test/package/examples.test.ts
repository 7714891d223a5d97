import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import {
	NodeHelpers,
	Workflow,
	type IDataObject,
	type INode,
	type INodeParameters,
	type IWorkflowBase,
} from 'n8n-workflow';

import { contractOperation } from '../../sandbox/contract/contract';
import { operations } from '../support/operations';
import { loadPackage, NODE_TYPE } from '../support/packageUnderTest';

const folder = join(__dirname, '../../examples');

const files = readdirSync(folder).filter((name) => name.endsWith('.json'));

const workflowIn = (file: string) =>
	JSON.parse(readFileSync(join(folder, file), 'utf8')) as Pick<
		IWorkflowBase,
		'nodes' | 'connections'
	>;
const nodesIn = (file: string) => workflowIn(file).nodes;

/** The nodes of this package in the examples: the file and the name of each, and the node. */
const nodes = files.flatMap((file) =>
	nodesIn(file)
		.filter(({ type }) => type === NODE_TYPE || type === `${NODE_TYPE}Tool`)
		.map((node) => [file, node.name, node] as const),
);

/** The parameters of a node without the two that n8n itself adds to a tool. */
function ownParameters({ parameters }: INode): INodeParameters {
	const ofTools = ['descriptionType', 'toolDescription'];
	return Object.fromEntries(Object.entries(parameters).filter(([name]) => !ofTools.includes(name)));
}

/*
 * What n8n's editor does with a workflow that is imported: it drops the parameters that the node doesn't have or
 * doesn't show, and marks in red those that are missing or wrong.
 */
test.each(nodes)('n8n knows all parameters of %s: %s', async (_file, _name, example) => {
	const { node } = await loadPackage();
	const parameters = ownParameters(example);
	const description = { ...node.description, name: example.type };
	const { properties } = description;
	const kept = NodeHelpers.getNodeParameters(
		properties,
		parameters,
		true,
		false,
		example,
		description,
	);
	expect(kept).toMatchObject(parameters);
	const issues = NodeHelpers.getNodeParametersIssues(
		properties,
		{ ...example, parameters },
		description,
	);
	expect(issues).toBeNull();
});

test.each(nodes)('%s: errors of %s leave it where a branch is for them', (file, name, node) => {
	const [, errorBranch] = workflowIn(file).connections[name]?.main ?? [];
	expect(node.onError === 'continueErrorOutput').toBe((errorBranch ?? []).length > 0);
});

test.each([
	['continue-when-done.json', 'Wait for its call'],
	['start-when-done.json', 'A job is done'],
])('%s: %s answers a job with the 202 that it waits for', (file, name) => {
	const webhook = nodesIn(file).find((node) => node.name === name);
	expect(JSON.stringify(webhook?.parameters)).toMatch(/"(customCode|responseCode)":202\b/);
});

test('queue-mode/compose.yaml gives n8n more time than it takes to stop', () => {
	const compose = readFileSync(join(folder, 'queue-mode/compose.yaml'), 'utf8');
	const [, minutes] = /^ {2}stop_grace_period: (\d+)m$/m.exec(compose) ?? [];
	const [, seconds] = /N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '(\d+)'/.exec(compose) ?? [];
	expect(Number(minutes) * 60).toBeGreaterThan(Number(seconds));
});

/** A mapping of values to the columns of a table, as other nodes have it. */
interface Columns {
	value?: Record<string, unknown> | null;
	schema?: Array<{ id: string }>;
}

const mappings = files.flatMap((file) =>
	nodesIn(file).flatMap(({ name, parameters: { columns } }) =>
		columns === undefined ? [] : [[file, name, columns as unknown as Columns] as const],
	),
);

test.each(mappings)(
	'%s: %s fills columns that there are',
	(_file, _name, { value, schema = [] }) => {
		const ids = schema.map(({ id }) => id);
		expect(Object.keys(value ?? {}).filter((name) => !ids.includes(name))).toEqual([]);
	},
);

/** The phases of a work cluster as the contract's examples spell them. */
const phases = contractOperation('listClusters').examples.flatMap(({ value }) =>
	[...JSON.stringify(value).matchAll(/"phase":"(\w+)"/g)].map(([, phase]) => phase),
);
const filtered = nodes.filter(([, , { parameters }]) => parameters.filters !== undefined);

test.each(filtered)('%s: %s asks for a phase as the service spells it', (_file, _name, node) => {
	const { phase } = node.parameters.filters as { phase?: string };
	if (phase !== undefined) expect(phases).toContain(phase);
});

/** What an expression of a workflow gives for an item. */
async function evaluated(expression: string, json: IDataObject): Promise<unknown> {
	const { nodeTypes } = await loadPackage();
	const node: INode = {
		id: '1',
		name: 'Here',
		type: NODE_TYPE,
		typeVersion: 1,
		position: [0, 0],
		parameters: {},
	};
	const workflow = new Workflow({ nodes: [node], connections: {}, active: false, nodeTypes });
	return workflow.expression.getParameterValue(
		expression,
		null,
		0,
		0,
		node.name,
		[{ json }],
		'manual',
		{},
	);
}

test('a job of crash-safe-batch.json has the key of its row in its name: by that it is looked for', async () => {
	const file = 'crash-safe-batch.json';
	const names = nodes
		.filter(([name, , { parameters }]) => name === file && parameters.operation === 'create')
		.map(([, , { parameters }]) => String(parameters.displayName));
	expect(names).toHaveLength(1);
	const item = { key: 'the-key', customer: 'a customer' };
	expect(await evaluated(names[0] ?? '', item)).toContain('the-key');
});

test.each([
	[{ metadata: { uid: 'job-1' } }, 'created'],
	[{ message: 'refused', error: { jobMayExist: false } }, 'failed'],
	[{ message: 'no answer', error: { jobMayExist: true } }, 'may exist'],
	[{ message: 'of another kind', error: {} }, 'may exist'],
	[{}, 'may exist'],
])('crash-safe-batch.json takes %j for a job that is "%s"', async (json, state) => {
	const text = readFileSync(join(folder, 'crash-safe-batch.json'), 'utf8');
	const [, expression = ''] = /\\n {2}state: (.*?),\\n {2}jobId:/.exec(text) ?? [];
	expect(await evaluated(`={{ ${expression} }}`, json)).toBe(state);
});

test('retries.md says what to do with each state that crash-safe-batch.json gives', () => {
	const page = readFileSync(join(__dirname, '../../docs/retries.md'), 'utf8');
	const rows = [...page.matchAll(/^\| `(.*?)`(?:, `(.*?)`)? \| .* \| (.*) \|$/gm)];
	const known = rows.flatMap(([, first, second]) => [first, second].filter(Boolean));
	expect(known).toEqual(['state', 'waiting', 'sending', 'created', 'failed', 'may exist']);
	const advised = rows.flatMap(([, , , advice = '']) => advice.match(/(?<=`)\w+(?=`)/g) ?? []);
	expect(advised).toEqual(['waiting', 'created', 'waiting']);
});

test.each([
	[null, true],
	[429, true],
	[500, true],
	[503, true],
	[400, false],
	[404, false],
])('retry-without-doubling.json tries again after the status %s: %s', async (httpStatus, again) => {
	const file = 'retry-without-doubling.json';
	const [, expression = ''] =
		/"leftValue":\s*"(=[^"]*httpStatus[^"]*)"/.exec(readFileSync(join(folder, file), 'utf8')) ?? [];
	expect(await evaluated(expression, { error: { httpStatus, jobMayExist: false } })).toBe(again);
});

/** The triggers whose name says when they start. */
const clocks = files.flatMap((file) =>
	nodesIn(file).flatMap(({ name, type, parameters }) => {
		const [, hour, minute] = /\bat (\d+):(\d\d)$/i.exec(name) ?? [];
		return type === 'n8n-nodes-base.scheduleTrigger' && hour !== undefined
			? [[file, name, { hour: Number(hour), minute: Number(minute), parameters }] as const]
			: [];
	}),
);

test.each(clocks)('%s: %s starts at that time', (_file, _name, { hour, minute, parameters }) => {
	expect(parameters).toEqual({
		rule: {
			interval: [expect.objectContaining({ triggerAtHour: hour, triggerAtMinute: minute })],
		},
	});
});

test('the webhooks that the docs call are those of the examples', () => {
	const docs = join(__dirname, '../../docs');
	const called = readdirSync(docs)
		.filter((name) => name.endsWith('.md'))
		.flatMap((name) => [...readFileSync(join(docs, name), 'utf8').matchAll(/\/webhook\/([\w-]+)/g)])
		.map(([, path]) => path);
	const paths = files
		.flatMap(nodesIn)
		.filter(({ type }) => type === 'n8n-nodes-base.webhook')
		.map(({ parameters }) => parameters.path);
	expect(called).not.toEqual([]);
	expect(paths).toEqual(expect.arrayContaining(called));
});

const operationNames = operations.map(({ value }) => value);

test.each(
	nodes.flatMap(([file, name, { parameters }]) => {
		const named = operationNames.filter((value) => new RegExp(`\\b${value}\\b`, 'i').test(name));
		return named.map((value) => [file, name, value, parameters.operation] as const);
	}),
)('%s: %s does what its name says, %s', (_file, _name, named, operation) => {
	expect(operation).toBe(named);
});

test('the examples read of an error item only what it holds', () => {
	const held = ['description', 'itemIndex', 'httpStatus', 'jobMayExist'];
	const read = files.flatMap((file) =>
		[...readFileSync(join(folder, file), 'utf8').matchAll(/\$json\.error\.(\w+)/g)].map(
			([, name = '']) => `${file}: ${held.includes(name) ? 'held' : name}`,
		),
	);
	expect(read.length).toBeGreaterThan(0);
	expect(read.filter((name) => !name.endsWith(': held'))).toEqual([]);
});
