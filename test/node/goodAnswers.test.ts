import { answer } from '../support/answer';
import { create, getAll, useSandbox } from '../support/fixture';

/*
 * Which answers the node takes for a job, for a page of clusters, and for the last page.
 */

const fixture = useSandbox();

test.each([
	[{ metadata: { uid: '' } }],
	[{ metadata: { uid: '  ' } }],
	[{ metadata: { uid: -7 } }],
	[{ metadata: { uid: 7.5 } }],
	[{ metadata: { uid: 2 ** 60 } }],
	[{ metadata: { uid: null } }],
	[{ metadata: {} }],
	[{ metadata: 'uid' }],
	[{ metadata: [{ uid: 'one' }] }],
	[{ uid: 'one' }],
	[[{ metadata: { uid: 'one' } }]],
])('%j is no job', async (body) => {
	fixture.answerWith('createJob', body);
	const { error, items } = await fixture.engine.run({ parameters: create() });
	expect(items).toEqual([]);
	expect(error?.message).toMatch(/instead of a job.*the job may exist/);
});

test.each([
	[{ items: {} }],
	[{ items: 'one' }],
	[{ items: ['one'] }],
	[{ items: [{ metadata: { uid: 'one' } }, null] }],
	[{ items: [[]] }],
	[{ metadata: {} }],
	[{ items: [], metadata: { continue: { next: 'b' } } }],
	[{ items: [], metadata: { continue: ['b'] } }],
	[{ items: [], metadata: { continue: true } }],
	[[{ metadata: { uid: 'one' } }]],
])('%j is no list of clusters', async (body) => {
	fixture.answerWith('listClusters', body);
	const { error, items } = await fixture.engine.run({ parameters: getAll() });
	expect(items).toEqual([]);
	expect(error?.message).toMatch(/instead of a list of work clusters/);
});

test.each([
	['', []],
	[null, []],
	[undefined, []],
	[false, []],
	['b', ['b']],
	[7, ['7']],
	[0, []],
])('after a page with the token %j those with %j are asked for', async (token, asked) => {
	fixture.sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'listClusters'
			? answer(200, {
					items: [{ metadata: { uid: `c-${nOfOperation}` } }],
					metadata: nOfOperation === 1 ? { continue: token } : {},
				})
			: undefined,
	);
	const { items } = await fixture.engine.run({ parameters: getAll({ returnAll: true }) });
	const tokens = fixture.callsOf('listClusters').map(({ query }) => query['ListOption.continue']);
	expect(tokens).toEqual([undefined, ...asked]);
	expect(items).toHaveLength(tokens.length);
});

test('a list without metadata has one page', async () => {
	fixture.answerWith('listClusters', { items: [{ name: 'one' }] });
	const { items } = await fixture.engine.run({ parameters: getAll({ returnAll: true }) });
	expect(items).toMatchObject([{ json: { name: 'one' } }]);
	expect(fixture.callsOf('listClusters')).toHaveLength(1);
});
