import type { IDataObject, INodeParameters } from 'n8n-workflow';

import type { Fault } from '../../sandbox';
import { answer } from '../support/answer';
import { contextOf } from '../reliability/batch';
import { getAll, useSandbox } from '../support/fixture';

/*
 * Get Many returns every cluster once, from pages of all shapes that services may send. An incomplete or endless list
 * is an error or has a hint. The tests of the drop-down are in dropDown.test.ts.
 */

const fixture = useSandbox({ clusters: 250, maxPageSize: 100 });

/** Returns the query of each request for clusters. */
const asked = () => fixture.callsOf('listClusters').map(({ query }) => query);

async function list(parameters: Parameters<typeof getAll>[0]): Promise<IDataObject[]> {
	const { items } = await fixture.succeeds(getAll(parameters));
	expect(items.every(({ pairedItem }) => JSON.stringify(pairedItem) === '{"item":0}')).toBe(true);
	return items.map(({ json }) => json);
}

/** Answers the requests for clusters with these bodies in turn. The last body is repeated. */
function answerWithPages(...pages: unknown[]): void {
	answerEach((request) => answer(200, pages[Math.min(request, pages.length) - 1]));
}

/** Plans a fault for each request for clusters. The requests are counted from 1. */
function answerEach(faultFor: (request: number) => Fault | undefined): void {
	fixture.meets('listClusters', ({ nOfOperation }) => faultFor(nOfOperation));
}

const clusterOf = (uid: unknown, type = 'virtual') => ({ metadata: { uid }, type });
const clustersOf = (from: number, to: number) =>
	Array.from({ length: to - from + 1 }, (_, n) => clusterOf(`c-${from + n}`));

test('Get Many requests 50 clusters with one request by default', async () => {
	expect(await list({})).toHaveLength(50);
	expect(asked()).toEqual([{ 'ListOption.limit': '50' }]);
});

test('Return All reads all pages, and returns each cluster as the service sent it', async () => {
	const clusters = [...fixture.sandbox.store.clusters];
	expect(clusters).toHaveLength(250);
	expect(await list({ returnAll: true })).toEqual(clusters);
	expect(asked()).toHaveLength(3);
	expect(asked()[0]).toEqual({ 'ListOption.limit': '100' });
	expect(asked()[2]).toEqual({
		'ListOption.limit': '100',
		'ListOption.continue': expect.any(String),
	});
});

describe('Filters', () => {
	test('ignore upper and lower case', async () => {
		const exact = await list({ returnAll: true, filters: { phase: 'Pending', type: 'virtual' } });
		expect(exact).not.toEqual([]);
		const filters = { phase: 'pENDING', type: 'Virtual' };
		expect(await list({ returnAll: true, filters })).toEqual(exact);
	});

	test('by phase and type return the clusters that match both', async () => {
		const both = await list({ returnAll: true, filters: { phase: 'Pending', type: 'master' } });
		expect(both.length).toBeGreaterThan(0);
		for (const cluster of both) {
			expect(cluster).toMatchObject({ type: 'master', status: { phase: 'Pending' } });
		}
		expect(await list({ filters: { phase: 'Pending', type: 'no such type' } })).toEqual([]);
	});

	test('are applied before Limit, and no more pages are requested than necessary', async () => {
		const options = { pageSize: 3 };
		const filters = { phase: 'Pending' };
		const found = await list({ limit: 2, filters, options });
		expect(found).toMatchObject(['wc-000004', 'wc-000009'].map((uid) => ({ metadata: { uid } })));
		// The ninth cluster, which is the second match, is the last one of the third page.
		expect(asked().map((query) => query['ListOption.limit'])).toEqual(['3', '3', '3']);
	});

	test.each([
		['of another name', 'runs', 0],
		['that is left empty', '', 50],
		['whose expression gives nothing', '={{ $json.absent }}', 50],
	])('by a phase %s (%j) return %i clusters', async (_, phase, count) => {
		expect(await list({ filters: { phase } })).toHaveLength(count);
	});

	test('by phase leave out a cluster without a status', async () => {
		const items = [{ metadata: { uid: 'c1' } }, { status: { phase: 'Running' } }, { status: null }];
		answerWithPages({ items, metadata: {} });
		expect(await list({ filters: { phase: 'Running' } })).toEqual([items[1]]);
	});
});

