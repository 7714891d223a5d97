import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { change, create, getAll, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import { contextOf } from '../reliability/batch';

/*
 * What a person gets to read of what the service answered.
 */

const fixture = useSandbox();

beforeEach(() => void hurry());
afterEach(() => jest.restoreAllMocks());

/** The error of a create if the service answers it so. */
async function errorAfter(fault: Fault, parameters = create()) {
	fixture.sandbox.faults.plan(({ operation }) => (operation === 'login' ? undefined : fault));
	const { error } = await fixture.engine.run({ parameters });
	return { title: error?.message ?? '', description: error?.description ?? '' };
}

/** The error of a list if the service answers the login so. */
async function errorAfterLogin(fault: Fault) {
	fixture.sandbox.faults.plan(({ operation }) => (operation === 'login' ? fault : undefined));
	const result = await fixture.engine.run({ parameters: getAll() });
	const { message: title = '', description } = result.error ?? {};
	return { title, description: description ?? '', httpStatus: contextOf(result).httpStatus };
}

/** A text as an error shows it: without markup. */
const shown = (text: string) => text.replaceAll('<', '‹').replaceAll('>', '›').replaceAll('`', 'ˋ');

const trace = '\n\tat a.Jobs.create(Jobs.java:12)\n\tat a.Main.main(Main.java:3)';

describe("The service's words, in the title, and all that it said, in the description", () => {
	/** A body, and its words; they are the whole of it, or else it is shown as JSON. */
	test.each<[body: unknown, words: string, isAll?: boolean]>([
		// One text, and nothing around it.
		['no such group', 'no such group', true],
		['  one\n\ttwo\r\n\r\nthree ', 'one two three', true],
		[{ message: 'no such group' }, 'no such group', true],
		[{ reason: 'no such group', code: 7, data: null, more: [] }, 'no such group', true],
		[{ msg: 'group', ok: false }, 'group', true],
		[{ message: '<img src=x> <b>one</b>' }, '<img src=x> <b>one</b>', true],
		// FastAPI, Prefect, Django REST, SOAP, ASP.NET, Laravel, JSON:API, Jira.
		[
			{ detail: [{ loc: ['body', 'job', 'priority'], msg: 'Input should be a valid integer' }] },
			'Input should be a valid integer',
		],
		[
			{
				exception_message: 'Invalid request received.',
				exception_detail: [{ loc: ['body', 'job', 'group'], msg: 'Field required' }],
			},
			'Invalid request received. Field required',
		],
		[{ displayName: ['This field may not be blank.'] }, 'This field may not be blank.'],
		[{ Fault: { Reason: 'quota group unknown' } }, 'quota group unknown'],
		[
			{
				title: 'One or more validation errors occurred.',
				errors: { '$.job.priority': ['The JSON value could not be converted.'] },
			},
			'One or more validation errors occurred. The JSON value could not be converted.',
		],
		[
			{
				message: 'The given data was invalid.',
				errors: { group: ['The group field is required.'] },
			},
			'The given data was invalid. The group field is required.',
		],
		[{ errors: [{ field: 'maxretry', message: 'may not exceed 10' }] }, 'may not exceed 10'],
		[
			{ errors: [{ status: '422', source: { pointer: '/job/group' }, title: 'Unknown group' }] },
			'Unknown group',
		],
		[
			{ errorMessages: ['No such project.'], errors: { priority: 'Priority is too high' } },
			'No such project. Priority is too high',
		],
		// Spring, Kubernetes, problem+json, OAuth, Google.
		[
			{
				...{ timestamp: '2026-11-27T05:02:15.123+00:00', status: 400, error: 'Bad Request' },
				...{ message: 'Unknown group', trace: `a.NoGroup: Unknown group${trace}`, path: '/x' },
			},
			'Unknown group',
		],
		[
			{ timestamp: '2026-11-27T05:02:15.123+00:00', status: 400, error: 'Bad Request', path: '/x' },
			'Bad Request: /x',
		],
		[
			{ kind: 'Status', status: 'Failure', message: 'jobs "a" is forbidden', reason: 'Forbidden' },
			'jobs "a" is forbidden',
		],
		[
			{
				type: 'https://x.example/quota',
				title: 'Quota Exceeded',
				detail: 'You have used 10 of 10',
			},
			'Quota Exceeded: You have used 10 of 10',
		],
		[
			{ error: 'invalid_request', error_description: 'The group is unknown' },
			'The group is unknown',
		],
		[
			{ error: { code: 400, message: 'Invalid value', status: 'INVALID_ARGUMENT' } },
			'Invalid value',
		],
		// Words for programs only.
		[{ error: 'invalid_group', code: 'E1001' }, 'invalid_group: E1001'],
		[{ title: 'Bad Request', status: '400' }, 'Bad Request'],
		// Alphabets, also those that don't need a space.
		[{ code: 'E1001', message: 'グループがありません' }, 'グループがありません'],
		[{ path: 'POST /jobs', message: '配额已用完' }, 'POST /jobs: 配额已用完'],
		[{ code: 'E7', error: 'กลุ่มไม่ถูกต้อง' }, 'กลุ่มไม่ถูกต้อง'],
		[{ code: 'E7', error: 'Ungültig' }, 'Ungültig'],
		[{ сообщение: ['Группа не найдена'] }, 'Группа не найдена'],
		// Lists, repetitions, depth; names that JavaScript has, too.
		[['one two', { deeper: [null, '', ['three four']] }], 'one two: three four'],
		[{ message: 'one two', details: ['one two', 'two'] }, 'one two'],
		[JSON.parse('{"__proto__":"one two","constructor":{"x":7}}'), 'one two', true],
	])('%j', async (body, words, isAll = false) => {
		const { title, description } = await errorAfter(answer(400, body));
		expect(title).toBe(`The service refused to create the job: ${shown(words)}`);
		// A stack trace ends with its first line.
		const json = JSON.stringify(body).replace(/\\n.*?(?=")/, '');
		const said = isAll ? `"${words}"` : json;
		expect(description).toContain(`The service says: ${shown(said)} (HTTP 400).\n`);
	});

	test.each<[string, string]>([
		[`Error: boom${trace}`, 'Error: boom'],
		['System.Exception: boom\r\n   at X.Y() in C:\\x.cs:line 3', 'boom'],
		['Error: boom\n    at async /srv/app.js:12:3', 'Error: boom'],
		['boom\n    at new Jobs (/srv/app.js:1:2)\n    at async f (a.js:3:4)', 'boom'],
		['boom\n    at Jobs.add [as create] (/srv/app.js:1:2)', 'boom'],
		[
			'Traceback (most recent call last):\n  File "x.py", line 1\n    y()\nKeyError: boom',
			'KeyError: boom',
		],
		['group is missing:\n  at least one is needed', 'group is missing: at least one is needed'],
	])('of a stack trace, its message: %j', async (text, words) => {
		const { title } = await errorAfter(answer(500, text));
		expect(title).toBe(`The service failed to create the job: ${words}; the job may exist`);
	});

	test('lose their full stop where more follows them', async () => {
		const { title } = await errorAfter(answer(500, { message: 'No space left.' }));
		expect(title).toBe('The service failed to create the job: No space left; the job may exist');
	});

	test.each<[unknown, string]>([
		[undefined, ''],
		[null, ''],
		[' \n', ''],
		[{}, ''],
		[[], ''],
		[{ code: 1042 }, ' It sent {"code":1042}.'],
		[{ message: '', error: [], id: 7 }, ' It sent {"message":"","error":[],"id":7}.'],
	])('are missing in %j', async (body, sent) => {
		const { title, description } = await errorAfter(answer(400, body));
		expect(title).toBe('The service refused to create the job');
		expect(description).toContain(`The service gave no reason (HTTP 400).${sent} Request: `);
	});

	test('are cut: in a title where they no longer fit, in a description at 500 characters', async () => {
		const long = 'x'.repeat(501);
		const one = await errorAfter(answer(400, { message: long }));
		expect(one.title).toBe(`The service refused to create the job: ${'x'.repeat(79)}…`);
		expect(one.description).toContain(`The service says: "${'x'.repeat(500)}…" (HTTP 400).`);

		const many = await errorAfter(answer(400, { errors: ['a '.repeat(20), 'b '.repeat(30)] }));
		expect(many.title).toBe(`The service refused to create the job: ${'a '.repeat(20).trim()}`);

		// The words aren't lost with what is cut off.
		const behind = await errorAfter(answer(400, { echo: [long], message: 'no such group' }));
		expect(behind.title).toMatch(/: no such group$/);
		expect(behind.description).toContain('"no such group", in {"echo":["xxx');
		expect(behind.description.length).toBeLessThan(1_300);
	});

	test.each([
		['a list', JSON.stringify(new Array(100_000).fill('a b'))],
		[
			'an object',
			JSON.stringify(Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [n, 'a']))),
		],
		['a nest', `${'['.repeat(2_000)}"a b"${']'.repeat(2_000)}`],
		['blanks', `"${' '.repeat(1_000_000)}a b"`],
		['frames', JSON.stringify('\n\tat '.repeat(100_000))],
	])('are searched for a moment only: %s', async (_, text) => {
		const since = performance.now();
		const { description } = await errorAfter(answer(400, JSON.parse(text)), getAll());
		expect(description.length).toBeLessThan(2_000);
		expect(performance.now() - since).toBeLessThan(3_000);
	});
});

describe('A login that is refused', () => {
	test.each<[number, unknown, string]>([
		[
			401,
			{ code: 'password_expired', message: 'Your password has expired. Change it in the portal.' },
			'Your password has expired. Change it in the portal.',
		],
		[403, { message: 'MFA required' }, 'MFA required'],
		[
			400,
			{ error: 'terms_not_accepted', error_description: 'Accept the terms first' },
			'Accept the terms first',
		],
		[404, { message: 'invalid login' }, 'invalid login'],
		[404, { error: 'user_not_found' }, 'user_not_found'],
		[405, { fehler: 'Anmeldung hier gesperrt' }, 'Anmeldung hier gesperrt'],
		[422, { errors: { userName: ['Unbekannter Benutzer'] } }, 'Unbekannter Benutzer'],
		[423, 'アカウントがロックされています', 'アカウントがロックされています'],
	])("is told in the service's words: %i %j", async (status, body, words) => {
		const { title, description, httpStatus } = await errorAfterLogin(answer(status, body));
		expect(title).toBe(`The service refused the login: ${words}`);
		expect(description).toMatch(/^Check 'Username', 'Password'.*\nThe service says: .*/);
		expect(httpStatus).toBe(status);
		expect(fixture.callsOf('login')).toHaveLength(1);
	});

	test.each<[number, unknown]>([
		[401, undefined],
		[401, { message: 'The username or the password is wrong' }],
		[401, 'Unauthorized'],
		[401, { status: 401, error: 'Unauthorized', path: '/oauth/login' }],
	])('with nothing more to say: %i %j', async (status, body) => {
		const { title, description } = await errorAfterLogin(answer(status, body));
		expect(title).toBe('The username or the password is wrong');
		expect(description).toContain('Correct it in the credential.');
	});

	test.each<[number, unknown]>([
		[404, undefined],
		[404, '404 page not found'],
		[404, '<html><body>invalid login</body></html>'],
		[404, { detail: 'Not Found' }],
		[
			404,
			{ timestamp: '2026-11-27T05:02:15Z', status: 404, error: 'Not Found', path: '/oauth/login' },
		],
		[404, { message: 'Cannot POST /oauth/login', error: 'Not Found' }],
		[405, { detail: 'Method Not Allowed' }],
	])('by what is no login: %i %j', async (status, body) => {
		const { title } = await errorAfterLogin(answer(status, body));
		expect(title).toMatch(/^No login endpoint at /);
	});

	const retried = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };

	test.each([400, 401, 403, 404, 408, 423, 451, 500, 501, 507])(
		'by %i in words is not repeated by Retry On Fail: a third one could lock the account',
		async (status) => {
			const refusal = answer(status, { message: 'invalid login credentials' });
			fixture.sandbox.faults.plan(({ operation }) => (operation === 'login' ? refusal : undefined));
			const { error } = await fixture.engine.run({ parameters: create(), settings: retried }, [
				{},
				{},
				{},
			]);
			expect(error?.description).toContain('The service says: "invalid login credentials".');
			expect(fixture.callsOf('login')).toHaveLength(1);
		},
	);

	test.each<[string, Fault]>([
		['429', answer(429, { message: 'later' })],
		['400 with Retry-After', answer(400, { message: 'later' }, { 'retry-after': '0' })],
		...[502, 503, 504, 520, 530].map((status): [string, Fault] => [`${status}`, answer(status)]),
		['no answer', { kind: 'break', when: 'beforeActing' }],
	])('for now, by %s, is repeated', async (_, fault) => {
		fixture.sandbox.faults.plan(({ operation, nOfOperation }) =>
			operation === 'login' && nOfOperation === 1 ? fault : undefined,
		);
		const { error } = await fixture.engine.run({ parameters: create() });
		expect(error).toBeUndefined();
		expect(fixture.callsOf('login')).toHaveLength(2);
	});
});

