import type { IDataObject } from 'n8n-workflow';

import { answer } from '../support/answer';
import { getAll, useSandbox } from '../support/fixture';

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
	fixture.answerWith('listClusters', { items, metadata: {} });
	expect(await list({ limit: 3 })).toHaveLength(3);
});

describe('filters', () => {
	test('are compared without regard to case', async () => {
		const exact = await list({ returnAll: true, filters: { phase: 'Pending', type: 'virtual' } });
		expect(exact).not.toEqual([]);
		const filters = { phase: 'pENDING', type: 'Virtual' };
		expect(await list({ returnAll: true, filters })).toEqual(exact);
	});

	test('by the phase: only those, in their order', async () => {
		const clusters = await list({ returnAll: true, filters: { phase: 'Pending' } });
		expect(clusters.length).toBeGreaterThan(10);
		expect(new Set(clusters.map(({ status }) => (status as IDataObject).phase))).toEqual(
			new Set(['Pending']),
		);
		expect(asked()).toHaveLength(3);
	});

	test('by the type', async () => {
		const clusters = await list({ filters: { type: 'virtual' }, limit: 3 });
		expect(clusters.map(({ name, type }) => [name, type])).toEqual([
			['south-virtual-2', 'virtual'],
			['east-virtual-3', 'virtual'],
			['north-virtual-5', 'virtual'],
		]);
	});

	test('by both, which have to hold together', async () => {
		const both = await list({ returnAll: true, filters: { phase: 'Pending', type: 'master' } });
		expect(both.length).toBeGreaterThan(0);
		for (const cluster of both) {
			expect(cluster).toMatchObject({ type: 'master', status: { phase: 'Pending' } });
		}
		expect(await list({ filters: { phase: 'Pending', type: 'no such type' } })).toEqual([]);
	});

	test('Limit counts what passes, and no more pages are asked for than that takes', async () => {
		const options = { pageSize: 3 };
		const filters = { phase: 'Pending' };
		const found = await list({ limit: 2, filters, options });
		expect(found.map(({ metadata }) => (metadata as IDataObject).uid)).toEqual([
			'wc-000004',
			'wc-000009',
		]);
		// Whole pages of three, though two are wanted: the ninth cluster ends the third.
		expect(asked().map((query) => query['ListOption.limit'])).toEqual(['3', '3', '3']);
	});

	test.each([
		['of another name', 'runs', 0],
		['left empty', '', 50],
		['of an expression that gives nothing', '={{ $json.absent }}', 50],
	])('a phase %s', async (_, phase, count) => {
		expect(await list({ filters: { phase } })).toHaveLength(count);
	});

	test('a cluster without status is in no phase', async () => {
		const items = [{ metadata: { uid: 'c1' } }, { status: { phase: 'Running' } }, { status: null }];
		fixture.answerWith('listClusters', { items, metadata: {} });
		expect(await list({ filters: { phase: 'Running' } })).toEqual([items[1]]);
	});

	test('none for a raw page, which comes as it is', async () => {
		const [page] = await list({ filters: { phase: 'Pending' }, options: { rawPage: true } });
		expect(page?.items).toHaveLength(50);
	});
});

test('Raw Page gives the first page, where Continue From is not given', async () => {
	const [page] = await list({ limit: 2, options: { rawPage: true } });
	expect(page?.items).toMatchObject([
		{ metadata: { uid: 'wc-000001' } },
		{ metadata: { uid: 'wc-000002' } },
	]);
	expect(asked()).toEqual([{ 'ListOption.limit': '2' }]);
});

test.each([
	['true', 250],
	['false', 50],
])('Return All as the text "%s" is what the text says', async (text, count) => {
	expect(await list({ returnAll: `={{ "${text}" }}` })).toHaveLength(count);
});

test('with Return All by an expression, a Limit that is left over says nothing', async () => {
	expect(await list({ returnAll: '={{ true }}', limit: 0 })).toHaveLength(250);
});

