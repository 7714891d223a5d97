import type { Fault } from '../../sandbox';
import { batch, contextOf } from '../reliability/batch';
import { until } from '../sandbox/client';
import { answer } from '../support/answer';
import { change, create, getAll, newSandbox, numbered } from '../support/fixture';
import { everyText } from './everyText';
import { PASSWORD } from './spellings';
import { expectNoSecretIn, operations, placesOf, useTraces } from './traces';

/*
 * A run leaves neither the password nor a token in its error, the stored execution or the log, and in its output only
 * as a part of an unchanged response. This holds after any failure, and even if the service repeats a secret. The token
 * is never sent to a host to which the service redirects; login/otherNodes.test.ts has the requests of other nodes.
 */

const fixture = useTraces();

const list = getAll({ options: { maxRetries: 0 } });

test.each<[string, Fault]>([
	['a broken connection', { kind: 'break', when: 'beforeActing' }],
	...[400, 401, 429, 500].map((status): [string, Fault] => [`${status}`, answer(status)]),
	['a redirect', { kind: 'redirect', location: 'http://127.0.0.1:9/' }],
	['a page', { kind: 'html', when: 'beforeActing', status: 502 }],
	['no answer', { kind: 'stall', when: 'beforeActing' }],
	['tokens that expire at once', { kind: 'expireTokens' }],
])(
	'A failure leaves neither the password, nor a token, nor the sent body, in a call and in a login: %s',
	async (_, fault) => {
		// What a failure leaves behind doesn't depend on the call, so each fault is tested with one call.
		fixture.meets('others', () => fixture.limits.orRunOut(fault));
		const metadata = '={{ JSON.stringify({ a: "planted".concat("-word") }) }}';
		const parameters = create({ additionalFields: { metadata }, options: { maxRetries: 0 } });
		const { texts, tokens } = await fixture.expectNoLeak(parameters);
		expect(tokens).not.toEqual([]);
		expect(JSON.stringify(fixture.sentJobs())).toContain('planted-word');
		expect(placesOf(['planted-word'], texts)).toEqual([]);
		if (fault.kind === 'expireTokens') return;
		fixture.engine.editCredential({ userName: 'another' });
		fixture.meets('login', () => fixture.limits.orRunOut(fault));
		await fixture.expectNoLeak(list, 'continueErrorOutput');
	},
);

test('A service that cannot be reached leaves neither', async () => {
	await fixture.sandbox.close();
	await fixture.expectNoLeak(list);
});