describe('The credential, where nothing but the title of an error is shown', () => {
	test.each<[number, unknown, RegExp]>([
		[
			403,
			{ message: 'MFA required' },
			/^The service refused the login: MFA required\. Check 'Username'.* was answered with HTTP 403\.$/,
		],
		[
			400,
			{ code: 'E7', message: 'Accept the terms first' },
			/^The service refused the login: Accept the terms first\. Check 'Username'.* was answered with HTTP 400\.$/,
		],
		// n8n would show its own text instead: of a system's code, even inside a word, and of a bad gateway.
		[500, 'connect ECONNREFUSED 10.0.0.1', /log the user in: connect ECONNREFUSED 10\.0\.0\.1\./],
		[401, { message: 'Renew it first.' }, /^The service refused the login: Renew it first\. Check/],
		[400, { message: 'Ask for the experiment' }, /the login: Ask for the experiment\./],
		[500, { message: 'It was a Bad Gateway' }, /log the user in: It was a Bad Gateway\./],
	])('%i %j', async (status, body, title) => {
		fixture.sandbox.faults.plan(({ operation }) =>
			operation === 'login' ? answer(status, body) : undefined,
		);
		// n8n wraps what a credential throws, for any node.
		const request = { method: 'GET' as const, uri: `${fixture.sandbox.url}/api/v1/clusters` };
		const error = await fixture.engine.requestAsOtherNode(request).catch((reason: Error) => reason);
		expect((error as Error).message.replaceAll('\u2060', '')).toMatch(title);
	});
});

