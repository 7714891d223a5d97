/**
 * n8n's log, and all that an error holds, are searched: the engine is this file's own.
 *
 * @jest-environment node
 */
import type { Fault, PlannedCall } from '../../sandbox';
import { answer } from '../support/answer';
import { change, create, getAll } from '../support/fixture';
import { spellings } from './spellings';
import { expectNoSecretIn, operations, PASSWORD, placesOf, useTraces } from './traces';

/*
 * What a run leaves: neither the password nor a token, whatever fails, and whatever of them the service repeats.
 */

const fixture = useTraces();

const list = getAll({ options: { maxRetries: 0 } });

/** What is answered to the login, or to any other call. */
function plan(of: 'login' | 'others', say: (call: PlannedCall) => Fault): void {
	fixture.sandbox.faults.plan((call) =>
		(call.operation === 'login') === (of === 'login') ? say(call) : undefined,
	);
}

describe('A failure leaves neither the password nor a token:', () => {
	const faults: Array<[string, Fault]> = [
		['a broken connection', { kind: 'break', when: 'beforeActing' }],
		['half a body', { kind: 'halfBody', when: 'beforeActing' }],
		...[400, 401, 403, 404, 429, 500].map((status): [string, Fault] => [
			`${status}`,
			answer(status),
		]),
		['a redirect', { kind: 'redirect', location: 'http://127.0.0.1:9/' }],
		['a page', { kind: 'html', when: 'beforeActing', status: 502 }],
		['no answer', { kind: 'stall', when: 'beforeActing' }],
		['tokens that expire at once', { kind: 'expireTokens' }],
	];

	// What a failure leaves doesn't depend on the call: each fault meets one of them.
	test.each(faults.map((row, n) => [...row, operations[n % operations.length]] as const))(
		'%s',
		async (_, fault, operation) => {
			plan('others', () => fixture.limits.orRunOut(fault));
			const { tokens } = await fixture.expectNoLeak(operation?.parameters ?? list);
			expect(tokens).not.toEqual([]);
		},
	);

	test.each(faults.slice(0, 4))('of the login: %s', async (_, fault) => {
		plan('login', () => fixture.limits.orRunOut(fault));
		await fixture.expectNoLeak(list, 'continueErrorOutput');
	});

	test('a service that is not there', async () => {
		await fixture.sandbox.close();
		await fixture.expectNoLeak(list);
	});
});

