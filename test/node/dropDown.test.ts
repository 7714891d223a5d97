import { answer } from '../support/answer';
import { useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';

/*
 * The drop-down of work clusters lists every cluster once, finds clusters by a part of their text, and shows the errors
 * of the node.
 */

const fixture = useSandbox({ clusters: 350 });

const search = async (filter?: string, paginationToken?: string) =>
	await fixture.engine.listSearch('searchClusters', filter, paginationToken);

const valuesOf = ({ results }: Awaited<ReturnType<typeof search>>) =>
	results.map(({ value }) => value);

/** Returns the values of all pages, as if the user opened the list and scrolled to its end. */
async function allPages(): Promise<unknown[][]> {
	const pages: unknown[][] = [];
	let token: string | undefined;
	do {
		const page = await search(undefined, token);
		pages.push(valuesOf(page));
		token = page.paginationToken as string | undefined;
	} while (token !== undefined);
	return pages;
}

test('the list of work clusters comes in pages, and shows the kind of each cluster, and its phase if it does not run', async () => {
	const { results } = await search();
	expect(results[0]).toEqual({ name: 'north-master-1 (master)', value: 'wc-000001' });
	expect(results[3]?.name).toMatch(/\(\w+, Pending when listed\)$/);
	const pages = await allPages();
	expect(pages.map(({ length }) => length)).toEqual([100, 100, 100, 50]);
	expect(pages[1]?.[0]).toBe('wc-000101');
});

test.each([
	['looks through the pages until it finds something', ' WC-000333 ', ['wc-000333'], 4],
	['that finds nothing ends at the end of the list', 'no such cluster', [], 4],
	['finds a part of the name, with the type', 'Virtual-2 (virtual)', ['wc-000002'], 1],
	['finds the phase, as the list shows it', 'master-4 (master, pending', ['wc-000004'], 1],
])('a search %s', async (_, text, found, requests) => {
	const page = await search(text);
	expect(valuesOf(page)).toEqual(found);
	expect(page.paginationToken !== undefined).toBe(requests === 1);
	expect(fixture.callsOf('listClusters')).toHaveLength(requests);
});

test('the list leaves out a cluster without an ID, shows the ID of one without a name, and may be cut off by the service', async () => {
	const items = [
		{ name: 'no metadata', type: 'master' },
		{ metadata: {}, name: 'no uid' },
		{ metadata: { uid: '' }, name: 'an empty uid' },
		{ metadata: { uid: 7 }, name: 'a number' },
		{ metadata: { uid: 'c1' } },
		{ metadata: { uid: 'c2' }, name: '', type: 'master', status: { phase: 'Running' } },
		{ metadata: { uid: 'c3' }, name: 'third', status: null },
		{ metadata: { uid: 'c4' }, name: 'fourth', type: '', status: { phase: '' } },
	];
	fixture.answerWith('listClusters', { items, metadata: { remainingItemCount: 7 } });
	expect(await search()).toEqual({
		results: [
			{ name: 'a number', value: '7' },
			{ name: 'c1', value: 'c1' },
			{ name: 'c2 (master)', value: 'c2' },
			{ name: 'third', value: 'c3' },
			{ name: 'fourth', value: 'c4' },
		],
	});
});

test('the list waits 20 seconds for a response, and sends the request once more', async () => {
	await search();
	fixture.sandbox.clearCalls();
	const { orRunOut } = hurry();
	fixture.meets('listClusters', () => orRunOut({ kind: 'stall', when: 'beforeActing' }));
	const message = expect.stringMatching(/didn't answer within 20 s$/) as unknown;
	await expect(search()).rejects.toMatchObject({ message });
	expect(fixture.callsOf('listClusters')).toHaveLength(2);
});

test.each<[number, message: RegExp, advice: RegExp]>([
	[422, /^The service refused to list the work clusters: nein$/, /^Choose 'By ID' in the field/],
	[409, /^The service refused to list the work clusters: nein$/, /^Choose 'By ID' in the field/],
	[404, /^No list of work clusters at /, /^Check the 'Base URL' in the credential/],
])(
	'after a %i, the list shows the error %s, which names no field that the list lacks',
	async (status, message, advice) => {
		fixture.meets('listClusters', answer(status, { message: 'nein' }));
		await expect(search()).rejects.toMatchObject({
			name: 'NodeApiError',
			message: expect.stringMatching(message) as unknown,
			description: expect.stringMatching(advice) as unknown,
		});
		const queries = fixture.callsOf('listClusters').map(({ query }) => query);
		expect(queries).toEqual([{ 'ListOption.limit': '100' }]);
	},
);

test('the list offers each cluster once, and a search finds the last one, if the service sends smaller pages than requested and numbers them', async () => {
	const smaller = { maxPageSize: 50, pageNumbers: true };
	await fixture.start({ clusters: 120, ...smaller });
	const all = [...fixture.sandbox.store.clusters].map(({ metadata }) => metadata.uid);
	expect((await allPages()).flat()).toEqual(all);
	expect(valuesOf(await search('wc-000120'))).toEqual(['wc-000120']);
});

test('a search stops after five pages, and can be continued from there', async () => {
	await fixture.start({ clusters: 750 });
	const first = await search('wc-000701');
	expect(first).toEqual({ results: [], paginationToken: expect.any(String) });
	expect(fixture.callsOf('listClusters')).toHaveLength(5);
	const next = await search('wc-000701', String(first.paginationToken));
	expect(valuesOf(next)).toEqual(['wc-000701']);
});
