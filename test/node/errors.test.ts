import type { INode } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { nodeErrorOf } from '../../nodes/JobOrchestration/service/errors/problem';
import type { Fault } from '../../sandbox';
import { contextOf } from '../reliability/batch';
import { answer } from '../support/answer';
import { change, create, credentialFor, getAll, numbered, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';

/*
 * The title and the description of each error tell the user what happened and what to do. The errors are in the
 * snapshot, as n8n shows them.
 */

const fixture = useSandbox();

beforeEach(() => void hurry());

/** Returns the error of a node whose requests get this fault: all of them except the login, or only the login. */
async function errorAfter(fault: Fault, parameters = create(), ofLogin = false) {
	fixture.meets(ofLogin ? 'login' : 'others', fault);
	const result = await fixture.engine.run({ parameters });
	const { message: title = '', description } = result.error ?? {};
	return { title, description: description ?? '', httpStatus: contextOf(result).httpStatus };
}

const errorAfterLogin = async (fault: Fault) => await errorAfter(fault, getAll(), true);

/**
 * Returns a text of the errors that follow these answers, each of a service that hasn't answered before. Each error has
 * its title, its advice (except the advice about a job that may exist) and the words of the service.
 */
async function pageOf(answers: Array<[status: number, body: unknown]>, after = errorAfter) {
	const said: string[] = [];
	for (const [status, body] of answers) {
		await fixture.start({});
		const { title, description, httpStatus } = await after(answer(status, body));
		expect(httpStatus ?? status).toBe(status);
		expect(fixture.callsOf('login')).toHaveLength(1);
		const lines = description.split('\n').map((line) => {
			return line.replace(/^(Before you |If it doesn't exist|(POST|GET) \S+ was ).*/, '');
		});
		const page = [`\n${status} ${JSON.stringify(body)}`, title, ...lines.filter(Boolean)].join(
			'\n\t',
		);
		said.push(page.replaceAll(fixture.sandbox.url, '<service>'));
	}
	return said.join('\n');
}

const trace = '\n\tat a.Jobs.create(Jobs.java:12)\n\tat a.Main.main(Main.java:3)';
const timestamp = '2026-11-27T05:02:15.123+00:00';

describe('The error of a create', () => {
	const refusals: unknown[] = [
		// Single texts.
		'no such group',
		'  one\n\ttwo\r\n\r\nthree ',
		{ message: 'no such group' },
		{ reason: 'no such group', code: 7, data: null, more: [] },
		{ msg: 'group', ok: false },
		// Markup, which is replaced by look-alike characters.
		...[{ message: '<img src=x> <b>one</b>' }, '1 < 2 & <b>3</b> &lt; `4`'],
		// Texts that name a field. The advice names it, too.
		{ message: 'spec.workCluster not found: "north"' },
		{ message: 'spec.inputs[0].default: 0.5 is not a string' },
		// FastAPI, Prefect, Django REST, SOAP, ASP.NET, Laravel, JSON:API, Jira.
		{ detail: [{ loc: ['body', 'job', 'priority'], msg: 'Input should be a valid integer' }] },
		{ exception_message: 'Invalid request.', exception_detail: [{ msg: 'Field required' }] },
		{ displayName: ['This field may not be blank.'] },
		{ Fault: { Reason: 'quota group unknown' } },
		{ title: 'Validation errors occurred.', errors: { '$.job.priority': ['No number.'] } },
		{ message: 'The data was invalid.', errors: { group: ['The group is required.'] } },
		{ errors: [{ field: 'maxretry', message: 'may not exceed 10' }] },
		{ errors: [{ status: '422', source: { pointer: '/job/group' }, title: 'Unknown group' }] },
		{ errorMessages: ['No such project.'], errors: { priority: 'Priority is too high' } },
		// Spring, Kubernetes, problem+json, OAuth, Google.
		{ timestamp, error: 'Bad Request', message: 'Unknown', trace: `a.NoGroup: Unknown${trace}` },
		{ timestamp, status: 400, error: 'Bad Request', path: '/x' },
		{ kind: 'Status', status: 'Failure', message: '"a" is forbidden', reason: 'Forbidden' },
		{ type: 'https://x.example/quota', title: 'Quota Exceeded', detail: 'You have used 10 of 10' },
		{ error: 'invalid_request', error_description: 'The group is unknown' },
		{ error: { code: 400, message: 'Invalid value', status: 'INVALID_ARGUMENT' } },
		// Error codes that only programs understand.
		{ error: 'invalid_group', code: 'E1001' },
		{ title: 'Bad Request', status: '400' },
		// Other alphabets, including those without spaces between words.
		{ code: 'E1001', message: 'グループがありません' },
		{ path: 'POST /jobs', message: '配额已用完' },
		{ code: 'E7', error: 'กลุ่มไม่ถูกต้อง' },
		{ code: 'E7', error: 'Ungültig' },
		{ сообщение: ['Группа не найдена'] },
		// Lists, repetitions, nested values, and keys that JavaScript's objects inherit.
		['one two', { deeper: [null, '', ['three four']] }],
		{ message: 'one two', details: ['one two', 'two'] },
		{ error: 'Bad Request', statusCode: 400, message: ['group must be a string', 'x'] },
		// The name of the status is no reason.
		...['Bad Request', '400 Bad Request', { code: 'BAD_REQUEST' }, { message: 'bad request' }],
		JSON.parse('{"__proto__":"one two","constructor":{"x":7}}'),
		// No text at all.
		...[undefined, null, ' \n', {}, []],
		...[{ code: 1042 }, { message: '', error: [], id: 7 }],
	];
	const failures: unknown[] = [
		{ message: 'No space left.' },
		`Error: boom${trace}`,
		'group is missing:\n  at least one is needed',
	];
	const noJobs: unknown[] = [
		...[undefined, null, '', [], ['one'], {}, { message: 'one' }, { a: 1, b: 2 }],
		{ code: 40301, error: { text: 'quota used up' } },
		...['<!-- login --><html>', 'one\ntwo', 7],
	];

	test.each<[string, status: number, bodies: unknown[]]>([
		['a refusal', 400, refusals],
		['a failure', 500, failures],
		['no job', 200, noJobs],
		['too much', 413, [undefined, '<html>413</html>', { message: 'Payload Too Large' }]],
	])('says what the user needs to know after %s', async (_, status, bodies) => {
		expect(await pageOf(bodies.map((body) => [status, body]))).toMatchSnapshot();
	});

	test('shortens long quotes in its title, and to 500 characters in its description', async () => {
		const long = 'x'.repeat(501);
		const one = await errorAfter(answer(400, { message: long }));
		expect(one.title).toBe(`The service refused to create the job: ${'x'.repeat(79)}…`);
		expect(one.description).toContain(`The service says: {"message":"${'x'.repeat(487)}…\n`);

		const many = await errorAfter(answer(400, { errors: ['a '.repeat(20), 'b '.repeat(30)] }));
		expect(many.title).toBe(`The service refused to create the job: ${'a '.repeat(20).trim()}`);

		// The message is in the title even if it is in the part that is cut off.
		const behind = await errorAfter(answer(400, { echo: [long], message: 'no such group' }));
		expect(behind.title).toMatch(/: no such group$/);
		expect(behind.description.length).toBeLessThan(1_000);
	});

	test.each([
		['texts', JSON.stringify({ errors: new Array(1_024).fill('x'.repeat(2_000)) })],
		['a message', JSON.stringify({ message: 'token '.repeat(200_000) })],
		['a list', JSON.stringify(new Array(100_000).fill('a b'))],
		['an object', JSON.stringify(Object.fromEntries(numbered(50_000).map(({ n }) => [n, 'a'])))],
		['a nest', `${'['.repeat(2_000)}"a b"${']'.repeat(2_000)}`],
		['blanks', `"${' '.repeat(1_000_000)}a b"`],
		['frames', JSON.stringify('\n\tat '.repeat(100_000))],
	])('is created within a second for a huge body: %s', async (_, text) => {
		const before = process.cpuUsage();
		const { description } = await errorAfter(answer(400, JSON.parse(text)), getAll());
		expect(description.length).toBeLessThan(2_000);
		expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
	});

	test.each<[string, string]>([
		['https://elsewhere.example/a?b=c&d', 'https://elsewhere.example/a'],
		['https://elsewhere.example/a#b?c', 'https://elsewhere.example/a'],
	])('says where the redirect to %j leads', async (location, said) => {
		const { title, description } = await errorAfter(answer(302, undefined, { location }));
		expect(title).toBe(`The service redirects to ${said}; the job may exist`);
		expect(description).toContain(`The redirect leads to ${said}.\n`);
	});

	test.each([400, 403, 404, 409, 423, 425, 451])(
		'is avoided after %i with a Retry-After, because the create is sent again',
		async (status) => {
			const notNow = answer(status, { message: 'locked for a moment' }, { 'retry-after': '1' });
			fixture.meets('createJob', ({ nOfOperation }) => (nOfOperation <= 2 ? notNow : undefined));
			await fixture.succeeds(create());
			expect(fixture.callsOf('createJob')).toHaveLength(3);
			expect(fixture.sandbox.store.jobs.size).toBe(1);
		},
	);
});

test('the error of a refused login says what the user needs to know', async () => {
	const page = await pageOf(
		[
			// Refusals with a reason of the service.
			[401, { code: 'password_expired', message: 'Your password has expired. Change it.' }],
			[403, { message: 'MFA required' }],
			[400, { error: 'terms_not_accepted', error_description: 'Accept the terms first' }],
			[404, { message: 'invalid login' }],
			[404, { error: 'user_not_found' }],
			[405, { fehler: 'Anmeldung hier gesperrt' }],
			[422, { errors: { userName: ['Unbekannter Benutzer'] } }],
			[423, 'アカウントがロックされています'],
			// Refusals without a further reason.
			[401, undefined],
			[401, { message: 'The username or the password is wrong' }],
			[401, 'Unauthorized'],
			[401, { status: 401, error: 'Unauthorized', path: '/oauth/login' }],
			// Answers of addresses that aren't a login endpoint.
			[404, undefined],
			[404, '404 page not found'],
			[404, '<html><body>invalid login</body></html>'],
			[404, { detail: 'Not Found' }],
			[404, { timestamp, status: 404, error: 'Not Found', path: '/oauth/login' }],
			[404, { message: 'Cannot POST /oauth/login', error: 'Not Found' }],
			[405, { detail: 'Method Not Allowed' }],
		],
		errorAfterLogin,
	);
	expect(page).toMatchSnapshot();
});

test('The test of a credential shows only a title, which says what the user needs to know', async () => {
	const page = await pageOf(
		[
			[403, { message: 'MFA required' }],
			[400, { code: 'E7', message: 'Accept the terms first' }],
			// For these words, n8n would show its own text instead: a system's error code, even inside a word, and a
			// bad gateway.
			[500, 'connect ECONNREFUSED 10.0.0.1'],
			[401, { message: 'Renew it first.' }],
			// The title doesn't repeat the same words.
			[401, { code: 'wrong', message: 'The username or the password is wrong' }],
			[400, { message: 'Ask for the experiment' }],
			[500, { message: 'It was a Bad Gateway' }],
		],
		async (fault) => {
			fixture.meets('login', fault);
			// n8n wraps the errors of a credential, in the requests of all nodes.
			const { message } = await fixture.engine.listAsOtherNode().then(
				() => new Error('It was sent'),
				(error: Error) => error,
			);
			return { title: message.replaceAll('\u2060', ''), description: '', httpStatus: undefined };
		},
	);
	expect(page).toMatchSnapshot();
});

describe('An error says that a web page came, perhaps from something before the service,', () => {
	const page =
		'<!DOCTYPE html><html><style>a{}</style><body>Access <b>denied</b><br>&#35;7</body></html>';
	const said =
		'A web page came, perhaps from a firewall, a proxy or a login page before the service: "Access denied #7"';

	test.each([401, 403, 404, 406, 409, 418, 451, 502])('after %i', async (status) => {
		for (const after of [errorAfterLogin, errorAfter]) {
			const { title, description } = await after(answer(status, page));
			expect(description).toContain(`\n\n${said}\n`);
			expect(title).not.toContain('denied');
		}
	});

	test.each([401, 403, 418])(
		'and not to ask for a permission after %i to a call',
		async (status) => {
			const { title, description } = await errorAfter(answer(status, page));
			expect(title).toBe('The service or something before it refused to create the job');
			expect(description).toMatch(/^Check the 'Base URL'.*\(User-Agent: n8n\)\.\n/);
		},
	);

	test.each([
		['tags', `<html><h1>Bad<p>${'<b'.repeat(500_000)}`],
		['tags with a space', `<html><h1>Bad<p>${'<a '.repeat(333_000)}`],
		['comments', `<html><h1>Bad<p>${'<!--'.repeat(250_000)}`],
		['scripts', `<html><h1>Bad<p>${'<script>'.repeat(125_000)}`],
		['ends of scripts', `<html><h1>Bad<p><script>${'</script  '.repeat(100_000)}`],
		['entities', `<html><h1>Bad<p>${'&#'.repeat(500_000)}`],
	])('within seconds for a megabyte of %s', async (_, huge) => {
		const before = process.cpuUsage();
		expect((await errorAfter(answer(400, huge), getAll())).description).toContain('"Bad');
		expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
	});
});

describe('Markup is shown as text', () => {
	test("in n8n's own errors", () => {
		const link = '<a href="https://evil.example">Session expired</a>';
		const node = { name: 'Create a job' } as INode;
		const error = new NodeOperationError(node, link, { description: `See ${link}` });
		const { message, description } = nodeErrorOf(node, error);
		const text = '‹a href="https://evil.example"›Session expired‹/a›';
		expect({ message, description }).toEqual({ message: text, description: `See ${text}` });
	});

	test('in the job ID of an error, and stays as it is in an error item, which is data', async () => {
		const parameters = change('stop', { jobId: '<b onclick="alert(1)">Session expired' });
		const { title, description } = await errorAfter(answer(404), parameters);
		expect(title).toBe(`No job '‹b onclick="alert(1)"›Session expir…' in namespace 'default'`);
		expect(description).not.toContain('<');
		const onError = 'continueRegularOutput';
		const { items } = await fixture.engine.run({ parameters, onError });
		const { message, error } = items[0]?.json ?? {};
		expect(message).toBe(`No job '<b onclick="alert(1)">Session expir…' in namespace 'default'`);
		expect(Object(error).description).toContain('was answered with HTTP 404.');
	});

	test("in a job's name, and only the editor's panel gets markup for line breaks", async () => {
		fixture.meets('createJob', ({ nOfOperation }) =>
			nOfOperation === 2 ? answer(400) : undefined,
		);
		const { error } = await fixture.engine.run(
			{ parameters: create({ displayName: '={{ $json.name }}', options: { concurrency: 1 } }) },
			[{ name: '<i>A</i>' }, { name: 'B' }],
		);
		const [uid = ''] = fixture.sandbox.store.jobs.keys();
		expect(error?.description).toContain(
			`\n\nDone: item 0. Failed: item 1. Items are counted from 0.\n\nJobs already created (1):\n`,
		);
		expect(error?.description).toContain(`\n• item 0: ${uid} ('‹i›A‹/i›' in namespace 'default')`);
		const template = error?.description?.replaceAll('\n', '<br>');
		expect(error).toHaveProperty('context.descriptionTemplate', template);
	});
});

test('an error has the HTTP status where n8n looks for it, if there is one', async () => {
	const { error: refused } = await fixture.engine.run({
		parameters: change('stop', { jobId: 'gone' }),
	});
	expect(refused).toMatchObject({ name: 'NodeApiError', httpCode: '404' });
	fixture.engine.saveCredential({ ...credentialFor(fixture.sandbox), baseUrl: 'ftp://nowhere' });
	const { error: unsent } = await fixture.engine.run({ parameters: getAll() });
	expect(unsent).toMatchObject({ name: 'NodeApiError', httpCode: null });
});