describe('A web page', () => {
	const page = '<!DOCTYPE html><html><body>Access denied</body></html>';
	const isFromBefore =
		/An HTML page came(?: \(HTTP \d+\))?\. A firewall, a proxy or a login page before the service has probably answered\./;

	test.each([401, 403, 406, 418, 451])('with %i, to the login and to a call', async (status) => {
		for (const { title, description } of [
			await errorAfterLogin(answer(status, page)),
			await errorAfter(answer(status, page)),
		]) {
			expect(description).toMatch(isFromBefore);
			expect(title).toMatch(/^Something before the service refused (the login|to create the job)$/);
			expect(description).toMatch(/^Check the 'Base URL'.*\(User-Agent: n8n\)\.\n/);
			expect(description).not.toMatch(/permission|'Username'|this node's fields/);
		}
	});

	test.each([404, 409, 502])('with %i, which has words of its own', async (status) => {
		const { description } = await errorAfter(answer(status, page));
		expect(description).toMatch(isFromBefore);
	});
});

test('413: what is sent is too large', async () => {
	for (const body of [undefined, '<html>413</html>', { message: 'Payload Too Large' }]) {
		const { title, description } = await errorAfter(answer(413, body));
		expect(title).toBe('What was sent is too large for the service');
		expect(description).toMatch(/^Make this node's fields shorter/);
	}
});

describe('A refusal with Retry-After means "not now"', () => {
	test.each([400, 403, 404, 409, 423, 425, 451])(
		'%i: creates and verbs are sent again',
		async (status) => {
			const notNow = answer(status, { message: 'locked for a moment' }, { 'retry-after': '1' });
			for (const parameters of [create(), change('stop', { jobId: '' })]) {
				const [jobId = ''] = fixture.sandbox.store.jobs.keys();
				fixture.sandbox.clearCalls();
				fixture.sandbox.faults.plan(({ operation, nOfOperation }) =>
					operation !== 'login' && nOfOperation <= 2 ? notNow : undefined,
				);
				const { error } = await fixture.engine.run({ parameters: { ...parameters, jobId } });
				expect(error).toBeUndefined();
				expect(fixture.sandbox.calls.filter(({ operation }) => operation !== 'login')).toHaveLength(
					3,
				);
			}
			expect(fixture.sandbox.store.jobs.size).toBe(1);
		},
	);

	test('and at last the service has the word', async () => {
		const notNow = answer(423, { message: 'locked for a moment' }, { 'retry-after': '30' });
		const { title, description } = await errorAfter(notNow);
		expect(title).toBe('The service refused to create the job for now: locked for a moment');
		expect(description).toMatch(/^Try again later\./);
	});
});

test.each<[unknown, string]>([
	[undefined, 'nothing'],
	[null, 'nothing'],
	['', 'nothing'],
	[[], 'a list'],
	[['one'], 'a list: ["one"]'],
	[{}, 'an empty object'],
	[{ message: 'one' }, 'the message "one"'],
	[{ a: 1, b: 2 }, 'an object: {"a":1,"b":2}'],
	[
		{ code: 40301, error: { text: 'quota used up' } },
		'an object: {"code":40301,"error":{"text":"quota used up"}}',
	],
	['<!-- login --><html>', 'an HTML page'],
	['one\ntwo', 'the message "one two"'],
	[7, 'a text: 7'],
])('%j instead of a job is described as %s', async (body, words) => {
	const { description } = await errorAfter(answer(200, body));
	expect(description).toContain(`It sent ${shown(words)} (HTTP 200).`);
});

test.each<[string | undefined, string]>([
	['https://elsewhere.example/a?b=c&d', 'https://elsewhere.example/a'],
	['https://elsewhere.example/a#b?c', 'https://elsewhere.example/a'],
	['', 'another address'],
	[undefined, 'another address'],
])('a redirect to %j', async (location, said) => {
	const headers = location === undefined ? {} : { location };
	const { description } = await errorAfter(answer(302, undefined, headers));
	expect(description).toContain(`The redirect is to ${said} (HTTP 302).`);
});