test('Return All goes before a Raw Page that is left over in the workflow', async () => {
	expect(await list({ returnAll: true, options: { rawPage: true } })).toHaveLength(250);
	expect(await list({ returnAll: true, options: { rawPage: '={{ true }}' } })).toHaveLength(250);
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
	fixture.answerWith('listClusters', { items, metadata: {} });
	expect(await list({ returnAll: true })).toEqual([]);
});

test('a page token that comes a second time ends the listing with an error', async () => {
	fixture.sandbox.faults.plan(({ operation }) =>
		operation === 'listClusters'
			? answer(200, { items: [{ name: 'one' }], metadata: { continue: 'again' } })
			: undefined,
	);
	const { error } = await fixture.engine.run({ parameters: getAll({ returnAll: true }) });
	expect(error).toMatchObject({
		message: 'The list of work clusters never ends',
		description: expect.stringContaining(
			'A page token came twice, or there are more than a thousand pages.',
		),
	});
	expect(asked()).toHaveLength(2);
});

test('a page token is left alone if no further page is wanted', async () => {
	fixture.answerWith('listClusters', { items: [{ name: 'one' }], metadata: { continue: 'again' } });
	expect(await list({ limit: 1 })).toEqual([{ name: 'one' }]);
});

test.each([[{ limit: 3 }], [{ limit: 3, filters: { type: 'virtual' } }]])(
	'a service that sends the same page again and again fills no list with it: %j',
	async (parameters) => {
		const items = [1, 2].map((uid) => ({ metadata: { uid: `wc-${uid}` }, type: 'virtual' }));
		fixture.answerWith('listClusters', { items, metadata: { continue: 'next' } });
		const { error } = await fixture.engine.run({ parameters: getAll(parameters) });
		expect(error?.message).toBe('The list of work clusters never ends');
		expect(asked()).toHaveLength(2);
	},
);

/** Answers each request for clusters with these items, and with a page token that was never there before. */
function everNewPages(itemsOf: (page: number) => unknown) {
	fixture.sandbox.faults.plan(({ operation, nOfOperation }) =>
		operation === 'listClusters'
			? answer(200, {
					items: itemsOf(nOfOperation),
					metadata: { continue: `page-${nOfOperation}` },
				})
			: undefined,
	);
}

test.each<[string, (page: number) => unknown]>([
	['are empty', () => []],
	['have no list', () => null],
	['bring new clusters', (page) => [{ metadata: { uid: `c-${page}` } }]],
])('a list whose pages %s ends with an error after a thousand of them', async (_, itemsOf) => {
	everNewPages(itemsOf);
	const { error } = await fixture.engine.run({ parameters: getAll({ returnAll: true }) });
	expect(error).toMatchObject({
		message: 'The list of work clusters never ends',
		description: expect.stringContaining(
			'A page token came twice, or there are more than a thousand pages.',
		),
	});
	expect(asked()).toHaveLength(1_000);
});

test('pages without a cluster that is asked for are read on, however many', async () => {
	const phase = (page: number) => (page === 150 ? 'Running' : 'Pending');
	everNewPages((page) => [{ metadata: { uid: `c-${page}` }, status: { phase: phase(page) } }]);
	const { items, error } = await fixture.engine.run({
		parameters: getAll({ limit: 1, filters: { phase: 'Running' } }),
	});
	expect(error).toBeUndefined();
	expect(items).toMatchObject([{ json: { metadata: { uid: 'c-150' } } }]);
});

test('empty pages with others in between are read to the end', async () => {
	everNewPages((page) => (page % 90 === 0 ? [{ metadata: { uid: `c-${page}` } }] : []));
	const { items, error } = await fixture.engine.run({ parameters: getAll({ limit: 2 }) });
	expect(error).toBeUndefined();
	expect(items.map(({ json }) => json)).toEqual([
		{ metadata: { uid: 'c-90' } },
		{ metadata: { uid: 'c-180' } },
	]);
});