test('a raw page is the body that the service sent, and a workflow can continue with its token', async () => {
	const [first] = await list({ limit: 20, options: { rawPage: true } });
	expect(first).toEqual({ items: expect.any(Array), metadata: { continue: expect.any(String) } });
	expect(first?.items).toHaveLength(20);
	const metadata = first?.metadata as { continue: string };
	const [next] = await list({ limit: 1, options: { continue: metadata.continue } });
	expect(next).toMatchObject({ metadata: { uid: 'wc-000021' } });
});

test.each<[which: string, page: IDataObject, INodeParameters]>([
	['has a cluster twice', { items: [...clustersOf(1, 1), ...clustersOf(1, 1)] }, {}],
	['has clusters that the filters leave out', { items: clustersOf(1, 2) }, { phase: 'Pending' }],
	['is empty', {}, {}],
])('a raw page that %s is returned as the service sent it', async (_, page, filters) => {
	answerWithPages(page);
	expect(await list({ filters, options: { rawPage: true } })).toEqual([page]);
	expect(asked()).toEqual([{ 'ListOption.limit': '50' }]);
});

/** Returns a matcher for descriptions that end in this text and the address of the list. */
const endsIn = (detail: string) =>
	expect.stringMatching(
		new RegExp(`${detail} Request: list clusters at ${fixture.sandbox.url}\\.$`),
	) as unknown;

/** Runs Get Many and returns its clusters and the hints above its output. */
async function listWithHints(parameters: INodeParameters, items: IDataObject[] = [{}]) {
	const result = await fixture.succeeds(getAll(parameters), items);
	return { clusters: result.items.map(({ json }) => json), hints: result.hints };
}

describe('An empty page', () => {
	const empty: unknown[] = [
		{ items: [], metadata: {} },
		{ items: null },
		{ items: null, metadata: null },
		{},
		{ metadata: {} },
		{ metadata: null },
		{ metadata: { continue: '', resourceVersion: '7' } },
		{ kind: 'ClusterList', apiVersion: 'v1', metadata: {} },
		{ total: 0, nextPageToken: '' },
	];

	test.each(empty)('%j is an empty list, and ends a list', async (page) => {
		answerWithPages(page);
		expect(await list({ returnAll: true })).toEqual([]);
		answerWithPages({ items: clustersOf(1, 3), metadata: { continue: 'b' } }, page);
		expect(await list({ returnAll: true })).toEqual(clustersOf(1, 3));
	});

	test('is also an empty list if the service omits the items', async () => {
		await fixture.start({ clusters: 0, emptyListsOmitted: true });
		expect(await list({})).toEqual([]);
	});
});

test.each([[0], ['0'], [''], [null], [false]])('the next token %j ends the list', async (token) => {
	answerWithPages(
		{ items: clustersOf(1, 2), metadata: { continue: 7 } },
		{ items: clustersOf(3, 3), metadata: { continue: token } },
	);
	expect(await list({ returnAll: true })).toEqual(clustersOf(1, 3));
	expect(asked().map((query) => query['ListOption.continue'])).toEqual([undefined, '7']);
});

test.each<[INodeParameters, number, string[]]>([
	[{ limit: 150 }, 150, ['100', '100']],
	[{ limit: 101 }, 101, ['100', '100']],
	[{ limit: 7, options: { pageSize: 3 } }, 7, ['3', '3', '3']],
	[{ returnAll: true }, 300, ['100', '100', '100']],
	[{ returnAll: true, options: { pageSize: 140 } }, 300, ['140', '140', '140']],
	[{ limit: 30, filters: { phase: 'Pending' } }, 30, ['100', '100']],
])(
	'all pages have the same size if the tokens of the service are page numbers: %j',
	async (parameters, count, sizes) => {
		await fixture.start({ clusters: 300, pageNumbers: true });
		const all = [...fixture.sandbox.store.clusters].filter(
			({ status }) => parameters.filters === undefined || status.phase === 'Pending',
		);
		expect(await list(parameters)).toEqual(all.slice(0, count));
		expect(asked().map((query) => query['ListOption.limit'])).toEqual(sizes);
	},
);

describe('A cluster that is listed twice', () => {
	const pages = [
		{ items: clustersOf(1, 3), metadata: { continue: 'b' } },
		// Between the pages, a cluster was added before these ones, so c-3 moves to the second page.
		{ items: clustersOf(3, 5), metadata: { continue: 'c' } },
		{ items: [...clustersOf(5, 6), clusterOf('c-6')], metadata: {} },
	];

	test.each<[INodeParameters, number]>([
		[{ returnAll: true }, 6],
		[{ limit: 4 }, 4],
		[{ limit: 6, options: { pageSize: 3 } }, 6],
		[{ limit: 5, filters: { type: 'virtual' } }, 5],
	])('is returned once: %j', async (parameters, count) => {
		answerWithPages(...pages);
		expect(await list(parameters)).toEqual(clustersOf(1, count));
	});

	test('is recognized only by its ID', async () => {
		const items = [{ name: 'a' }, { name: 'a' }, clusterOf(''), clusterOf(''), clusterOf(null)];
		answerWithPages({ items, metadata: { continue: 'b' } }, { items });
		expect(await list({ returnAll: true })).toEqual([...items, ...items]);
	});
});

