import type { IDataObject } from 'n8n-workflow';

import { getAll, useSandbox } from '../engine/fixture';

const fixture = useSandbox({ clusters: 250, maxPageSize: 100 });

/** What each request asked for. */
const asked = () => fixture.callsOf('listClusters').map(({ query }) => query);

async function list(parameters: Parameters<typeof getAll>[0]): Promise<IDataObject[]> {
	const { items, error } = await fixture.engine.run({ parameters: getAll(parameters) });
	expect(error).toBeUndefined();
	expect(items.every(({ pairedItem }) => JSON.stringify(pairedItem) === '{"item":0}')).toBe(true);
	return items.map(({ json }) => json);
}

test('50 clusters are the default, in one request', async () => {
	expect(await list({})).toHaveLength(50);
	expect(asked()).toEqual([{ 'ListOption.limit': '50' }]);
});

test('all pages are followed to the end', async () => {
	const clusters = await list({ returnAll: true });
	expect(clusters).toHaveLength(250);
	expect(new Set(clusters.map(({ name }) => name)).size).toBe(250);
	expect(asked()).toHaveLength(3);
	expect(asked()[0]).toEqual({ 'ListOption.limit': '100' });
	expect(asked()[2]).toEqual({
		'ListOption.limit': '100',
		'ListOption.continue': expect.any(String),
	});
});

test('no more is asked for than is still wanted', async () => {
	expect(await list({ limit: 70, options: { pageSize: 30 } })).toHaveLength(70);
	expect(asked().map((query) => query['ListOption.limit'])).toEqual(['30', '30', '10']);
});

test('a service that sends more than it was asked for changes nothing', async () => {
	const items = Array.from({ length: 9 }, (_, n) => ({ metadata: { uid: `c${n}` } }));
	fixture.sandbox.faults.plan(({ operation }) =>
		operation === 'listClusters'
			? { kind: 'answer', when: 'beforeActing', status: 200, body: { items, metadata: {} } }
			: undefined,
	);
	expect(await list({ limit: 3 })).toHaveLength(3);
});

test('a raw page is what the service sent, and the workflow can go on from it', async () => {
	const [first] = await list({ limit: 20, options: { rawPage: true } });
	expect(first).toEqual({ items: expect.any(Array), metadata: { continue: expect.any(String) } });
	expect(first?.items).toHaveLength(20);
	const metadata = first?.metadata as { continue: string };
	const [next] = await list({ limit: 1, options: { continue: metadata.continue } });
	expect(next).toMatchObject({ metadata: { uid: 'wc-000021' } });
});

test.each([[null], [[]]])('items: %j is an empty list', async (items) => {
	fixture.sandbox.faults.plan(({ operation }) =>
		operation === 'listClusters'
			? { kind: 'answer', when: 'beforeActing', status: 200, body: { items, metadata: {} } }
			: undefined,
	);
	expect(await list({ returnAll: true })).toEqual([]);
});

test('a page token that comes a second time ends the listing with an error', async () => {
	fixture.sandbox.faults.plan(({ operation }) =>
		operation === 'listClusters'
			? {
					kind: 'answer',
					when: 'beforeActing',
					status: 200,
					body: { items: [{ name: 'one' }], metadata: { continue: 'again' } },
				}
			: undefined,
	);
	const { error } = await fixture.engine.run({ parameters: getAll({ returnAll: true }) });
	expect(error?.message).toMatch(/has no end/);
	expect(asked()).toHaveLength(2);
});
