/**
 * n8n's log, and all that an error holds, are searched: the engine is this file's own.
 *
 * @jest-environment node
 */
import type { Fault, PlannedCall } from '../../sandbox';
import { answer } from '../support/answer';
import { change, getAll } from '../support/fixture';
import { spellings } from './spellings';
import { modes, operations, PASSWORD, placesOf, useTraces } from './traces';

/*
 * A service that repeats the password or the token: in each place of an answer, in each spelling.
 */

const fixture = useTraces();

const MESSAGE = "The service's message isn't shown because it contains the password or token";
const SHORT = '(not shown: contains a secret)';

/** The place of the secret, an answer with it there, and what the error says instead. */
type Place = [place: string, say: (secret: string) => Fault, said: string];

const redirect = (path: string): Fault => ({
	kind: 'redirect',
	location: `http://127.0.0.1:9${path}`,
});

const redirected = `The service redirects to ${SHORT}`;

const refusals: Place[] = [
	['a message', (it) => answer(400, { message: `Bad: ${it}` }), MESSAGE],
	['a 429', (it) => answer(429, { message: `Bad: ${it}` }), MESSAGE],
	['a 401', (it) => answer(401, { message: `Bad: ${it}` }), ''],
	['a nested one', (it) => answer(403, { error: { details: [{ msg: `Bad: ${it}` }] } }), MESSAGE],
	['a detail', (it) => answer(400, { message: 'Bad', detail: [`it is ${it}`] }), MESSAGE],
	['a text', (it) => answer(500, `Bad: ${it}`), MESSAGE],
	['JSON in a text', (it) => answer(400, `Bad: ${JSON.stringify([it])}`), MESSAGE],
	['an address', (it) => answer(404, `Bad: ?q=${encodeURIComponent(it)}&a=b`), MESSAGE],
	['a page', (it) => answer(502, `<html>Bad: ${it}</html>`), 'An HTML page came (HTTP 502).'],
	['the end of a long text', (it) => answer(400, `${'x'.repeat(490)} ${it}`), MESSAGE],
	['a text that is cut', (it) => answer(400, `x${' '.repeat(9_985)}${it}`), MESSAGE],
	['the path of a redirect', (it) => redirect(`/${encodeURIComponent(it)}/x`), redirected],
	['the query of a redirect', (it) => redirect(`/x?a=${encodeURIComponent(it)}`), redirected],
];

/** Answers whose status is no error. */
const successes: Place[] = [
	['the message of a success', (it) => answer(200, { error: `Bad: ${it}` }), SHORT],
	['the name of a field', (it) => answer(200, { items: 1, [it]: 1, other: 2 }), SHORT],
];
const textOfSuccess: Place = ['the text of a success', (it) => answer(200, `Bad: ${it}`), SHORT];

/** What is answered to the login, or to any other call, by what it repeats. */
function plan(of: 'login' | 'others', say: (call: PlannedCall) => Fault): void {
	fixture.sandbox.faults.plan((call) =>
		(call.operation === 'login') === (of === 'login') ? say(call) : undefined,
	);
}

const list = getAll({ options: { maxRetries: 0 } });

/** Runs the node: no secret is left, nor any other word of the text that had it. */
async function expectWithheld(said: string, parameters = list, inModes = modes) {
	for (const onError of inModes) {
		const { texts } = await fixture.expectNoLeak(parameters, onError);
		expect(texts.get('the run')).toContain(said);
		expect(texts.get('the run')).not.toContain('Bad:');
	}
}

describe('A text of the service with the token is not shown:', () => {
	for (const { kind, calls, parameters } of operations) {
		// What a state change is answered with is passed on as it came.
		const places = kind === 'change' ? refusals : [...refusals, ...successes, textOfSuccess];
		test.each(places)(`%s, ${calls}`, async (_, say, said) => {
			plan('others', ({ token }) => say(token ?? 'no token'));
			await expectWithheld(said, parameters);
		});
	}
});

describe('A text of the service with the password is not shown:', () => {
	test.each([...refusals, ...successes])('%s of the login', async (_, say, said) => {
		const fault = say(PASSWORD);
		const isRefused = fault.kind === 'answer' && fault.status >= 400 && fault.status < 500;
		plan('login', () => fault);
		await expectWithheld(isRefused ? '' : said);
	});

	test.each([...refusals, ...successes, textOfSuccess])('%s', async (_, say, said) => {
		plan('others', () => say(PASSWORD));
		await expectWithheld(said);
	});

	test('a text instead of a token, whatever it is', async () => {
		plan('login', () => answer(200, `Not a token: ${PASSWORD}`));
		const { texts } = await fixture.expectNoLeak(list);
		expect(texts.get('the run')).toContain('a text');
		expect(texts.get('the run')).not.toContain('Not a token');
	});
});

describe.each(spellings)('A message with a secret in %s is not shown:', (_, spell) => {
	test('the token', async () => {
		plan('others', ({ token }) => answer(400, { message: `Bad: ${spell(token ?? '')} it is` }));
		await expectWithheld(MESSAGE, list, ['stopWorkflow']);
	});

	test('the password, by the login', async () => {
		plan('login', () => answer(500, { message: `Bad: ${spell(PASSWORD)} it is` }));
		await expectWithheld(MESSAGE, list, ['continueErrorOutput']);
	});

	test('and is found by this search', () => {
		const texts = new Map([['a text', `before ${spell(PASSWORD)} behind`]]);
		expect(placesOf([PASSWORD], texts)).not.toEqual([]);
	});
});

test('What a state change is answered with is passed on as it came', async () => {
	plan('others', ({ token }) => answer(200, { repeated: token }));
	const { items } = await fixture.engine.run({ parameters: change('stop', { jobId: 'a-job' }) });
	const sent = fixture.sandbox.calls.at(-1)?.token;
	expect(sent).toMatch(/./);
	expect(items).toMatchObject([{ json: { success: true, response: { repeated: sent } } }]);
});
