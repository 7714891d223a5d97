/**
 * n8n's log, and all that an error holds, are searched: the engine is this file's own.
 *
 * @jest-environment node
 */
import type { Fault, PlannedCall } from '../../sandbox';
import { answer } from '../support/answer';
import { change, getAll } from '../support/fixture';
import { encodings, inHtml } from './encodings';
import { modes, operations, PASSWORD, useTraces } from './traces';

/*
 * A service that repeats what it was sent: in whatever place, in whatever way it writes it. The rest of its words
 * is shown, so that something is seen to have been struck out.
 */

const fixture = useTraces();

interface Echo {
	where: string;
	say: (secret: string) => Fault;
	/** What the error still shows of it. */
	shown: string;
}

const redirect = (location: string): Fault => ({ kind: 'redirect', location });

const refusals: Echo[] = [
	{
		where: 'a message',
		say: (secret) => answer(400, { message: `Not good: ${secret}` }),
		shown: 'Not good: ***',
	},
	{
		where: 'a message, twice',
		say: (secret) => answer(400, { message: `Not ${secret}, nor ${secret}, nor that` }),
		shown: 'Not ***, nor ***, nor that',
	},
	{
		where: 'a nested message',
		say: (secret) => answer(403, { error: { details: [{ msg: `Not good: ${secret}` }] } }),
		shown: 'Not good: ***',
	},
	{
		where: 'plain text',
		say: (secret) => answer(500, `Not good: ${secret}`),
		shown: 'Not good: ***',
	},
	{
		where: 'JSON within a text',
		say: (secret) => answer(400, { message: `Not good: ${JSON.stringify({ value: secret })}` }),
		shown: 'Not good: {"value":"***"}',
	},
	{
		where: 'JSON that is sent as text',
		say: (secret) => answer(422, `Not good: ${JSON.stringify([secret])}`),
		shown: 'Not good: ["***"]',
	},
	{
		where: 'an address within a text',
		say: (secret) => answer(404, `Not here: ?q=${encodeURIComponent(secret)}&a=b`),
		shown: 'Not here: ?q=***',
	},
	{
		where: 'a form within a text',
		say: (secret) => answer(400, `${new URLSearchParams({ q: secret, a: 'b' })}`),
		shown: 'q=***',
	},
	{
		where: 'the title of a page',
		say: (secret) => answer(502, `<html><title>Not good: ${inHtml(secret)}</title></html>`),
		shown: 'Not good: ***',
	},
	{
		where: 'the title of a careless page',
		say: (secret) => answer(502, `<html><title>Not good: ${secret}</title></html>`),
		shown: 'Not good: ***',
	},
	{
		where: 'a 429',
		say: (secret) => answer(429, { message: `Not now: ${secret}` }),
		shown: 'Not now: ***',
	},
	{
		where: 'the end of a long text',
		say: (secret) => answer(400, `${'x'.repeat(480)} ${secret}`),
		shown: 'x ***',
	},
	{
		where: 'the path of a redirect',
		say: (secret) => redirect(`http://127.0.0.1:9/${encodeURIComponent(secret)}/x`),
		shown: 'http://127.0.0.1:9/***/x',
	},
	{
		where: 'the query of a redirect',
		say: (secret) => redirect(`http://127.0.0.1:9/x?a=${encodeURIComponent(secret)}`),
		shown: 'http://127.0.0.1:9/x',
	},
	{
		where: 'the user of a redirect',
		say: (secret) => redirect(`http://me:${encodeURIComponent(secret)}@127.0.0.1:9/`),
		shown: 'http://me:***@127.0.0.1:9/',
	},
];

/** Answers that are no error by their status. What a state change is answered with is handed on as it came. */
const successes: Echo[] = [
	{
		where: 'the message of a success',
		say: (secret) => answer(200, { error: `Not good: ${secret}` }),
		shown: 'Not good: ***',
	},
	{
		where: 'the name of a field',
		say: (secret) => answer(200, { [secret]: 1, other: 2 }),
		shown: 'the fields ***, other',
	},
];
const textOfSuccess: Echo = {
	where: 'the text of a success',
	say: (secret) => answer(200, `Not a job: ${secret}`),
	shown: 'Not a job: ***',
};

/** What is answered to a call, by what it repeats. */
function plan(of: 'login' | 'others', say: (call: PlannedCall) => Fault): void {
	fixture.sandbox.faults.plan((call) =>
		(call.operation === 'login') === (of === 'login') ? say(call) : undefined,
	);
}

const passwordIn = ({ body }: PlannedCall) => (body as { password: string }).password;

