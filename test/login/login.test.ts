import type { Fault } from '../../sandbox';
import { batch, tries } from '../reliability/batch';
import { answer, onlyAt } from '../support/answer';
import { create, credentialFor, getAll, numbered, useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';
import type { NodeOptions } from '../support/run';

/*
 * The node sends the user name and the password as entered, and logs in no more often than necessary: refused logins
 * are not repeated, so that no account gets locked.
 */

const odd = { userName: '{"constructor":"Größe 😀"}', password: '"\\ é' };
const fixture = useSandbox({ recordCalls: true, ...odd });

const onError = 'continueRegularOutput';
const words = 'invalid login credentials';

test("the login sends the user name and the password, and each call sends the login's token", async () => {
	await fixture.engine.run({ parameters: getAll() });
	const [login, list] = fixture.sandbox.calls;
	expect(login).toMatchObject({
		method: 'POST',
		path: '/oauth/login',
		body: { ...odd, type: 'basic' },
		token: undefined,
	});
	expect(list).toMatchObject({ status: 200, token: fixture.engine.token });
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
	const { faults } = fixture.sandbox;
	const token = answer(200, { access_token: 'a-token' });
	const refused = answer(400, { message: 'Not 24681357' });
	faults.plan(({ operation }) => (operation === 'login' ? token : refused));
	const { error } = await fixture.engine.run({ parameters: create() });
	expect(error?.description).toMatch(/\nThe answer isn't shown/);
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

/*
 * Each status has its consequences in the snapshot of test/reliability/rules.test.ts. Here, each consequence is tested
 * with a few of them.
 */
describe('With Retry On Fail, and with another node after the first, a login', () => {
	const node = (maxRetries: number): NodeOptions => ({
		parameters: batch({ concurrency: 1, maxRetries }),
		onError,
		settings: tries(),
	});
	const operations = () => fixture.sandbox.calls.map(({ operation }) => operation);

	/** @returns a function that returns for how long the requests have waited */
	function failWith(fault: Fault): () => number {
		const { orRunOut, skippedMs } = hurry();
		fixture.meets('login', () => orRunOut(fault));
		return skippedMs;
	}

	test.each<[name: string, times: 'once' | 'twice by each try', fault: Fault]>([
		// Some services lock the account at the third wrong login.
		['400', 'once', answer(400, { message: words })],
		['401 with a Retry-After', 'once', answer(401, { message: words }, { 'retry-after': '60' })],
		['423', 'once', answer(423, { message: words })],
		['403 and a page', 'once', answer(403, `<html>${words}`, { 'content-type': 'text/html' })],
		// Each of these may be the answer of a proxy, or of a moment. The second one is five seconds later.
		['404 in JSON', 'twice by each try', answer(404, { message: words })],
		['408', 'twice by each try', answer(408)],
		['500', 'twice by each try', answer(500)],
		['a redirect', 'twice by each try', answer(302, undefined, { location: '/sso' })],
		['200 without a token', 'twice by each try', answer(200, { message: 'Ungültige Anmeldung' })],
		['a page', 'twice by each try', { kind: 'html', when: 'beforeActing' }],
		['no answer', 'twice by each try', { kind: 'stall', when: 'beforeActing' }],
	])('that ends in %s is sent %s, and its error quotes the service', async (_, times, fault) => {
		const waitedMs = failWith(fault);
		const next = times === 'once' ? [{ ...node(3), parameters: getAll() }] : [];
		const { items } = await fixture.engine.start([node(3), ...next], numbered(3)).result;
		expect(items).toHaveLength(3);
		if (JSON.stringify(fault).includes(words))
			expect(Object(items[0]?.json.error).description).toContain(words);
		expect(operations()).toEqual(new Array(times === 'once' ? 1 : 6).fill('login'));
		if (times === 'once') {
			expect(waitedMs()).toBeLessThan(10_000);
			return;
		}
		fixture.sandbox.faults.clear();
		await fixture.succeeds(create());
	});

	// The service didn't answer, or only said that it isn't available.
	test.each<[name: string, fault: Fault]>([
		['502', answer(502)],
		['423 with a Retry-After', answer(423, {}, { 'retry-after': '0' })],
		['500 with a Retry-After', answer(500, {}, { 'retry-after': '0' })],
		['429', { kind: 'rateLimit', retryAfter: 0 }],
		['a broken connection', { kind: 'break', when: 'beforeActing' }],
	])('that ends in %s is sent again by the next try, or by the node itself', async (_, fault) => {
		failWith(fault);
		const { items } = await fixture.engine.run(node(0), numbered(3));
		expect(items).toHaveLength(3);
		expect(fixture.callsOf('login').length).toBeGreaterThanOrEqual(3);
		// The failed logins have left no wait behind: once the service works again, so does the next execution.
		fixture.sandbox.faults.clear();
		await fixture.succeeds(create());

		await fixture.start({ recordCalls: true });
		fixture.meets('login', onlyAt(1, fault));
		await fixture.succeeds(create());
		expect(fixture.callsOf('login')).toHaveLength(2);
	});
});
