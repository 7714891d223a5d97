/**
 * n8n's log, and all that an error holds, are searched: the engine is this file's own.
 *
 * @jest-environment node
 */
import { answer } from '../support/answer';
import { create, credentialFor, getAll, numbered } from '../support/fixture';
import { placesOf, useTraces } from './traces';

/*
 * Tokens that are not the one with which the execution began.
 */

const fixture = useTraces();

/** A service that repeats the token in place of a list. */
const repeating = ({ token }: { token: string | undefined }) =>
	answer(200, `Not a list: ${token ?? 'no token'}`);

describe('A token that is not the one stored', () => {
	test('when others have just fetched it, is not repeated', async () => {
		await fixture.engine.run({ parameters: getAll() });
		fixture.engine.saveCredential(credentialFor(fixture.sandbox));
		fixture.sandbox.faults.plan(repeating);
		const { texts } = await fixture.expectNoLeak(getAll());
		expect(texts.get('the run')).toContain('Not a list: ***');
		expect(fixture.sandbox.tokens.issued).toBe(1);
	});

	test('when it took the place of one that had expired, is not repeated', async () => {
		await fixture.engine.run({ parameters: getAll() });
		fixture.sandbox.tokens.expireAll();
		fixture.sandbox.faults.plan((call) => {
			if (call.operation === 'login') return undefined;
			return call.nOfOperation === 1 ? undefined : repeating(call);
		});
		const { texts, tokens } = await fixture.expectNoLeak(getAll());
		expect(texts.get('the run')).toContain('Not a list: ***');
		expect(tokens.length).toBeGreaterThanOrEqual(2);
	});

	test('when the service repeats the one that has expired, that one is not shown either', async () => {
		await fixture.engine.run({ parameters: getAll() });
		const [expired] = fixture.sandbox.calls.flatMap(({ token }) => token ?? []);
		fixture.sandbox.tokens.expireAll();
		fixture.sandbox.faults.plan((call) =>
			call.operation === 'login' || call.nOfOperation === 1
				? undefined
				: answer(400, { message: `Not any more: ${expired}` }),
		);
		const { texts } = await fixture.expectNoLeak(getAll());
		expect(texts.get('the run')).toContain('Not any more: ***');
	});

	test('when it took the place of one that was known to have expired, that one is not shown either', async () => {
		await fixture.engine.run({ parameters: getAll() });
		const { storedToken, token: expired } = fixture.engine;
		fixture.sandbox.tokens.expireAll();
		await fixture.engine.run({ parameters: getAll() });
		// Another process writes the one that it has read before.
		fixture.engine.editCredential({ accessToken: storedToken });
		fixture.sandbox.clearCalls();
		fixture.sandbox.faults.plan(() => answer(400, { message: `Not any more: ${expired}` }));
		const { texts } = await fixture.leftByNode(getAll());
		const sent = new Set(fixture.sandbox.calls.map(({ token }) => token));
		expect(sent).toEqual(new Set([fixture.engine.token]));
		expect(texts.get('the run')).toContain('Not any more: ***');
		expect(placesOf([expired], texts)).toEqual([]);
	});

	test('when it is the sixteenth of an execution, is not shown, nor are those before', async () => {
		const { engine, sandbox } = fixture;
		const used: string[] = [];
		sandbox.faults.plan(({ operation, token }) => {
			if (operation === 'login' || token === undefined) return undefined;
			if (used.includes(token)) return answer(401, {});
			used.push(token);
			return answer(422, { message: `Used by now: ${used.join(', ')}` });
		});
		const { items } = await engine.run(
			{
				parameters: create({ options: { concurrency: 1 } }),
				onError: 'continueRegularOutput',
			},
			numbered(16),
		);
		expect(used).toHaveLength(16);
		expect(JSON.stringify(items[15])).toContain(`Used by now: ${used.map(() => '***').join(', ')}`);
		expect(placesOf(used, new Map([['the output', JSON.stringify(items)]]))).toEqual([]);
	});

	const token = 'a-token-in-another-shape';
	const shapes: unknown[] = [
		token,
		[token],
		{ token },
		{ data: token },
		{ data: { token } },
		{ body: token },
		{ access_token: [token] },
		{ access_token: { message: token } },
		{ data: { access_token: token }, message: 'ok' },
	];
	test.each(shapes)('when the log-in answers with it in a shape of its own: %j', async (shape) => {
		fixture.sandbox.faults.plan(() => answer(200, shape));
		const { texts, failed } = await fixture.leftByNode(getAll({ options: { maxRetries: 0 } }));
		expect(failed).toBe(true);
		expect(fixture.sandbox.calls.map(({ operation }) => operation)).toEqual(['login']);
		expect(placesOf([token], texts)).toEqual([]);
	});

	test('nor is a part of it, where a text had to be cut', async () => {
		const parts: string[] = [];
		fixture.sandbox.faults.plan((call) => {
			if (call.operation === 'login') return undefined;
			parts.push((call.token ?? '').slice(0, 10));
			return answer(400, `a${' '.repeat(9_985)}${call.token}`);
		});
		const { texts } = await fixture.leftByNode(getAll());
		expect(parts).toEqual(new Array(2).fill(expect.stringMatching(/^.{10}$/)));
		expect(placesOf(parts, texts)).toEqual([]);
	});
});
