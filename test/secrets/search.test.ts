/**
 * n8n's log, and all that an error holds, are searched: the engine is this file's own.
 *
 * @jest-environment node
 */
import { change, create, getAll } from '../support/fixture';
import { encodings } from './encodings';
import { everyText } from './everyText';
import { expectNoSecretIn, PASSWORD, placesOf, useTraces } from './traces';

/*
 * That the search for secrets finds what is there; and what a success leaves.
 */

const fixture = useTraces();

describe('The search', () => {
	test('finds what is there: in the output, in the error, in the stored execution', async () => {
		const { texts } = await fixture.leftByNode(create({ displayName: 'planted-word' }));
		const [uid = ''] = fixture.sandbox.store.jobs.keys();
		expect(placesOf([uid], texts).join()).toMatch(/in the output.*in the run.*in the stored/);

		const failing = await fixture.leftByNode(change('stop', { jobId: 'planted-id' }));
		expect(placesOf(['planted-id'], failing.texts).join()).toMatch(
			/in the error of the node.*in the run.*in the stored/,
		);
	});

	test("reads n8n's log, which is at its most talkative", async () => {
		const { texts } = await fixture.leftByNode(create());
		expect(texts.get("n8n's log")).toMatch(/Running node .*Node 1.* started/);
	});

	test('knows the tokens: those that were sent, and what is stored', async () => {
		const { tokens } = await fixture.leftByNode(create());
		const sent = fixture.sandbox.calls.flatMap(({ token }) => token ?? []);
		expect(sent).toHaveLength(2);
		expect(tokens).toEqual(expect.arrayContaining([...sent, fixture.engine.storedToken]));
	});

	test('looks behind what is hidden', () => {
		const error = new Error('a', {
			cause: Object.defineProperty({}, 'b', { value: new Map([['c', 'd']]) }),
		});
		Object.assign(error, { toJSON: () => ({ e: Buffer.from('f') }) });
		expect([...everyText(error)]).toEqual(expect.arrayContaining(['a', 'b', 'c', 'd', 'e', 'f']));
	});

	test.each(encodings)('knows the password in %s', (_, encode) => {
		const texts = new Map([['a text', `before ${encode(PASSWORD)} behind`]]);
		expect(placesOf([PASSWORD], texts)).not.toEqual([]);
	});
});

describe('A success leaves neither the password nor a token:', () => {
	test('of a create', async () => {
		const traces = await fixture.leftByNode(create());
		expect(traces).toMatchObject({
			failed: false,
			tokens: [expect.any(String), expect.any(String)],
		});
		expectNoSecretIn(traces);
	});

	test('of a list, with a token that was new, and with one that had expired', async () => {
		for (const expired of [false, true]) {
			if (expired) fixture.sandbox.tokens.expireAll();
			const traces = await fixture.leftByNode(getAll());
			expect(traces.failed).toBe(false);
			expect(traces.tokens.length).toBe(expired ? 3 : 2);
			expectNoSecretIn(traces);
		}
	});
});