describe('A text of the service with a secret is not shown:', () => {
	const ANSWER = "The answer isn't shown: it contains the password or a token.";
	const SHORT = '(not shown: contains a secret)';
	const redirect = (path: string): Fault => ({
		kind: 'redirect',
		location: `http://127.0.0.1:9${path}`,
	});

	/** The place of the secret, a response that has it there, and the text that the error has instead. */
	test.each<[place: string, say: (secret: string) => Fault, said: string]>([
		['a message', (it) => answer(400, { message: `Bad: ${it}` }), ANSWER],
		['a 429', (it) => answer(429, { message: `Bad: ${it}` }), ANSWER],
		['a 401', (it) => answer(401, { message: `Bad: ${it}` }), ''],
		['a nested one', (it) => answer(403, { x: { y: [{ z: `Bad: ${it}` }] } }), ANSWER],
		['a name', (it) => answer(400, { message: 'Bad: group', errors: { [it]: 'is odd' } }), ANSWER],
		['the text of a page', (it) => answer(502, `<html><h1>Bad: ${it}</h1>`), ANSWER],
		[
			'a text that the page spells otherwise',
			(it) => {
				const [first = '', ...others] = [...it].map((letter) => `&#${letter.codePointAt(0)};`);
				return answer(403, `<html><h1>Bad: <b>${first}</b>${others.join('')}</h1>`);
			},
			ANSWER,
		],
		[
			'a text in which the page breaks the line',
			(it) => {
				const escaped = it.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll(' ', '\n');
				return answer(403, `<html><h1>Bad: ${escaped}</h1>`);
			},
			ANSWER,
		],
		['the end of a long text', (it) => answer(400, `Bad:${'x'.repeat(490)} ${it}`), ANSWER],
		['a text after blanks', (it) => answer(400, `${' '.repeat(9_985)}Bad: ${it}`), ANSWER],
		['the path of a redirect', (it) => redirect(`/${encodeURIComponent(it)}/x`), SHORT],
		[
			'the query of a redirect',
			(it) => redirect(`/x?a=${encodeURIComponent(it)}`),
			'leads to http://127.0.0.1:9/x.',
		],
		['the message of a success', (it) => answer(200, { error: `Bad: ${it}` }), ANSWER],
		['the name of a field', (it) => answer(200, { [it]: [1], other: 2 }), ANSWER],
		['the text of a success', (it) => answer(200, `Bad: ${it}`), ANSWER],
	])('%s', async (_, say, said) => {
		fixture.meets('others', ({ token = 'no token' }) => say(token));
		const ofToken = await fixture.expectNoLeak(list);
		fixture.meets('others', () => say(PASSWORD));
		const ofPassword = await fixture.expectNoLeak(list, 'continueErrorOutput');
		for (const { texts } of [ofToken, ofPassword]) {
			expect(texts.get('the run')).toContain(said);
			expect(texts.get('the run')).not.toContain('Bad:');
		}
	});

	test('where the text is cut off within it', async () => {
		fixture.meets('others', () => answer(400, `Bad: ${' '.repeat(9_985)}${PASSWORD}`));
		const { texts } = await fixture.expectNoLeak(list);
		expect(texts.get('the run')).not.toContain(PASSWORD.slice(0, 5));
	});

	const token = 'a-token-in-another-shape';
	test.each<unknown>([
		`Not a token: ${PASSWORD}`,
		{ message: `Not a token: ${PASSWORD}` },
		[token],
		{ data: { key: token } },
		{ access_token: { message: token } },
		{ data: { access_token: token }, message: 'ok' },
	])('a response to the login without a token: %j', async (body) => {
		fixture.meets('login', () => answer(200, body));
		const { texts } = await fixture.expectNoLeak(list);
		expect(texts.get('the run')).toMatch(
			/answered with (a text|a list|an object) instead of a token/,
		);
		expect(texts.get('the run')).not.toContain('Not a token');
		expect(placesOf([token], texts)).toEqual([]);
		expect(fixture.callsOf('login')).toHaveLength(fixture.sandbox.calls.length);
	});
});

