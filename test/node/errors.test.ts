import type { INode } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { nodeErrorOf } from '../../nodes/JobOrchestration/execution/errors';
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

test('a job that is not there', async () => {
	const error = await errorAfter(answer(404), change('resume', { jobId: 'gone' }));
	expect(error.message).toBe("No job 'gone' in namespace 'default'");
	expect(error.description).toMatch(/metadata\.uid/);
});

test('a job whose state does not allow it, in the words of the service', async () => {
	await fixture.engine.run({ parameters: create() });
	const [job] = [...fixture.sandbox.store.jobs.values()];
	const jobId = String(job?.uid);
	await fixture.engine.run({ parameters: change('stop', { jobId }) });
	const { error } = await fixture.engine.run({ parameters: change('resume', { jobId }) });
	expect(error?.message).toBe("Can't resume the job in its current state");
	expect(error?.description).toMatch(/^The service says: ".*stopped.*" \(HTTP 409\)/);
	expect(error?.description).toContain(`Job '${jobId}' in namespace 'default' at http`);
});

test('a list of clusters that is answered with 409 says nothing of a job', async () => {
	const error = await errorAfter(answer(409), getAll());
	expect(error).toEqual({
		message: 'The service refused to list the work clusters',
		description: `Check this node's fields.\nThe service gave no reason (HTTP 409). Work clusters at ${fixture.sandbox.url}.`,
	});
});

test.each<[string, number, Fault, string]>([
	['not at all', 0, answer(500), ''],
	[
		'once more, and may have worked',
		1,
		answer(500),
		' It was tried 2 times. An earlier try got no clear answer and may have worked.',
	],
])('a state change that was sent again %s says so', async (_, maxRetries, fault, said) => {
	fixture.sandbox.faults.plan(({ operation }) => (operation === 'login' ? undefined : fault));
	const { error } = await fixture.engine.run({
		parameters: change('stop', { jobId: 'one', options: { maxRetries } }),
	});
	const words =
		/( It was tried \d+ times\.)?( An earlier try got .* worked\.)?(?=\nThe service gave)/.exec(
			error?.description ?? '',
		);
	expect(words?.[0]).toBe(said);
});

test('a read that was sent again had no effect to speak of', async () => {
	fixture.sandbox.faults.plan(({ operation }) => (operation === 'login' ? undefined : answer(500)));
	const { error } = await fixture.engine.run({
		parameters: getAll({ options: { maxRetries: 1 } }),
	});
	expect(error?.description).toContain('It was tried 2 times.');
	expect(error?.description).not.toContain('may have worked');
});

test.each<[unknown, string]>([
	[{ message: 'one' }, 'one'],
	[{ error: 'two' }, 'two'],
	[{ msg: 'three' }, 'three'],
	[{ detail: 'four' }, 'four'],
	[{ error: { code: 7, message: 'five' } }, 'five'],
	[{ errors: [{ detail: 'six' }] }, 'six'],
	['seven', 'seven'],
])('the words of the service are found in %j', async (body, text) => {
	expect((await errorAfter(answer(400, body))).description).toContain(
		`The service says: "${text}"`,
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
			`Job '‹b onclick="alert(1)"›Session expired' in namespace 'default'`,
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
		"Check this node's fields.",
		`The service gave no reason (HTTP 400). Job 'B' in namespace 'default' at ${fixture.sandbox.url}.`,
		'',
		'This is about item 1, counting from 0.',
		'',
		'Jobs that this execution had created (1):',
		`• item 0: ${uid} ('‹i›A‹/i›' in namespace 'default')`,
	];
	expect(error?.description).toBe(lines.join('\n'));
	expect(error).toHaveProperty('context.descriptionTemplate', lines.join('<br>'));
});

test('an error of a single item does not name it', async () => {
	const { description } = await errorAfter(answer(400));
	expect(description).not.toMatch(/\bitem\b/);
});

test.each(['password', 'token'] as const)('a message with the %s is not shown', async (secret) => {
	const { password } = fixture.sandbox;
	fixture.sandbox.faults.plan(({ operation, token }) => {
		if (operation === 'login') return undefined;
		return answer(400, `no ${secret === 'token' ? token : password}, but this`);
	});
	const { error } = await fixture.engine.run({ parameters: create() });
	expect(error?.description).toMatch(
		/^The service's message isn't shown because it contains the password or token \(HTTP 400\)\.\nCheck this node's fields\./,
	);
	expect(error?.description).not.toContain('but this');
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

test('a huge answer is cut', async () => {
	const error = await errorAfter(answer(400, 'x'.repeat(5_000_000)));
	expect(error.description.length).toBeLessThan(1_000);
});
