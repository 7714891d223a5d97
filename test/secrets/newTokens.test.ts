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

/** A service that repeats a token. */
const repeating = (token: string | undefined) => answer(400, { message: `Bad: ${token}` });

/** Runs the node at a service that repeats a token. */
async function expectWithheld(): Promise<string[]> {
	const { texts, tokens } = await fixture.expectNoLeak(getAll());
	expect(texts.get('the run')).toContain("The service's message isn't shown");
	expect(texts.get('the run')).not.toContain('Bad:');
	return tokens;
}

describe('A token that is not the one stored', () => {
	test('when others have just fetched it, is not repeated', async () => {
		await fixture.engine.run({ parameters: getAll() });
		fixture.engine.saveCredential(credentialFor(fixture.sandbox));
		fixture.sandbox.faults.plan(({ token }) => repeating(token));
		await expectWithheld();
		expect(fixture.sandbox.tokens.issued).toBe(1);
	});

	test.each(['new', 'expired'])(
		'when it took the place of one that had expired: the %s one is not repeated',
		async (which) => {
			await fixture.engine.run({ parameters: getAll() });
			const [expired] = fixture.sandbox.calls.flatMap(({ token }) => token ?? []);
			fixture.sandbox.tokens.expireAll();
			fixture.sandbox.faults.plan(({ operation, nOfOperation, token }) =>
				operation === 'login' || nOfOperation === 1
					? undefined
					: repeating(which === 'new' ? token : expired),
			);
			expect((await expectWithheld()).length).toBeGreaterThanOrEqual(2);
		},
	);

	test('when it took the place of one that was known to have expired, that one is not shown either', async () => {
		await fixture.engine.run({ parameters: getAll() });
		const { storedToken, token: expired } = fixture.engine;
		fixture.sandbox.tokens.expireAll();
		await fixture.engine.run({ parameters: getAll() });
		// Another process writes the one that it has read before.
		fixture.engine.editCredential({ accessToken: storedToken });
		fixture.sandbox.clearCalls();
		fixture.sandbox.faults.plan(() => repeating(expired));
		const { texts } = await fixture.leftByNode(getAll());
		const sent = new Set(fixture.sandbox.calls.map(({ token }) => token));
		expect(sent).toEqual(new Set([fixture.engine.token]));
		expect(placesOf([expired], texts)).toEqual([]);
	});

	test('when it is the sixteenth of an execution: the first is not repeated either', async () => {
		const { engine, sandbox } = fixture;
		const used: string[] = [];
		sandbox.faults.plan(({ operation, token }) => {
			if (operation === 'login' || token === undefined) return undefined;
			if (used.includes(token)) return answer(401, {});
			used.push(token);
			return repeating(used[0]);
		});
		const parameters = create({ options: { concurrency: 1 } });
		const onError = 'continueRegularOutput';
		const { items } = await engine.run({ parameters, onError }, numbered(16));
		expect(used).toHaveLength(16);
		expect(JSON.stringify(items[15])).toContain("The service's message isn't shown");
		expect(placesOf(used, new Map([['the output', JSON.stringify(items)]]))).toEqual([]);
	});

	const token = 'a-token-in-another-shape';
	test.each<unknown>([
		token,
		[token],
		{ token },
		{ data: token },
		{ data: { token } },
		{ body: token },
		{ access_token: [token] },
		{ access_token: { message: token } },
		{ data: { access_token: token }, message: 'ok' },
	])('when the login answers with it in another shape: %j', async (shape) => {
		fixture.sandbox.faults.plan(() => answer(200, shape));
		const { texts, failed } = await fixture.leftByNode(getAll({ options: { maxRetries: 0 } }));
		expect(failed).toBe(true);
		expect(fixture.sandbox.calls.map(({ operation }) => operation)).toEqual(['login']);
		expect(placesOf([token], texts)).toEqual([]);
	});
});
