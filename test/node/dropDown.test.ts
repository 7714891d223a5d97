import { answer } from '../support/answer';
import { useSandbox } from '../support/fixture';
import { hurry } from '../support/hurry';

const fixture = useSandbox({ clusters: 350 });

const search = async (filter?: string, paginationToken?: string) =>
	await fixture.engine.listSearch('searchClusters', filter, paginationToken);

test('the list of work clusters comes in pages, each cluster with its kind and what is not usual', async () => {
	const first = await search();
	expect(first.results).toHaveLength(100);
	expect(first.results[0]).toEqual({ name: 'north-master-1 (master)', value: 'wc-000001' });
	expect(first.results[3]).toMatchObject({
		name: expect.stringMatching(/\(\w+, Pending when listed\)$/),
	});
	const second = await search(undefined, String(first.paginationToken));
	expect(second.results[0]?.value).toBe('wc-000101');
	const fourth = await search(
		undefined,
		String((await search(undefined, String(second.paginationToken))).paginationToken),
	);
	expect(fourth.results).toHaveLength(50);
	expect(fourth.paginationToken).toBeUndefined();
});

test('a search looks through the pages until it finds something', async () => {
	const found = await search(' WC-000333 ');
	expect(found.results.map(({ value }) => value)).toEqual(['wc-000333']);
	expect(fixture.callsOf('listClusters')).toHaveLength(4);
});

test('a search that finds nothing ends at the end of the list', async () => {
	expect(await search('no such cluster')).toEqual({ results: [] });
});

test('its errors are those of the node', async () => {
	fixture.engine.saveCredential({
		baseUrl: fixture.sandbox.url,
		userName: 'demo',
		password: 'not it',
	});
	await expect(search()).rejects.toMatchObject({
		name: 'NodeApiError',
		message: 'The username or the password is wrong',
	});
});

test.each([
	['a part of the name, with the type', 'Virtual-2 (virtual)', ['wc-000002']],
	['the phase, as the list shows it', 'master-4 (master, pending', ['wc-000004']],
])('a search finds %s', async (_, text, found) => {
	const { results } = await search(text);
	expect(results.map(({ value }) => value)).toEqual(found);
});

test('what has no ID is not offered, what has no name goes by its ID', async () => {
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
	fixture.answerWith('listClusters', { items, metadata: {} });
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

test('a service that does not answer is given 20 seconds, and asked once more', async () => {
	await search();
	fixture.sandbox.clearCalls();
	const { orRunOut } = hurry();
	fixture.sandbox.faults.plan(({ operation }) =>
		operation === 'listClusters' ? orRunOut({ kind: 'stall', when: 'beforeActing' }) : undefined,
	);
	try {
		await expect(search()).rejects.toMatchObject({
			message: expect.stringMatching(/didn't answer within 20 s$/),
		});
	} finally {
		jest.restoreAllMocks();
	}
	expect(fixture.callsOf('listClusters')).toHaveLength(2);
});

describe('Of a service that lists otherwise', () => {
	const valuesOf = ({ results }: Awaited<ReturnType<typeof search>>) =>
		results.map(({ value }) => value);

	test('a refusal of any list is an error', async () => {
		fixture.sandbox.faults.plan(({ operation }) =>
			operation === 'listClusters' ? answer(422, { message: 'nein' }) : undefined,
		);
		await expect(search()).rejects.toMatchObject({
			message: 'The service refused to list the work clusters: nein',
		});
		expect(fixture.callsOf('listClusters').map(({ query }) => query)).toEqual([
			{ 'ListOption.limit': '100' },
			{},
		]);
	});

	describe('whose pages are smaller, and counted', () => {
		const strict = useSandbox({
			...{ clusters: 120, maxPageSize: 50 },
			...{ refuseLargerPages: true, pageNumbers: true },
		});

		test('each cluster is offered once, and a search finds the last one', async () => {
			const values: unknown[] = [];
			let token: string | undefined;
			do {
				const page = await strict.engine.listSearch('searchClusters', undefined, token);
				values.push(...valuesOf(page));
				token = page.paginationToken as string | undefined;
			} while (token !== undefined);
			expect(values).toEqual([...strict.sandbox.store.clusters].map((c) => c.metadata.uid));
			const found = await strict.engine.listSearch('searchClusters', 'wc-000120');
			expect(valuesOf(found)).toEqual(['wc-000120']);
		});
	});
});

describe('of more clusters than one search looks through', () => {
	const large = useSandbox({ clusters: 2_150 });

	test('a search stops after 20 pages, and goes on from there', async () => {
		const searchOn = async (token?: string) =>
			await large.engine.listSearch('searchClusters', 'wc-002101', token);
		const first = await searchOn();
		expect(first).toEqual({ results: [], paginationToken: expect.any(String) });
		expect(large.callsOf('listClusters')).toHaveLength(20);
		const { results } = await searchOn(String(first.paginationToken));
		expect(results.map(({ value }) => value)).toEqual(['wc-002101']);
	});
});