test('The search of these tests finds texts in the output, the error, the stored execution and the log', async () => {
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

test('A success leaves neither the password nor a token, even after a token has expired', async () => {
	for (const parameters of [create(), getAll()]) {
		const traces = await fixture.leftByNode(parameters);
		expect(traces.failed).toBe(false);
		expectNoSecretIn(traces);
		fixture.sandbox.tokens.expireAll();
	}
});

test('The output contains the unchanged response of the service', async () => {
	const body = { metadata: { uid: PASSWORD } };
	fixture.meets('others', () => answer(200, body));
	const stopped = await fixture.engine.run({ parameters: change('stop', { jobId: 'a-job' }) });
	expect(stopped.items).toMatchObject([{ json: { success: true, response: body } }]);
	const created = await fixture.engine.run({ parameters: create() });
	expect(created.items).toMatchObject([{ json: body }]);
});

describe('A job whose ID contains a secret', () => {
	const parameters = batch({ concurrency: 1, maxRetries: 0 });

	/** Makes the service create the first job with this ID, and end the second create with `second`. */
	function firstJobIs(
		uid: (token: string) => string,
		second = answer(400, { message: 'no' }),
	): void {
		fixture.meets('createJob', ({ nOfOperation, token = 'no token' }) => {
			const metadata = { uid: uid(token), namespace: `in ${token}` };
			return nOfOperation === 1 ? answer(200, { metadata, displayName: 'Report' }) : second;
		});
	}

	test.each<[string, (token: string) => string]>([
		['the token', (token) => `job-${token}`],
		['the token in JSON', (token) => JSON.stringify(token)],
		['the password in percent encoding', () => `job-${encodeURIComponent(PASSWORD)}`],
	])('is listed without its ID in sentences, and with it for machines: %s', async (_, uid) => {
		firstJobIs(uid);
		const result = await fixture.engine.run({ parameters }, numbered(2));
		const { error } = result;
		const { token } = fixture.engine;
		const { createdJobs, descriptionTemplate, ...others } = contextOf(result);
		expect(createdJobs).toMatchObject([{ uid: uid(token), displayName: 'Job 0' }]);
		const sentences = [error?.message, error?.description, descriptionTemplate].join('\n');
		expect(sentences).toContain('• item 0: (not shown: contains a secret) (');
		const shown = [sentences, ...everyText(others)].join('\n');
		expect(placesOf([PASSWORD, token], new Map([['the error', shown]]))).toEqual([]);
	});

	test('is also listed without its ID in the log, if the execution is cancelled', async () => {
		firstJobIs((token) => `job-${token}`, { kind: 'stall', when: 'beforeActing' });
		const traces = await fixture.leftBy(async () => {
			const { result, cancel } = fixture.engine.start([{ parameters }], numbered(2));
			await until(() => fixture.callsOf('createJob').length === 2);
			cancel();
			fixture.limits.runOut();
			return await result;
		});
		const [line = ''] =
			/^.*was cancelled\. Jobs already created: .*$/m.exec(traces.texts.get("n8n's log") ?? '') ??
			[];
		expect(line).toContain('(not shown: contains a secret)');
		expect(placesOf([PASSWORD, ...traces.tokens], new Map([['the line', line]]))).toEqual([]);
	});
});

test.each(['default', 'admin'])(
	'An error shows the values of the workflow, even if the password is a word in them: %s',
	async (password) => {
		await fixture.start({ password });
		fixture.meets('createJob', ({ nOfOperation }) =>
			nOfOperation === 2 ? answer(500) : undefined,
		);
		const options = { concurrency: 1, maxRetries: 0 };
		const parameters = create({ displayName: "=Admin's Report {{ $json.n }}", options });
		const { error: made } = await fixture.engine.run({ parameters }, numbered(2));
		const [uid] = fixture.sandbox.store.jobs.keys();
		for (const text of [
			"look on the service for a job named 'Admin's Report 1' in namespace 'default'",
			`Jobs already created (1):\n• item 0: ${uid} ('Admin's Report 0' in namespace 'default')`,
		]) {
			expect(made?.description).toContain(text);
		}
		const stop = change('stop', { jobId: 'admin', options });
		const { error } = await fixture.engine.run({ parameters: stop });
		expect(error?.message).toContain("No job 'admin' in namespace 'default'");
		expect(JSON.stringify([made, error])).not.toContain('not shown');
	},
);

test.each(['its successor', 'the expired one', 'one that another process has stored'])(
	'An error hides each token that the node knows, after a token has expired: %s',
	async (which) => {
		await fixture.engine.run({ parameters: getAll() });
		const { token: expired } = fixture.engine;
		fixture.sandbox.tokens.expireAll();
		fixture.sandbox.clearCalls();
		const stored = 'issued-to-another-process';
		if (which.includes('process')) fixture.engine.storeAsOtherProcess(stored);
		fixture.meets('others', ({ token = '' }) => {
			if (token === expired) return undefined;
			const said = which === 'the expired one' ? expired : token;
			return answer(400, { message: `Bad: ${said}` });
		});
		const { texts, tokens } = await fixture.expectNoLeak(getAll());
		expect(tokens.length).toBeGreaterThanOrEqual(2);
		if (which.includes('process')) expect(tokens).toContain(stored);
		expect(texts.get('the run')).toContain("The answer isn't shown");
		expect(texts.get('the run')).not.toContain('Bad:');
	},
);

test('Another host gets no request if the service redirects to it', async () => {
	const elsewhere = await newSandbox();
	for (const status of [301, 302, 303, 307, 308] as const) {
		const redirect: Fault = { kind: 'redirect', status, location: `${elsewhere.url}/x` };
		fixture.meets('others', redirect);
		for (const parameters of operations) await fixture.expectNoLeak(parameters);
		fixture.engine.editCredential({ accessToken: '', userName: `redirected with ${status}` });
		fixture.meets('login', redirect);
		await fixture.expectNoLeak(list);
		fixture.engine.editCredential({ userName: fixture.sandbox.userName });
	}
	expect(elsewhere.calls).toEqual([]);
});
