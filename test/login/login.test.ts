import type { Fault } from '../../sandbox';
import { batch, tries } from '../reliability/batch';
import { answer } from '../support/answer';
import { pass } from '../support/clock';
import { create, credentialFor, getAll, numbered, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import type { NodeOptions } from '../support/run';

/*
 * The node sends the user name and the password as entered, and logs in no more often than necessary: refused logins
 * are not repeated, so that no account gets locked.
 */

const fixture = useSandbox({ recordCalls: true });

const onError = 'continueRegularOutput';

test("the login sends the user name and the password, and each call sends the login's token", async () => {
	await fixture.engine.run({ parameters: getAll() });
	const [login, list] = fixture.sandbox.calls;
	expect(login).toMatchObject({
		method: 'POST',
		path: '/oauth/login',
		body: { userName: 'demo', password: fixture.sandbox.password, type: 'basic' },
		token: undefined,
	});
	expect(list?.token).toBe(fixture.engine.token);
	expect(list?.token).toMatch(/^[\w-]{32}$/);
});

test('the node removes spaces around the user name and the Base URL, but never from the password', async () => {
	const { baseUrl, userName, password } = credentialFor(fixture.sandbox);
	const copied = { baseUrl: ` ${baseUrl}\n`, userName: `\t${userName} ` };
	for (const typed of [password, ` ${password} `]) {
		fixture.engine.saveCredential({ ...copied, password: typed });
		await fixture.engine.run({ parameters: getAll() });
	}
	const sent = fixture.callsOf('login').map(({ body }) => body);
	expect(sent).toMatchObject([
		{ userName, password },
		{ userName, password: ` ${password} ` },
	]);
});

test('an error hides the password, even if it is a number', async () => {
	const credential = credentialFor(fixture.sandbox);
	fixture.engine.saveCredential({ ...credential, password: 24_681_357 as never });
	fixture.sandbox.faults.plan(({ operation }) =>
		operation === 'login'
			? answer(200, { access_token: 'a-token' })
			: answer(400, { message: 'Not 24681357' }),
	);
	const { error } = await fixture.engine.run({ parameters: create() });
	expect(error?.description).toMatch(/\nThe service's message isn't shown/);
});

test('the node stores a token and sends it unchanged, whatever visible ASCII characters it contains', async () => {
	const token = String.fromCharCode(...Array.from({ length: 94 }, (_, n) => 0x21 + n));
	expect(token).toMatch(/^!"#.*xyz\{\|\}~$/);
	fixture.sandbox.faults.plan(({ operation }) =>
		answer(200, operation === 'login' ? { access_token: token } : { items: [], metadata: {} }),
	);
	for (let runs = 0; runs < 2; runs += 1) await fixture.succeeds(getAll());
	expect(fixture.callsOf('listClusters').map((call) => call.token)).toEqual([token, token]);
	expect(fixture.callsOf('login')).toHaveLength(1);
});

describe('a wrong password', () => {
	const message = 'The username or the password is wrong';
	const savePassword = (password: string) =>
		fixture.engine.saveCredential({ ...credentialFor(fixture.sandbox), password });

	test.each(['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const)(
		'is sent once for 100 items, with On Error set to %s',
		async (setting) => {
			savePassword(`wrong ${setting}`);
			const node = { parameters: batch({ concurrency: 20 }), onError: setting };
			const { items, error } = await fixture.engine.run(node, numbered(100));
			expect(fixture.sandbox.calls.map(({ operation }) => operation)).toEqual(['login']);
			if (setting === 'stopWorkflow') return expect(error?.message).toBe(message);
			const failed = { message, error: { httpStatus: 401, jobMayExist: false } };
			expect(items.map(({ json }) => json)).toMatchObject(new Array(100).fill(failed));
		},
	);

	test('is sent once if it becomes wrong during the run', async () => {
		fixture.sandbox.faults.plan(({ operation, nOfOperation }) => {
			if (operation === 'createJob' && nOfOperation === 50) return { kind: 'expireTokens' };
			return operation === 'login' && nOfOperation > 1 ? answer(401) : undefined;
		});
		const parameters = batch({ concurrency: 20 });
		const { items } = await fixture.engine.run({ parameters, onError }, numbered(100));
		expect(items).toHaveLength(100);
		expect(fixture.callsOf('login')).toHaveLength(2);
	});

	test('is sent once in half a minute, by whatever execution, node or try', async () => {
		savePassword('wrong twice');
		const node = { parameters: getAll(), onError, settings: tries() } as const;
		for (const [ms, logins] of [
			[0, 1],
			[29_000, 1],
			[2_000, 2],
		] as const) {
			pass(ms);
			const { items } = await fixture.engine.start([node, node], numbered(5)).result;
			expect(items).toMatchObject(new Array(5).fill({ json: { message } }));
			expect(fixture.callsOf('login')).toHaveLength(logins);
		}
	});

	test('is remembered as long after a slow refusal as after a quick one', async () => {
		savePassword('wrong and slow');
		fixture.sandbox.faults.plan(() => {
			pass(60_000);
			return undefined;
		});
		await fixture.engine.run({ parameters: getAll() });
		await fixture.engine.run({ parameters: getAll() });
		expect(fixture.callsOf('login')).toHaveLength(1);
	});

	test('is forgotten as soon as the credential changes', async () => {
		savePassword('mistyped');
		await fixture.engine.run({ parameters: getAll() });
		fixture.engine.saveCredential(credentialFor(fixture.sandbox));
		await fixture.succeeds(getAll());
		expect(fixture.callsOf('login')).toHaveLength(2);
	});
});

const words = 'invalid login credentials';

/** Answers that refuse a login, so that it isn't repeated: some services lock the account at the third wrong login. */
const refusals: Array<[name: string, fault: Fault, said?: string]> = [
	...[400, 401, 403, 418, 422, 423, 451].map((status): (typeof refusals)[number] => [
		String(status),
		answer(status),
	]),
	['401 with a Retry-After', answer(401, {}, { 'retry-after': '1' })],
	...[400, 401, 403, 423].map((status): (typeof refusals)[number] => [
		`${status} with words`,
		answer(status, { message: words }),
		`The service says: "${words}".`,
	]),
	['403 and a page', { kind: 'html', when: 'beforeActing', status: 403 }],
];

/** Answers to a login after which it isn't repeated in its run: each may be that of a proxy, or of a moment. */
const failures: Array<[name: string, fault: Fault]> = [
	...[404, 408, 500, 501, 505, 507].map((status): [string, Fault] => [
		String(status),
		answer(status),
	]),
	['404 in JSON', answer(404, { message: words })],
	['a redirect', answer(302, undefined, { location: '/sso' })],
	['200 without a token', answer(200, { message: 'Ungültige Anmeldung' })],
	['a page', { kind: 'html', when: 'beforeActing' }],
	['no answer', { kind: 'stall', when: 'beforeActing' }],
];

/** Faults of a login that the service didn't answer, or only to say that it isn't available. */
const away: Array<[string, Fault]> = [
	...[502, 503, 504, 520, 530].map((status): [string, Fault] => [String(status), answer(status)]),
	...[400, 423].map((status): [string, Fault] => [
		`${status} with a Retry-After`,
		answer(status, {}, { 'retry-after': '0' }),
	]),
	['500 with a Retry-After', answer(500, {}, { 'retry-after': '0' })],
	['429', { kind: 'rateLimit', retryAfter: 0 }],
	['a broken connection', { kind: 'break', when: 'beforeActing' }],
];

describe('With Retry On Fail, and with another node after the first, a login', () => {
	const node = (maxRetries: number): NodeOptions => ({
		parameters: batch({ concurrency: 1, maxRetries }),
		onError,
		settings: tries(),
	});

	function failWith(fault: Fault): void {
		const { orRunOut } = hurry();
		fixture.meets('login', () => orRunOut(fault));
	}

	test.each(refusals)('that is answered with %s is sent once', async (_, fault, said = '') => {
		failWith(fault);
		const nodes = [node(3), { ...node(3), parameters: getAll() }];
		const { items } = await fixture.engine.start(nodes, numbered(3)).result;
		expect(items).toHaveLength(3);
		expect(Object(items[0]?.json.error).description).toContain(said);
		expect(fixture.sandbox.calls.map(({ operation }) => operation)).toEqual(['login']);
	});

	test.each(failures)('that ends in %s is sent once by each try', async (_, fault) => {
		failWith(fault);
		const { items } = await fixture.engine.run(node(3), numbered(3));
		expect(items).toHaveLength(3);
		expect(fixture.sandbox.calls.map(({ operation }) => operation)).toEqual(
			new Array(3).fill('login'),
		);
		fixture.sandbox.faults.clear();
		await fixture.succeeds(create());
	});

	test.each(away)('that ends in %s is sent again by the next try', async (_, fault) => {
		failWith(fault);
		const { items } = await fixture.engine.run(node(0), numbered(3));
		expect(items).toHaveLength(3);
		expect(fixture.callsOf('login').length).toBeGreaterThanOrEqual(3);
		// The failed logins have left no wait behind: once the service works again, so does the next execution.
		fixture.sandbox.faults.plan(() => undefined);
		const { error } = await fixture.engine.run({ parameters: create() });
		expect(error).toBeUndefined();
	});

	test.each(away)(
		'that ends in %s is sent again by the node itself, and succeeds',
		async (_, fault) => {
			const { orRunOut } = hurry();
			fixture.meets('login', (call) => (call.nOfOperation === 1 ? orRunOut(fault) : undefined));
			await fixture.succeeds(create());
			expect(fixture.callsOf('login')).toHaveLength(2);
		},
	);
});
