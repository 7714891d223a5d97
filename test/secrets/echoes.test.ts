/**
 * n8n's log, and all that an error holds, are searched: the engine is this file's own.
 *
 * @jest-environment node
 */
import type { Fault, PlannedCall } from '../../sandbox';
import { answer } from '../support/answer';
import { change, getAll } from '../support/fixture';
import { inHtml, spellings } from './spellings';
import { modes, operations, PASSWORD, placesOf, useTraces } from './traces';

/*
 * A service that repeats the password or the token: in each place of an answer, in each spelling.
 */

const fixture = useTraces();

const MESSAGE = "The service's message isn't shown because it contains the password or token";
const SHORT = '(not shown: contains a secret)';

interface Place {
	place: string;
	say: (secret: string) => Fault;
	/** What the error says instead. */
	said: string;
}

const redirect = (location: string): Fault => ({ kind: 'redirect', location });
const page = (content: string) => answer(502, `<html>${content}</html>`);

const refusals: Place[] = [
	{ place: 'a message', say: (it) => answer(400, { message: `Bad: ${it}` }), said: MESSAGE },
	{ place: 'a 429', say: (it) => answer(429, { message: `Bad: ${it}` }), said: MESSAGE },
	{ place: 'a 401', say: (it) => answer(401, { message: `Bad: ${it}` }), said: '' },
	{
		place: 'a nested message',
		say: (it) => answer(403, { error: { details: [{ msg: `Bad: ${it}` }] } }),
		said: MESSAGE,
	},
	{
		place: 'a detail',
		say: (it) => answer(400, { message: 'Bad', errors: { name: [`isn't ${it}`] } }),
		said: MESSAGE,
	},
	{ place: 'a text', say: (it) => answer(500, `Bad: ${it}`), said: MESSAGE },
	{
		place: 'JSON in a text',
		say: (it) => answer(400, `Bad: ${JSON.stringify([it])}`),
		said: MESSAGE,
	},
	{
		place: 'an address in a text',
		say: (it) => answer(404, `Bad: ?q=${encodeURIComponent(it)}&a=b`),
		said: MESSAGE,
	},
	{ place: 'a title', say: (it) => page(`<title>Bad: ${inHtml(it)}</title>`), said: MESSAGE },
	{ place: 'a careless title', say: (it) => page(`<title>Bad: ${it}</title>`), said: MESSAGE },
	{ place: 'a careless page', say: (it) => answer(502, `<p>Bad: ${it}</p>`), said: MESSAGE },
	{
		place: 'the end of a long text',
		say: (it) => answer(400, `${'x'.repeat(490)} ${it}`),
		said: MESSAGE,
	},
	{
		place: 'a text that is cut',
		say: (it) => answer(400, `x${' '.repeat(9_985)}${it}`),
		said: MESSAGE,
	},
	{
		place: 'the path of a redirect',
		say: (it) => redirect(`http://127.0.0.1:9/${encodeURIComponent(it)}/x`),
		said: `The service redirects to ${SHORT}`,
	},
	{
		place: 'the query of a redirect',
		say: (it) => redirect(`http://127.0.0.1:9/x?a=${encodeURIComponent(it)}`),
		said: `The service redirects to ${SHORT}`,
	},
];

/** Answers whose status is no error. */
const successes: Place[] = [
	{
		place: 'the message of a success',
		say: (it) => answer(200, { error: `Bad: ${it}` }),
		said: SHORT,
	},
	{ place: 'the name of a field', say: (it) => answer(200, { [it]: 1, other: 2 }), said: SHORT },
];
const textOfSuccess: Place = {
	place: 'the text of a success',
	say: (it) => answer(200, `Bad: ${it}`),
	said: SHORT,
};

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
		test.each(places)(`$place, ${calls}`, async ({ say, said }) => {
			plan('others', ({ token }) => say(token ?? 'no token'));
			await expectWithheld(said, parameters);
		});
	}
});

describe('A text of the service with the password is not shown:', () => {
	test.each([...refusals, ...successes])('$place of the login', async ({ say, said }) => {
		const fault = say(PASSWORD);
		const isRefused = fault.kind === 'answer' && fault.status >= 400 && fault.status < 500;
		plan('login', () => fault);
		await expectWithheld(isRefused ? '' : said);
	});

	test.each([...refusals, ...successes, textOfSuccess])('$place', async ({ say, said }) => {
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
