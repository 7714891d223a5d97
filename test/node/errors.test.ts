import type { INode } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { nodeErrorOf } from '../../nodes/JobOrchestration/service/errors/nodeError';
import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { change, create, credentialFor, getAll, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import type { Limits } from '../support/hurry';

/*
 * What a person reads when it fails, as n8n has it in the end.
 */

const fixture = useSandbox();
let limits: Limits;

beforeEach(() => {
	limits = hurry();
});
afterEach(() => {
	jest.restoreAllMocks();
});

/** The error that an operation ends in when the service answers it so. */
async function errorAfter(fault: Fault, parameters = create()) {
	fixture.sandbox.faults.plan(({ operation }) =>
		operation === 'login' ? undefined : limits.orRunOut(fault),
	);
	const { error } = await fixture.engine.run({
		parameters: { ...parameters, options: { maxRetries: 0 } },
	});
	return { message: error?.message ?? '', description: error?.description ?? '' };
}

test.each<[string, Fault, string]>([
	[
		'400',
		answer(400, { message: 'group is too long' }),
		'The service refused to create the job: group is too long',
	],
	['500', answer(500, 'boom'), 'The service failed to create the job: boom; the job may exist'],
	[
		'400 and a long message',
		answer(400, 'x'.repeat(100)),
		`The service refused to create the job: ${'x'.repeat(79)}…`,
	],
])('the title has the reason of a %s, and the description all of it', async (_, fault, message) => {
	const error = await errorAfter(fault);
	expect(error.message).toBe(message);
	expect(error.description).toMatch(
		/^[A-Z].*\nThe service says: ".*" \(HTTP \d+\)\.\nRequest: create job 'Report' in namespace 'default' at http/,
	);
});

describe('what looks like markup is replaced by what looks like it', () => {
	const link = '<a href="https://evil.example">Session expired</a>';

	test('in the words of the service, in the description', async () => {
		const { description } = await errorAfter(answer(400, '1 < 2 & <b>3</b> &lt; `4`'));
		expect(description).toContain('"1 ‹ 2 & ‹b›3‹/b› ＆lt; ˋ4ˋ" (HTTP 400)');
	});

	test("in an operation that isn't there", async () => {
		const { error } = await fixture.engine.run({ parameters: { ...create(), operation: link } });
		expect(error?.message).toMatch(/^The resource "job" has no operation "‹a href=/);
	});

	test("in n8n's own errors", () => {
		const node = { name: 'Create a job' } as INode;
		const error = new NodeOperationError(node, link, { description: `See ${link}` });
		const { message, description } = nodeErrorOf(node, error);
		const text = '‹a href="https://evil.example"›Session expired‹/a›';
		expect({ message, description }).toEqual({ message: text, description: `See ${text}` });
	});

	test('in a job ID, in title and description, and in an error item', async () => {
		const jobId = '<b onclick="alert(1)">Session expired';
		const { message, description } = await errorAfter(answer(404), change('stop', { jobId }));
		expect(message).toBe(`No job '‹b onclick="alert(1)"›Session expir…' in namespace 'default'`);
		expect(description).toContain(
			`job '‹b onclick="alert(1)"›Session expired' in namespace 'default'`,
		);
		const { items } = await fixture.engine.run({
			parameters: change('stop', { jobId }),
			onError: 'continueRegularOutput',
		});
		expect(items[0]?.json).toMatchObject({ message, error: { description } });
	});

	test('in a redirect', async () => {
		const error = await errorAfter({ kind: 'redirect', location: `/${link}` });
		expect(error.message).toMatch(/^The service redirects to \/‹a href/);
		expect(`${error.message}${error.description}`).not.toMatch(/[<>]/);
	});

	test('in a field', async () => {
		const { error } = await fixture.engine.run({
			parameters: getAll({ limit: '={{ "<b>many</b>" }}' }),
		});
		expect(error?.message).toBe(`Nothing was sent. 'Limit' is "‹b›many‹/b›", not a number.`);
	});
});

test("a description has line breaks, and markup for them only where the editor's panel looks", async () => {
	fixture.sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'createJob' && nOfOperation === 2 ? answer(400) : undefined,
	);
	const { error } = await fixture.engine.run(
		{ parameters: create({ displayName: '={{ $json.name }}', options: { concurrency: 1 } }) },
		[{ name: '<i>A</i>' }, { name: 'B' }],
	);
	const [uid = ''] = fixture.sandbox.store.jobs.keys();
	const lines = [
		"Check this node's fields. Correct a wrong value in this node, not before it: Retry keeps the items as they came. To continue, use Retry in the list of executions, with the currently saved workflow: it creates only the missing jobs. Don't execute this node again: that creates every job again.",
		`The service gave no reason (HTTP 400). Request: create job 'B' in namespace 'default' at ${fixture.sandbox.url}.`,
		'',
		'Without a job: item 1.',
		'',
		"Jobs already created (1) in namespace 'default':",
		`• item 0: ${uid} ('‹i›A‹/i›')`,
	];
	expect(error?.description).toBe(lines.join('\n'));
	expect(error).toHaveProperty('context.descriptionTemplate', lines.join('<br>'));
});

test('an error of a single item does not name it', async () => {
	const { description } = await errorAfter(answer(400));
	expect(description).not.toMatch(/\bitem\b/);
});

test('the HTTP status is there where n8n looks for it, and only where there is one', async () => {
	const { error: refused } = await fixture.engine.run({
		parameters: change('stop', { jobId: 'gone' }),
	});
	expect(refused).toMatchObject({ name: 'NodeApiError', httpCode: '404' });
	fixture.engine.saveCredential({ ...credentialFor(fixture.sandbox), baseUrl: 'ftp://nowhere' });
	const { error: unsent } = await fixture.engine.run({ parameters: getAll() });
	expect(unsent).toMatchObject({ name: 'NodeApiError', httpCode: null });
});

test.each([
	['spec.workCluster not found: "north"', / 'Work Cluster' is the cluster's ID/],
	['spec.inputs[0].default: 0.5 is not a string', /^Check this node's fields\.\n/],
])('a create refused with %j gets advice about what is named', async (message, advice) => {
	fixture.sandbox.faults.plan(({ operation }) =>
		operation === 'createJob' ? answer(400, { message }) : undefined,
	);
	const { error } = await fixture.engine.run({ parameters: create() });
	expect(error?.description).toMatch(advice);
});
