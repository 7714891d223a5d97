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

describe('what looks like markup is replaced by what looks like it', () => {
	const link = '<a href="https://evil.example">Session expired</a>';

	test('in the words of the service, in the description', async () => {
		const { description } = await errorAfter(answer(400, '1 < 2 & <b>3</b> &lt; `4`'));
		expect(description).toContain('"1 ‹ 2 & ‹b›3‹/b› ＆lt; ˋ4ˋ" (HTTP 400)');
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
	const error = await errorAfter(answer(400, { message }));
	expect(error.message).toMatch(/^The service refused to create the job: /);
	expect(error.description).toMatch(advice);
	expect(error.description).toMatch(
		/\nThe service says: ".*" \(HTTP 400\)\.\nRequest: create job 'Report' in namespace 'default' at http/,
	);
});
