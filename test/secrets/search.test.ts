/**
 * n8n's log, and all that an error holds, are searched: the engine is this file's own.
 *
 * @jest-environment node
 */
import { change, create, getAll } from '../support/fixture';
import { expectNoSecretIn, placesOf, useTraces } from './traces';

/*
 * That the search for secrets finds what is there; and what a success leaves.
 */

const fixture = useTraces();

test('the search finds what is in the output, the error, the stored execution and the log', async () => {
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

test('a success leaves neither the password nor a token, also after one had expired', async () => {
	for (const [parameters, tokens] of [
		[create(), 2],
		[getAll(), 2],
		[getAll(), 3],
	] as const) {
		if (tokens === 3) fixture.sandbox.tokens.expireAll();
		const traces = await fixture.leftByNode(parameters);
		expect(traces.failed).toBe(false);
		expectNoSecretIn(traces);
	}
});