describe('A last page that is full', () => {
	const full = clustersOf(1, 100);

	test('ends the list, if it names no next page', async () => {
		answerWithPages({ items: full });
		expect(await listWithHints({ returnAll: true })).toEqual({ clusters: full, hints: [] });
	});

	test.each([12, '12'])(
		'and says that %j more follow is an error, unless no more are wanted',
		async (count) => {
			answerWithPages({ items: full, metadata: { remainingItemCount: count } });
			const { error } = await fixture.engine.run({ parameters: getAll({ returnAll: true }) });
			expect(error).toMatchObject({
				message: 'The list of work clusters is cut off',
				description: endsIn('The last page says that 12 more follow, but not where.'),
			});
			expect(await list({ limit: 100 })).toHaveLength(100);
		},
	);
});

describe('A list without an end', () => {
	const page = (token: string, ...items: object[]) => ({ items, metadata: { continue: token } });
	const message = 'The list of work clusters never ends';

	test.each<[string, object[], INodeParameters]>([
		['leads to itself', [page('a')], { returnAll: true }],
		['leads to an earlier one', [page('a'), page('b'), page('a')], { returnAll: true }],
		['comes again and again', [page('a', clusterOf('c-1'))], { limit: 3 }],
		['comes again, filtered', [page('a', clusterOf('c-1'))], { limit: 3, filters: { type: 'x' } }],
	])('is an error, if a page %s', async (_, pages, parameters) => {
		answerWithPages(...pages);
		const { error } = await fixture.engine.run({ parameters: getAll(parameters) });
		const description = endsIn('A page token came twice, or there are more than a thousand pages.');
		expect(error).toMatchObject({ message, description });
		expect(asked()).toHaveLength(Math.max(2, pages.length));
		await expect(fixture.engine.listSearch('searchClusters', 'x')).rejects.toMatchObject({
			message,
		});
	});

	test('is an error after a thousand pages, even if they are empty', async () => {
		answerEach((request) => answer(200, page(`page-${request}`)));
		const { error } = await fixture.engine.run({ parameters: getAll({ returnAll: true }) });
		expect(error).toMatchObject({ message });
		expect(asked()).toHaveLength(1_000);
	}, 60_000);

	test('is no error if no further page is wanted', async () => {
		answerWithPages(page('again', clusterOf('c-1')));
		expect(await list({ limit: 1 })).toEqual([clusterOf('c-1')]);
	});
});

describe('Filters that match none', () => {
	const other = (type: string, phase: string) => ({ ...clusterOf(phase, type), status: { phase } });

	test.each<[INodeParameters]>([[{ type: 'Virtuel' }], [{ type: 'master', phase: 'Stopped' }]])(
		'cause a hint that names the listed clusters: %j',
		async (filters) => {
			const items = [other('virtual', '<b>Pending</b>'), other('master', 'Running'), {}];
			answerWithPages({ items });
			expect(await listWithHints({ filters }, [{}, {}, {}])).toEqual({
				clusters: [],
				hints: [
					'No cluster matches the filters. Clusters found, as type (phase): master (Running), unknown (unknown), virtual (‹b›Pending‹/b›).',
				],
			});
		},
	);

	test('cause no hint if no cluster was listed, and no hint shows a password that is the type of a cluster', async () => {
		const filters = { type: 'x' };
		answerWithPages({ items: [] });
		expect(await listWithHints({ filters })).toEqual({ clusters: [], hints: [] });
		const { password } = fixture.sandbox;
		answerWithPages({ items: [other(password, 'Running')] });
		expect((await listWithHints({ filters })).hints).toEqual([
			expect.not.stringContaining(password),
		]);
	});
});

test('A page token that has expired is an error', async () => {
	answerEach((request) => (request === 2 ? answer(410) : undefined));
	const parameters = getAll({ returnAll: true, options: { pageSize: 10 } });
	expect(contextOf(await fixture.engine.run({ parameters }))).toMatchObject({ httpStatus: 410 });
	expect(asked()).toHaveLength(2);
});