describe('A text of the service with a secret is not shown:', () => {
	const MESSAGE = "The service's message isn't shown because it contains the password or token";
	const SHORT = '(not shown: contains a secret)';
	const redirect = (path: string): Fault => ({
		kind: 'redirect',
		location: `http://127.0.0.1:9${path}`,
	});

	/** The place of the secret, an answer with it there, and what the error says instead. */
	test.each<[place: string, say: (secret: string) => Fault, said: string]>([
		['a message', (it) => answer(400, { message: `Bad: ${it}` }), MESSAGE],
		['a 429', (it) => answer(429, { message: `Bad: ${it}` }), MESSAGE],
		['a 401', (it) => answer(401, { message: `Bad: ${it}` }), ''],
		['a nested one', (it) => answer(403, { x: { y: [{ z: `Bad: ${it}` }] } }), MESSAGE],
		['a name', (it) => answer(400, { message: 'Bad: group', errors: { [it]: 'is odd' } }), MESSAGE],
		['a text', (it) => answer(500, `Bad: ${it}`), MESSAGE],
		['JSON in a text', (it) => answer(400, `Bad: ${JSON.stringify([it])}`), MESSAGE],
		['an address', (it) => answer(404, `Bad: ?q=${encodeURIComponent(it)}&a=b`), MESSAGE],
		['a page', (it) => answer(502, `<html>Bad: ${it}</html>`), 'An HTML page came (HTTP 502).'],
		['the end of a long text', (it) => answer(400, `Bad:${'x'.repeat(490)} ${it}`), MESSAGE],
		['a text that is cut', (it) => answer(400, `Bad:${' '.repeat(9_985)}${it}`), MESSAGE],
		['the path of a redirect', (it) => redirect(`/${encodeURIComponent(it)}/x`), SHORT],
		['the query of a redirect', (it) => redirect(`/x?a=${encodeURIComponent(it)}`), SHORT],
		['the message of a success', (it) => answer(200, { error: `Bad: ${it}` }), SHORT],
		['the name of a field', (it) => answer(200, { [it]: [1], other: 2 }), SHORT],
		['the text of a success', (it) => answer(200, `Bad: ${it}`), SHORT],
	])('%s', async (_, say, said) => {
		plan('others', ({ token = 'no token' }) => say(token));
		const ofToken = await fixture.expectNoLeak(list);
		plan('others', () => say(PASSWORD));
		const ofPassword = await fixture.expectNoLeak(list, 'continueErrorOutput');
		for (const { texts } of [ofToken, ofPassword]) {
			expect(texts.get('the run')).toContain(said);
			expect(texts.get('the run')).not.toContain('Bad:');
		}
	});

	test.each(spellings)('in %s', async (_, spell) => {
		// The search finds it, or the test would prove nothing.
		const texts = new Map([['a text', `before ${spell(PASSWORD)} behind`]]);
		expect(placesOf([PASSWORD], texts)).not.toEqual([]);
		plan('others', ({ token = 'none' }) => answer(400, { it: `Bad: ${spell(token)} it is` }));
		const { texts: ofToken } = await fixture.expectNoLeak(list);
		plan('login', () => answer(400, { it: `Bad: ${spell(PASSWORD)} it is` }));
		fixture.sandbox.tokens.expireAll();
		fixture.engine.editCredential({ userName: 'another' });
		const { texts: ofPassword } = await fixture.expectNoLeak(list);
		for (const left of [ofToken, ofPassword]) expect(left.get('the run')).toContain(MESSAGE);
	});

	test('an answer to the login that is no token, whatever it is', async () => {
		for (const body of [`Not a token: ${PASSWORD}`, { data: { key: 'Not a token' } }]) {
			plan('login', () => answer(200, body));
			const { texts } = await fixture.expectNoLeak(list);
			expect(texts.get('the run')).toMatch(/It sent (a text|an object: {\\"data\\":\\"…\\"}) /);
			expect(texts.get('the run')).not.toContain('Not a token');
		}
	});
});

test('The search finds what is in the output, the error, the stored execution and the log', async () => {
	const { texts, tokens } = await fixture.leftByNode(create({ displayName: 'planted-word' }));
	const [uid = ''] = fixture.sandbox.store.jobs.keys();
	expect(placesOf([uid], texts).join()).toMatch(/in the output.*in the run.*in the stored/);
	expect(texts.get("n8n's log")).toMatch(/Running node .*Node 1.* started/);

	const sent = fixture.sandbox.calls.flatMap(({ token }) => token ?? []);
	expect(sent).toHaveLength(2);
	expect(tokens).toEqual(expect.arrayContaining([...sent, fixture.engine.storedToken]));

	const failing = await fixture.leftByNode(change('stop', { jobId: 'planted-id' }));
	expect(placesOf(['planted-id'], failing.texts).join()).toMatch(
		/in the error of the node.*in the run.*in the stored/,
	);
});

test('A success leaves neither the password nor a token, also after one had expired', async () => {
	for (const parameters of [create(), getAll()]) {
		const traces = await fixture.leftByNode(parameters);
		expect(traces.failed).toBe(false);
		expectNoSecretIn(traces);
		fixture.sandbox.tokens.expireAll();
	}
});

test('What a state change is answered with is passed on as it came', async () => {
	plan('others', ({ token }) => answer(200, { repeated: token }));
	const { items } = await fixture.engine.run({ parameters: change('stop', { jobId: 'a-job' }) });
	const sent = fixture.sandbox.calls.at(-1)?.token;
	expect(sent).toMatch(/./);
	expect(items).toMatchObject([{ json: { success: true, response: { repeated: sent } } }]);
});
