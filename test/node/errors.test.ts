import { ServerResponse } from 'node:http';

import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { change, create, credentialFor, getAll, numbered, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import type { Result } from '../support/run';

/*
 * The title and the description of an error quote the service, and say what the failure means and what to do. The
 * snapshot contains the errors as n8n shows them. `reliability/matrix.test.ts` has the consequences of the failures, and
 * `reliability/stoppedByError.test.ts` has the errors of a batch.
 */

const fixture = useSandbox();

beforeEach(() => void hurry());

const stop = change('stop', { jobId: 'job-1' });

/** Returns the texts of an error, without the invisible character that the node inserts into them. */
function textsOf({ error }: Pick<Result, 'error'>) {
	const [title = '', description = ''] = [error?.message, error?.description ?? ''].map((text) =>
		text?.replaceAll('\u2060', ''),
	);
	return { title, description };
}

/**
 * For each kind of request: the operations that meet the fault, and what is run then. The error of the credential's test
 * has only a title: in n8n's form, it is one line.
 */
const requests = {
	create: ['others', async () => await fixture.engine.run({ parameters: create() })],
	list: ['others', async () => await fixture.engine.run({ parameters: getAll() })],
	stop: ['others', async () => await fixture.engine.run({ parameters: stop })],
	login: ['login', async () => await fixture.engine.run({ parameters: getAll() })],
	'login of a test': ['login', async () => await errorOfTest()],
	'list of a test': ['listClusters', async () => await errorOfTest()],
} as const;

async function errorOfTest() {
	const error: unknown = await fixture.engine.testCredential().catch((thrown: unknown) => thrown);
	return { error: error as Result['error'] };
}

type Kind = keyof typeof requests;

/** Returns the error of a request of this kind that gets this fault. Each login and each test is one of a new account. */
async function errorOf(kind: Kind, fault: Fault) {
	const [operations, run] = requests[kind];
	if (operations !== 'others') await fixture.start({});
	fixture.meets(operations, fault);
	return textsOf(await run());
}

const trace = '\n\tat a.Jobs.create(Jobs.java:12)\n\tat a.Main.main(Main.java:3)';
const timestamp = '2026-11-27T05:02:15.123+00:00';

const refusals: unknown[] = [
	// Single texts.
	'  one\n\ttwo\r\n\r\nthree ',
	{ reason: 'no such group', code: 7, data: null, more: [] },
	// Markup, which is replaced by look-alike characters.
	...[{ message: '<img src=x> <b>one</b>' }, '1 < 2 & <b>3</b> &lt; `4`'],
	// FastAPI, Prefect, Django REST, ASP.NET, Laravel, JSON:API, Jira.
	{ detail: [{ loc: ['body', 'job', 'priority'], msg: 'Input should be a valid integer' }] },
	{ exception_message: 'Invalid request.', exception_detail: [{ msg: 'Field required' }] },
	{ displayName: ['This field may not be blank.'] },
	{ title: 'Validation errors occurred.', errors: { '$.job.priority': ['No number.'] } },
	{ message: 'The data was invalid.', errors: { group: ['The group is required.'] } },
	{ errors: [{ status: '422', source: { pointer: '/job/group' }, title: 'Unknown group' }] },
	{ errorMessages: ['No such project.'], errors: { priority: 'Priority is too high' } },
	// Spring, Kubernetes, problem+json, OAuth, Google.
	{ timestamp, error: 'Bad Request', message: 'Unknown', trace: `a.NoGroup: Unknown${trace}` },
	{ timestamp, status: 400, error: 'Bad Request', path: '/x' },
	{ kind: 'Status', status: 'Failure', message: '"a" is forbidden', reason: 'Forbidden' },
	{ type: 'https://x.example/quota', title: 'Quota Exceeded', detail: 'You have used 10 of 10' },
	{ error: 'invalid_request', error_description: 'The group is unknown' },
	{ error: { code: 400, message: 'Invalid value', status: 'INVALID_ARGUMENT' } },
	// Other alphabets, including those without spaces between words.
	{ code: 'E1001', message: 'グループがありません' },
	{ сообщение: ['Группа не найдена'] },
	// Lists, repetitions, nested values, and keys that JavaScript's objects inherit.
	['one two', { deeper: [null, '', ['three four']] }],
	{ message: 'one two', details: ['one two', 'two'] },
	JSON.parse('{"__proto__":"one two","constructor":{"x":7}}'),
	// The name of the status is no reason.
	...['400 Bad Request', { code: 'BAD_REQUEST' }, { message: 'bad request' }],
	// The title has the message even if the description, which is cut, doesn't.
	{ echo: ['x'.repeat(501)], message: 'no such group' },
	// No text at all.
	...[undefined, null, ' \n', {}, [], { code: 1042 }, { message: '', error: [], id: 7 }],
];

type Answer = [status: number, body: unknown];

const refusedLogins: Answer[] = [
	[401, { code: 'password_expired', message: 'Your password has expired. Change it.' }],
	[403, { message: 'MFA required' }],
	[422, { errors: { userName: ['Unbekannter Benutzer'] } }],
	[404, { message: 'invalid login' }],
	// A proxy requires a login of its own.
	[407, undefined],
	// Refusals without a further reason.
	[401, undefined],
	[401, { message: 'The username or the password is wrong' }],
	[401, { status: 401, error: 'Unauthorized', path: '/oauth/login' }],
	// Answers of addresses that aren't a login endpoint.
	[404, '404 page not found'],
	[404, '<html><body>invalid login</body></html>'],
	[200, '<!DOCTYPE html><html><body>Welcome</body></html>'],
	[404, { timestamp, status: 404, error: 'Not Found', path: '/oauth/login' }],
	[405, { detail: 'Method Not Allowed' }],
];

const failedTests: Answer[] = [
	[400, { code: 'E7', message: 'Accept the terms first' }],
	// For these words, n8n would show its own text instead: a system's error code, even inside a word, and a bad gateway.
	[500, 'connect ECONNREFUSED 10.0.0.1'],
	[400, { message: 'Ask for the experiment' }],
	[500, { message: 'It was a Bad Gateway' }],
	[401, { code: 'wrong', message: 'The username or the password is wrong' }],
];

const failedLists: Answer[] = [
	[200, '<!DOCTYPE html><html><body>Welcome</body></html>'],
	[200, { clusters: [] }],
	[302, undefined],
	[400, { code: 'E7', message: 'Accept the terms first' }],
	[401, { message: 'Who?' }],
	[403, { message: 'No role' }],
	[404, undefined],
	[429, undefined],
	[500, { message: 'No database' }],
	[502, '<html><body>connect ECONNREFUSED</body></html>'],
];

const one = { metadata: { uid: 'one' } };
const all = (status: number, bodies: unknown[]) => bodies.map((body): Answer => [status, body]);

test.each<[after: string, Kind, Answer[]]>([
	['a refused create', 'create', all(400, refusals)],
	[
		'a failed create',
		'create',
		all(500, [`Error: boom${trace}`, 'group is missing:\n  one is needed']),
	],
	[
		'a create of too much',
		'create',
		all(413, [undefined, '<html>413</html>', { message: 'Too Large' }]),
	],
	[
		'a create without a job in the response',
		'create',
		[
			...all(200, [undefined, null, '', [], ['one'], {}, { message: 'one' }, { a: 1, b: 2 }]),
			...all(200, [{ code: 40301, error: { text: 'quota used up' } }, '<!-- login --><html>', 7]),
			...all(
				200,
				['', '  ', -7, 7.5, 2 ** 53, true, null].map((uid) => ({ metadata: { uid } })),
			),
			...all(200, [{ metadata: 'uid' }, { metadata: [{ uid: 'one' }] }, { uid: 'one' }, [one]]),
			...all(201, [undefined, {}, { id: 7 }]),
			...[...all(202, [undefined, {}]), ...all(204, [undefined])],
		],
	],
	[
		'a response that is no list of clusters',
		'list',
		all(200, [
			...[{ items: {} }, { items: 'one' }, { items: ['one'] }, { items: [one, null] }],
			...[{ next: 'b' }, ['b'], true].map((token) => ({
				items: [],
				metadata: { continue: token },
			})),
			...[[one], { clusters: [one] }, { data: { items: [one] } }, { metadata: {}, message: 'no' }],
			...[{ error: { code: 7 } }, { errors: ['maintenance'] }, { code: 0, msg: 'キーが無効です' }],
			...[{ success: false }, { status: 500 }, { items: 7, error: 'maintenance' }],
		]),
	],
	['a refused login', 'login', refusedLogins],
	[
		"a failed test of the credential, which n8n's form shows as one line",
		'login of a test',
		failedTests,
	],
	['a test of the credential in which only the list fails', 'list of a test', failedLists],
])('the error says what the user needs to know, after %s', async (_, kind, answers) => {
	const said: string[] = [];
	for (const [status, body] of answers) {
		const { title, description } = await errorOf(kind, answer(status, body));
		// A login that isn't refused is sent once more.
		expect(fixture.callsOf('login').length).toBeLessThanOrEqual(2);
		const lines = description.split('\n').filter((line) => {
			return !/^$|^Before you |^If it doesn't exist|^(POST|GET) \S+ was /.test(line);
		});
		const page = [`\n${status} ${JSON.stringify(body)}`, title, ...lines].join('\n\t');
		said.push(page.replaceAll(fixture.sandbox.url, '<service>'));
	}
	expect(said.join('\n')).toMatchSnapshot();
});

const no = { message: 'no' };
const askAdministrator = /^Ask the administrator of the service for the reason\./;
const noJob = /^No job 'job-1' in namespace 'default'$/;
const denied =
	'<!DOCTYPE html><html><style>a{}</style><body>Access <b>denied</b><br>&#35;7</body></html>';
const locked = (field: string) => ({ [field]: 'The user is locked', data: 'unknown-text' });
const hidesToken = /^(?!.*unknown-text).*The user is locked/s;
const fromProxy =
	/^Check the 'Base URL'.*\(User-Agent: n8n\)\.\n\nA web page came, .*"Access denied #7"\n/s;
const showsPage =
	/\n\nA web page came, perhaps from a firewall, a proxy or a login page before the service: "Access denied #7"\n/;

test.each<[of: Kind, statuses: number[], unknown, title: RegExp, description?: RegExp]>([
	// This advice is given where it can help.
	['create', [402, 406, 412, 415, 421, 426, 428, 451], no, /: no$/, askAdministrator],
	['list', [402, 415, 451], no, /: no$/, askAdministrator],
	['stop', [402, 406, 451], no, /: no$/, askAdministrator],
	['stop', [410], no, noJob, /^Check 'Job ID' and 'Namespace'\./],
	// A 304 is not called a redirect.
	['list', [304], undefined, /^The service answered with nothing instead of a list of work cl/],
	// The words of the service are not said twice.
	['stop', [404], { message: 'No job job-1' }, noJob],
	['stop', [404], { message: 'no job: JOB-1 (in namespace "default")' }, noJob],
	['stop', [404], { message: 'job-1 has ended' }, / in namespace 'default': job-1 has ended$/],
	// The words of a web page are in the description alone.
	['create', [401], denied, /something before it refused to create the job$/, fromProxy],
	['create', [404], denied, /template or the work cluster was not found$/, showsPage],
	['create', [408, 502], denied, /failed to create the job; the job may exist$/, showsPage],
	['login', [401], denied, /^The service refused the login$/, showsPage],
	['login', [404], denied, /^No login endpoint at \S+\/oauth\/login$/, showsPage],
	['login', [502], denied, /^The service failed to log the user in$/, showsPage],
	// A login without a token shows one field of the response alone, since any other may be a token.
	['login', [200], locked('message'), / of visible ASCII characters$/, hidesToken],
	['login', [200], locked('error'), /: The user is locked$/, hidesToken],
	['login', [200], locked('msg'), / of visible ASCII characters$/, hidesToken],
])(
	'the error of a %s after %j with %j has the title %s',
	async (...[of, statuses, body, title, said = /./]) => {
		for (const status of statuses) {
			const error = await errorOf(of, answer(status, body));
			const description = expect.stringMatching(said) as unknown;
			expect([status, error]).toEqual([
				status,
				{ title: expect.stringMatching(title) as unknown, description },
			]);
		}
	},
);

describe('The title of an error', () => {
	const long = `registry.example.com/${'x'.repeat(120)} is unreachable`;

	test.each([
		['The service refused to create the job', create(), 400, 'default/report was not found'],
		['The service refused to create the job', create(), 400, 'jobs.batch "x" not found'],
		['The service refused to create the job', create(), 400, long],
		// n8n treats a run as cancelled if its error contains this word.
		["Can't stop the job in its current state", stop, 409, 'The job "canceled-7" was canceled'],
		["No job 'canceled-42' in namespace 'default'", change('stop', { jobId: 'canceled-42' }), 404],
		// n8n replaces a title in which it finds the code of a system error.
		["No job 'a-ENOENT' in namespace 'default'", change('stop', { jobId: 'a-ENOENT' }), 404],
	] as const)(
		'"%s", and then quotes the service unchanged, and shortens only the end',
		async (beginning, parameters, status, words = '') => {
			const quote = words.length > 80 ? `${words.slice(0, 79)}…` : words;
			const title = words === '' ? beginning : `${beginning}: ${quote}`;
			fixture.meets('others', answer(status, { message: words }));
			const result = await fixture.engine.run({ parameters });
			expect(textsOf(result).title).toBe(title);
			expect(result.run.status).toBe('error');
			expect(result.error?.message).not.toContain('canceled');
			const onError = 'continueRegularOutput';
			const { items } = await fixture.engine.run({ parameters, onError });
			expect(items[0]?.json.message).toBe(title);
		},
	);

	test('quotes words that are also the reason phrase of the response', async () => {
		const { writeHead } = ServerResponse.prototype;
		jest.spyOn(ServerResponse.prototype, 'writeHead').mockImplementation(function (
			this: ServerResponse,
			...[status, headers]: unknown[]
		) {
			return Reflect.apply(writeHead, this, [status, 'The group is locked.', headers]);
		});
		const { title } = await errorOf('create', answer(400, { message: 'The group is locked.' }));
		expect(title).toMatch(/: The group is locked\.$/);
	});
});

test.each([
	['texts', JSON.stringify({ errors: new Array(1_024).fill('x'.repeat(2_000)) })],
	['a message', JSON.stringify({ message: 'token '.repeat(200_000) })],
	['a list', JSON.stringify(new Array(100_000).fill('a b'))],
	['an object', JSON.stringify(Object.fromEntries(numbered(50_000).map(({ n }) => [n, 'a'])))],
	['a nest', `${'['.repeat(2_000)}"a b"${']'.repeat(2_000)}`],
	['blanks', `"${' '.repeat(1_000_000)}a b"`],
	['frames', JSON.stringify('\n\tat '.repeat(100_000))],
	['tags', `<html><h1>Bad<p>${'<b'.repeat(500_000)}`],
	['tags with a space', `<html><h1>Bad<p>${'<a '.repeat(333_000)}`],
	['comments', `<html><h1>Bad<p>${'<!--'.repeat(250_000)}`],
	['scripts', `<html><h1>Bad<p>${'<script>'.repeat(125_000)}`],
	['ends of scripts', `<html><h1>Bad<p><script>${'</script  '.repeat(100_000)}`],
	['entities', `<html><h1>Bad<p>${'&#'.repeat(500_000)}`],
])('the error for a megabyte of %s is short, and is there at once', async (_, text) => {
	const body: unknown = text.startsWith('<') ? text : JSON.parse(text);
	const before = process.cpuUsage();
	const { description } = await errorOf('list', answer(400, body));
	expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_500);
	expect(description).toMatch(text.startsWith('<') ? /"Bad/ : /The service says: /);
	expect(description.length).toBeLessThan(2_000);
});

test('Markup is shown as text in the job ID of an error, and stays as it is in an error item, which is data', async () => {
	const parameters = change('stop', { jobId: '<b onclick="alert(1)">Session expired' });
	fixture.meets('others', answer(404));
	const { title, description } = textsOf(await fixture.engine.run({ parameters }));
	expect(title).toBe(`No job '‹b onclick="alert(1)"›Session expir…' in namespace 'default'`);
	expect(description).not.toContain('<');
	const onError = 'continueRegularOutput';
	const { items } = await fixture.engine.run({ parameters, onError });
	const message = `No job '<b onclick="alert(1)">Session expir…' in namespace 'default'`;
	expect(items[0]?.json).toMatchObject({ message });
});

test('an error has the HTTP status where n8n looks for it, if there is one', async () => {
	const { error: refused } = await fixture.engine.run({ parameters: stop });
	expect(refused).toMatchObject({ name: 'NodeApiError', httpCode: '404' });
	// n8n's editor shows this text in place of the description.
	const descriptionTemplate = refused?.description?.replaceAll('\n', '<br>');
	expect(refused).toMatchObject({ context: { descriptionTemplate } });
	expect(descriptionTemplate).toContain('<br><br>');
	fixture.engine.saveCredential({ ...credentialFor(fixture.sandbox), baseUrl: 'ftp://nowhere' });
	const { error: unsent } = await fixture.engine.run({ parameters: getAll() });
	expect(unsent).toMatchObject({ name: 'NodeApiError', httpCode: null });
});

const location = 'http://127.0.0.1:9/elsewhere';
const notNow = { 'retry-after': '1' };
const page = '<html><head><title>503 Backend fetch failed</title></head></html>';

const failures: Fault[] = [
	...(['break', 'halfBody', 'stall'] as const).map(
		(kind): Fault => ({ kind, when: 'beforeActing' }),
	),
	...[302, 307].map((status) => answer(status, undefined, { location })),
	...[400, 401, 403, 404, 405, 407, 408, 409, 413, 422, 429, 431].map((status) => answer(status)),
	...[403, 405, 503].map((status) => answer(status, page, notNow)),
	...[423, 429, 500, 503].map((status) => answer(status, { message: 'busy' }, notNow)),
	...[501, 502].map((status) => answer(status, page)),
	...[undefined, [], page].map((body) => answer(200, body)),
];

test.each([
	['a create', create()],
	['a list', getAll()],
	['a state change', stop],
])(
	'the whole error of %s says what happened and what to do, after each failure',
	async (_, node) => {
		const { orRunOut } = hurry();
		const said: string[] = [];
		for (const failure of failures) {
			await fixture.start({});
			fixture.meets('others', () => orRunOut(failure));
			const { title, description } = textsOf(await fixture.engine.run({ parameters: node }));
			said.push(`\n${JSON.stringify(failure)}`, title, description);
		}
		const text = said
			.join('\n')
			.replaceAll(/http:\/\/127\.0\.0\.1:\d{2,}/g, '<service>')
			.replaceAll(/\d\d+ (s for|more|times)/g, '… $1');
		expect(text).toMatchSnapshot();
	},
);