const list = getAll({ options: { maxRetries: 0 } });

/** Runs the node: no secret is left, and what stood beside it is. */
async function expectStruckOut(shown: string, parameters = list, inModes = modes) {
	for (const onError of inModes) {
		const { texts } = await fixture.expectNoLeak(parameters, onError);
		expect(texts.get('the run')).toContain(shown);
	}
}

describe('A service that repeats the token in', () => {
	for (const { kind, calls, parameters } of operations) {
		const echoes = kind === 'change' ? refusals : [...refusals, ...successes, textOfSuccess];
		test.each(echoes)(`$where gets it no further: ${calls}`, async ({ say, shown }) => {
			plan('others', ({ token }) => say(token ?? 'no token'));
			await expectStruckOut(shown, parameters);
		});
	}
});

describe('A service that repeats the password in', () => {
	test.each([...refusals, ...successes])(
		'$where of the log-in gets it no further',
		async ({ say, shown }) => {
			plan('login', (call) => say(passwordIn(call)));
			await expectStruckOut(shown);
		},
	);

	test.each([...refusals, ...successes, textOfSuccess])(
		'$where of any other call gets it no further',
		async ({ say, shown }) => {
			plan('others', () => say(PASSWORD));
			await expectStruckOut(shown);
		},
	);

	test('a text that takes the place of a token gets it no further, nor is the text shown', async () => {
		plan('login', (call) => answer(200, `Not a token: ${passwordIn(call)}`));
		const { texts } = await fixture.expectNoLeak(list);
		expect(texts.get('the run')).toContain('a text');
		expect(texts.get('the run')).not.toContain('Not a token');
	});
});

describe('A service that repeats a secret in a 401, whose words are not shown in every n8n,', () => {
	const say = (secret: string) =>
		answer(
			401,
			{ message: secret },
			{ 'www-authenticate': `Bearer error="${encodeURIComponent(secret)}"` },
		);

	test('the token, gets it no further', async () => {
		plan('others', ({ token }) => say(token ?? 'no token'));
		for (const onError of modes) {
			const { tokens } = await fixture.expectNoLeak(getAll(), onError);
			expect(tokens).not.toEqual([]);
		}
	});

	test.each(['login', 'others'] as const)('the password, gets it no further: %s', async (of) => {
		plan(of, () => say(PASSWORD));
		for (const onError of modes) await fixture.expectNoLeak(getAll(), onError);
		expect(fixture.sandbox.calls.map(({ status }) => status)).toContain(401);
	});
});

describe('A service that writes a secret in', () => {
	test.each(encodings)('%s gets it no further: the token', async (_, encode) => {
		plan('others', ({ token }) => answer(400, { message: `Not ${encode(token ?? '')} good` }));
		await expectStruckOut('Not *** good', list, ['stopWorkflow']);
	});

	test.each(encodings)('%s gets it no further: the password, by the log-in', async (_, encode) => {
		plan('login', (call) => answer(400, { message: `Not ${encode(passwordIn(call))} good` }));
		await expectStruckOut('Not *** good', list, ['continueErrorOutput']);
	});

	test.each(encodings)('%s, cut off at its beginning, gets it no further', async (_, encode) => {
		const whole = encode(PASSWORD);
		const end = whole.slice(Math.ceil(whole.length / 3));
		plan('others', () => answer(400, { message: `${end} was not good` }));
		await expectNothingOf(end.slice(8, 24));
	});

	test.each(encodings)('%s, cut off at its end, gets it no further', async (_, encode) => {
		const whole = encode(PASSWORD);
		const beginning = whole.slice(0, Math.ceil(whole.length / 1.5));
		plan('others', () => answer(400, { message: `Not good: ${beginning}` }));
		await expectNothingOf(beginning.slice(-24, -8));
	});
});

/** Runs the node: a part of a secret is nowhere. */
async function expectNothingOf(part: string) {
	const { texts } = await fixture.expectNoLeak(list);
	expect(texts.get('the run')).toMatch(/good/);
	for (const text of texts.values()) expect(text).not.toContain(part);
}

test('What a state change is answered with is handed on as it came', async () => {
	plan('others', ({ token }) => answer(200, { repeated: token }));
	const parameters = change('stop', { jobId: 'a-job' });
	const { items } = await fixture.engine.run({ parameters });
	const sent = fixture.sandbox.calls.at(-1)?.token;
	expect(sent).toMatch(/./);
	expect(items).toMatchObject([{ json: { success: true, response: { repeated: sent } } }]);
});
