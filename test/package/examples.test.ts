import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import {
	NodeHelpers,
	Workflow,
	type IDataObject,
	type INode,
	type IWorkflowBase,
} from 'n8n-workflow';

import { loadPackage, NODE_TYPE } from '../support/packageUnderTest';

/*
 * The examples are valid in n8n's editor, and agree with the documentation. test/host/examples.test.ts runs them.
 */

const root = join(__dirname, '../..');
const read = (file: string) => readFileSync(join(root, 'examples', file), 'utf8');
const files = readdirSync(join(root, 'examples')).filter((name) => name.endsWith('.json'));

const allNodes = files.flatMap((file) => {
	const { nodes } = JSON.parse(read(file)) as IWorkflowBase;
	return nodes.map((node) => ({ file, name: node.name, node }));
});
/** The nodes that belong to this package. */
const ownNodes = allNodes.filter(({ node }) => [NODE_TYPE, `${NODE_TYPE}Tool`].includes(node.type));

test.each(files)(
	'%s is named after its workflow, and README.md links to its documentation',
	(file) => {
		const { name } = JSON.parse(read(file)) as IWorkflowBase;
		expect(`${name.toLowerCase().replaceAll(' ', '-')}.json`).toBe(file);
		expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(`[${name}](docs/`);
	},
);

/** Returns the text of the note in a workflow. */
function noteIn(file: string): string {
	const note = allNodes.find((each) => each.file === file && each.name === 'Note');
	return String(note?.node.parameters.content);
}

test.each(files.filter((file) => read(file).includes('"jobOrchestrationApi": {')))(
	'the note in %s says what is left to fill in with the sandbox, and what with another service',
	(file) => {
		expect(noteIn(file)).toMatch(/with the sandbox of `npm start`.* with your own service/i);
	},
);

test.each(files.filter((file) => /triggerAtHour|toFormat\(/.test(read(file))))(
	'the note in %s says where the time zone of its hours and dates is set',
	(file) => {
		expect(noteIn(file)).toContain('⋯ › Settings › **Timezone**');
	},
);

/*
 * n8n drops parameters that the node doesn't have or doesn't show, and marks missing or wrong ones in red.
 */
test.each(ownNodes)('n8n knows all parameters of $file: $name', async ({ node: example }) => {
	const { node } = await loadPackage();
	// n8n itself adds these two parameters to a tool.
	const { descriptionType, toolDescription, ...parameters } = example.parameters;
	expect(typeof descriptionType).toBe(typeof toolDescription);
	const description = { ...node.description, name: example.type };
	const { properties } = description;
	const own = { ...example, parameters };
	expect(
		NodeHelpers.getNodeParameters(properties, parameters, true, false, example, description),
	).toMatchObject(parameters);
	expect(NodeHelpers.getNodeParametersIssues(properties, own, description)).toBeNull();
	// This is the spelling of the service.
	const { phase = 'Running' } = Object(parameters.filters) as { phase?: string };
	expect(phase).toBe('Running');
});

test('the webhook of the examples answers a job with the status 202 that the job expects', () => {
	const { node } = allNodes.find((each) => each.name === 'A job is done') ?? {};
	expect(JSON.stringify(node?.parameters)).toMatch(/"(customCode|responseCode)":202\b/);
});

test('queue-mode/compose.yaml waits longer for the end of n8n than n8n needs to stop', () => {
	const compose = read('queue-mode/compose.yaml');
	const [, minutes] = /^ {2}stop_grace_period: (\d+)m$/m.exec(compose) ?? [];
	const [, seconds] = /N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '(\d+)'/.exec(compose) ?? [];
	expect(Number(minutes) * 60).toBeGreaterThan(Number(seconds));
});

/** Returns the value of an expression for an item. */
async function evaluated(expression: string, json: IDataObject): Promise<unknown> {
	const { nodeTypes } = await loadPackage();
	const node: INode = {
		...{ id: '1', name: 'Here', type: NODE_TYPE, typeVersion: 1, parameters: {} },
		position: [0, 0],
	};
	const { expression: expressions } = new Workflow({
		...{ nodes: [node], connections: {}, active: false, nodeTypes },
	});
	const items = [{ json }];
	return expressions.getParameterValue(expression, null, 0, 0, 'Here', items, 'manual', {});
}

test('crash-safe-batch.json includes the key of a row in the name of its job', async () => {
	const [create] = ownNodes.filter(
		({ file, node }) => file === 'crash-safe-batch.json' && node.parameters.operation === 'create',
	);
	const name = String(create?.node.parameters.displayName);
	expect(await evaluated(name, { key: 'the-key', customer: 'a' })).toContain('the-key');
});

test.each([
	[{ metadata: { uid: 'job-1' } }, 'created'],
	[{ message: 'refused', error: { jobMayExist: false } }, 'failed'],
	[{ message: 'no answer', error: { jobMayExist: true } }, 'may exist'],
	[{ message: 'of another kind', error: {} }, 'may exist'],
	[{}, 'may exist'],
])('crash-safe-batch.json records the result %j with the state "%s"', async (json, state) => {
	const [, expression = ''] =
		/\\n {2}state: (.*?),\\n {2}jobId:/.exec(read('crash-safe-batch.json')) ?? [];
	expect(await evaluated(`={{ ${expression} }}`, json)).toBe(state);
});

test.each([
	[null, true],
	[429, true],
	[503, true],
	[400, false],
])('retry-without-doubling.json tries again after the status %s: %s', async (httpStatus, again) => {
	const [, expression = ''] =
		/"leftValue":\s*"(=[^"]*httpStatus[^"]*)"/.exec(read('retry-without-doubling.json')) ?? [];
	expect(await evaluated(expression, { error: { httpStatus, jobMayExist: false } })).toBe(again);
});

test('the documentation calls only webhooks that the examples have', () => {
	const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
	const called = docs.flatMap((name) => [
		...readFileSync(join(root, 'docs', name), 'utf8').matchAll(/\/webhook\/([\w-]+)/g),
	]);
	const paths = allNodes
		.filter(({ node }) => node.type === 'n8n-nodes-base.webhook')
		.map(({ node }) => node.parameters.path);
	expect(called).not.toEqual([]);
	expect(paths).toEqual(expect.arrayContaining(called.map(([, path]) => path)));
});

test('the examples only read fields that an error item has', () => {
	const fields = files.flatMap((file) => [...read(file).matchAll(/\$json\.error\.(\w+)/g)]);
	const names = new Set(fields.map(([, name]) => name));
	const held = ['description', 'itemIndex', 'httpStatus', 'jobMayExist'];
	expect(names.size).toBeGreaterThan(0);
	expect(held).toEqual(expect.arrayContaining([...names]));
});
