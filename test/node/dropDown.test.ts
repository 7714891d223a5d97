import { getAll, useSandbox } from '../engine/fixture';

const fixture = useSandbox({ clusters: 350 });

const search = async (filter?: string, paginationToken?: string) =>
	await fixture.engine.listSearch('searchClusters', filter, paginationToken);

test('the list of work clusters comes in pages, each cluster with its kind and what is not usual', async () => {
	const first = await search();
	expect(first.results).toHaveLength(100);
	expect(first.results[0]).toEqual({ name: 'north-master-1 (master)', value: 'wc-000001' });
	expect(first.results[3]).toMatchObject({ name: expect.stringMatching(/\(\w+, Pending\)$/) });
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
		message: 'The user name or the password is wrong',
	});
	await fixture.engine.run({ parameters: getAll() });
});
