import type { IDataObject, IWorkflowBase } from 'n8n-workflow';
import { NodeHelpers, Workflow } from 'n8n-workflow';

import { loadPackage, NODE_TYPE } from '../support/packageUnderTest';
import { workflowOf } from '../support/workflow';
import { filesIn, textOf } from './repository';

/*
 * The examples are valid in n8n's editor, and agree with the documentation. test/host/examples.test.ts runs them.
 */

const files = filesIn('examples', /\.json$/);
const workflowIn = (file: string) => JSON.parse(textOf(file)) as IWorkflowBase;

const allNodes = files.flatMap((file) =>
	workflowIn(file).nodes.map((node) => ({ file, name: node.name, node })),
);
/** The nodes that belong to this package. */
const ownNodes = allNodes.filter(({ node }) => [NODE_TYPE, `${NODE_TYPE}Tool`].includes(node.type));

test.each(files)(
	'%s is named after its workflow, README.md links to its documentation, and its note says what is left to fill in',
	(file) => {
		const { name, nodes } = workflowIn(file);
		expect(`examples/${name.toLowerCase().replaceAll(' ', '-')}.json`).toBe(file);
		expect(textOf('README.md')).toContain(`[${name}](docs/`);

		const note = String(nodes.find((each) => each.name === 'Note')?.parameters.content);
		if (textOf(file).includes('"jobOrchestrationApi": {'))
			expect(note).toMatch(/with the sandbox of `npm start`.* with your own service/i);
		if (/triggerAtHour|toFormat\(/.test(textOf(file)))
			expect(note).toContain('⋯ › Settings › **Timezone**');
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
	const compose = textOf('examples/queue-mode/compose.yaml');
	const [, minutes] = /^ {2}stop_grace_period: (\d+)m$/m.exec(compose) ?? [];
	const [, seconds] = /N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '(\d+)'/.exec(compose) ?? [];
	expect(Number(minutes) * 60).toBeGreaterThan(Number(seconds));
});

const crashSafe = 'examples/crash-safe-batch.json';
const retry = 'examples/retry-without-doubling.json';
const nameOfJob = /"displayName":\s*"(=[^"]*)"/;
const state = /\\n {2}state: (.*?),\\n {2}jobId:/;
const tryAgain = /"leftValue":\s*"(=[^"]*httpStatus[^"]*)"/;
const withStatus = (httpStatus: number | null) => ({ error: { httpStatus, jobMayExist: false } });

test.each<[file: string, what: RegExp, IDataObject, value: unknown]>([
	[crashSafe, nameOfJob, { key: 'the-key', customer: 'a' }, expect.stringContaining('the-key')],
	[crashSafe, state, { metadata: { uid: 'job-1' } }, 'created'],
	[crashSafe, state, { message: 'refused', error: { jobMayExist: false } }, 'failed'],
	[crashSafe, state, { message: 'no answer', error: { jobMayExist: true } }, 'may exist'],
	[crashSafe, state, { message: 'of another kind', error: {} }, 'may exist'],
	[crashSafe, state, {}, 'may exist'],
	[retry, tryAgain, withStatus(null), true],
	[retry, tryAgain, withStatus(429), true],
	[retry, tryAgain, withStatus(503), true],
	[retry, tryAgain, withStatus(400), false],
])('in %s, the expression %s has the right value for %j', async (file, what, json, value) => {
	const [, found = ''] = what.exec(textOf(file)) ?? [];
	const expression = found.startsWith('=') ? found : `={{ ${found} }}`;
	const { expression: expressions } = new Workflow(workflowOf([], await loadPackage()));
	const items = [{ json }];
	expect(
		expressions.getParameterValue(expression, null, 0, 0, 'Items', items, 'manual', {}),
	).toEqual(value);
});

test('the documentation calls only webhooks that the examples have', () => {
	const called = filesIn('docs', /\.md$/).flatMap((file) => [
		...textOf(file).matchAll(/\/webhook\/([\w-]+)/g),
	]);
	const paths = allNodes
		.filter(({ node }) => node.type === 'n8n-nodes-base.webhook')
		.map(({ node }) => node.parameters.path);
	expect(called).not.toEqual([]);
	expect(paths).toEqual(expect.arrayContaining(called.map(([, path]) => path)));
});

test('the examples only read fields that an error item has', () => {
	const fields = files.flatMap((file) => [...textOf(file).matchAll(/\$json\.error\.(\w+)/g)]);
	const names = new Set(fields.map(([, name]) => name));
	const held = ['description', 'itemIndex', 'httpStatus', 'jobMayExist'];
	expect(names.size).toBeGreaterThan(0);
	expect(held).toEqual(expect.arrayContaining([...names]));
});
