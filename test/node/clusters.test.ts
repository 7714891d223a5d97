import type { IDataObject, INodeParameters } from 'n8n-workflow';

import type { Fault, Sandbox } from '../../sandbox';
import { answer } from '../support/answer';
import { getAll, useSandbox } from '../support/fixture';

/*
 * Get Many returns every cluster once, from pages of all shapes that services may send. An incomplete or endless list
 * is an error or has a hint. The tests of the drop-down are in dropDown.test.ts.
 */

const fixture = useSandbox({ clusters: 250, maxPageSize: 100 });

/** Returns the query of each request for clusters. */
const asked = () => fixture.callsOf('listClusters').map(({ query }) => query);
const sizesAsked = () => asked().map((query) => query['ListOption.limit']);

/** Runs Get Many and returns its clusters and the hints above its output. */
async function listWithHints(parameters: INodeParameters, items?: IDataObject[]) {
	const result = await fixture.succeeds(getAll(parameters), items);
	return { clusters: result.items.map(({ json }) => json), hints: result.hints };
}

const list = async (parameters: INodeParameters) => (await listWithHints(parameters)).clusters;

async function errorOf(parameters: INodeParameters) {
	const { error, items } = await fixture.engine.run({ parameters: getAll(parameters) });
	expect(items).toEqual([]);
	return error;
}

/** Plans a fault for each request for clusters. The requests are counted from 1. */
const answerEach = (faultFor: (request: number) => Fault | undefined): void =>
	fixture.meets('listClusters', ({ nOfOperation }) => faultFor(nOfOperation));

/** Answers the requests for clusters with these bodies in turn. The last body is repeated. */
const answerWithPages = (...pages: unknown[]): void =>
	answerEach((request) => answer(200, pages[Math.min(request, pages.length) - 1]));

type Cluster = Sandbox['store']['clusters'] extends Iterable<infer Each> ? Each : never;

const all = { returnAll: true };
const clusterOf = (uid: unknown, type = 'virtual') => ({ metadata: { uid }, type });
const clustersOf = (from: number, to: number) =>
	Array.from({ length: to - from + 1 }, (_, n) => clusterOf(`c-${from + n}`));
const page = (items: unknown, token?: unknown, metadata = {}) => ({
	items,
	metadata: { continue: token, ...metadata },
});

test('Get Many requests 50 clusters with one request by default', async () => {
	const { items } = await fixture.succeeds(getAll({}));
	expect(items).toHaveLength(50);
	expect(items.every(({ pairedItem }) => Object(pairedItem).item === 0)).toBe(true);
	expect(asked()).toEqual([{ 'ListOption.limit': '50' }]);
});

test('Return All reads all pages, and returns each cluster as the service sent it', async () => {
	const clusters = [...fixture.sandbox.store.clusters];
	expect(clusters).toHaveLength(250);
	expect(await list(all)).toEqual(clusters);
	const tokens = asked().map((query) => query['ListOption.continue']);
	expect(tokens).toEqual([undefined, expect.any(String), expect.any(String)]);
	expect(sizesAsked()).toEqual(['100', '100', '100']);
});

describe('Filters', () => {
	const isPending = ({ status }: Cluster) => status.phase === 'Pending';

	test.each<[what: string, INodeParameters, isMatch: (cluster: Cluster) => boolean]>([
		['in another case', { phase: 'pENDING' }, isPending],
		['with spaces', { phase: ' Pending\n' }, isPending],
		[
			'of both kinds',
			{ phase: 'Pending', type: 'MASTER' },
			(c) => isPending(c) && c.type === 'master',
		],
		['of another name', { phase: 'runs' }, () => false],
		['that is left empty', { phase: '' }, () => true],
	])('%s return the clusters that match all of them: %j', async (_, filters, isMatch) => {
		const matching = [...fixture.sandbox.store.clusters].filter(isMatch);
		// Raw Page may be left over from before Return All.
		expect(await list({ ...all, filters, options: { rawPage: true } })).toEqual(matching);
		expect(await list({ ...all, filters })).toEqual(matching);
	});

	test('are applied before Limit, and no more pages are requested than necessary', async () => {
		const found = await list({ limit: 2, filters: { phase: 'Pending' }, options: { pageSize: 3 } });
		expect(found).toMatchObject(['wc-000004', 'wc-000009'].map((uid) => ({ metadata: { uid } })));
		// The ninth cluster, which is the second match, is the last one of the third page.
		expect(sizesAsked()).toEqual(['3', '3', '3']);
	});
});

test('a raw page is the body that the service sent, and a workflow can continue with its token', async () => {
	const [first] = await list({ limit: 20, options: { rawPage: true } });
	expect(first).toEqual({ items: expect.any(Array), metadata: { continue: expect.any(String) } });
	expect(first?.items).toHaveLength(20);
	const { continue: token = '' } = Object(first?.metadata) as { continue?: string };
	const [next] = await list({ limit: 1, options: { continue: token } });
	expect(next).toMatchObject({ metadata: { uid: 'wc-000021' } });
	expect(sizesAsked()).toEqual(['20', '1']);
});

const emptyPages: unknown[] = [
	...[{}, { items: [], metadata: {} }, { items: null }, { items: null, metadata: null }],
	...[{ metadata: {} }, { metadata: null }, { metadata: { continue: '', resourceVersion: '7' } }],
	{ kind: 'ClusterList', apiVersion: 'v1', metadata: {} },
];
const moved = [
	page(clustersOf(1, 3), 'b'),
	// Between the pages, a cluster was added before these ones, so c-3 moves to the second page.
	page(clustersOf(3, 5), 'c'),
	page([...clustersOf(5, 6), clusterOf('c-6')]),
];
const full = clustersOf(1, 100);
const withoutIds = [{ name: 'a' }, { name: 'a' }, clusterOf(''), clusterOf(''), clusterOf(null)];
const twice = [...withoutIds, ...withoutIds];
const one = clustersOf(1, 1);
const cutOff = page(full, '', { remainingItemCount: 1 });
/** Says that the request has failed, although the list is there. */
const beside = { success: false, ok: false, error: { code: 7 }, status: 'failed', message: 'no' };
const inPhase = { phase: 'Running' };
const runs = { status: inPhase };
const phases = page([...one, runs, { status: null }]);

const rawPage = { filters: { phase: 'Pending' }, options: { rawPage: true } };

type Row = [what: string, pages: unknown[], INodeParameters, clusters: object[]];

test.each<Row>([
	...emptyPages.flatMap((empty): Row[] => [
		[`is empty after ${JSON.stringify(empty)}`, [empty], all, []],
		['ends there', [page(clustersOf(1, 3), 'b'), empty], all, clustersOf(1, 3)],
	]),
	...[0, '0', '', null, false].map(
		(token): Row => [
			`ends with the next token ${JSON.stringify(token)}`,
			[page(clustersOf(1, 2), 7), page(clustersOf(3, 3), token)],
			all,
			clustersOf(1, 3),
		],
	),
	['ends with a full page that names no next one', [{ items: full }], all, full],
	['ends at Limit, even if more follow', [cutOff], { limit: 100 }, full],
	['ends at Limit, even if a token came twice', [page(one, 'a')], { limit: 1 }, one],
	['has a cluster once that comes twice', moved, all, clustersOf(1, 6)],
	['has as many as Limit', moved, { limit: 4 }, clustersOf(1, 4)],
	['has as many that match', moved, { limit: 5, filters: { type: 'virtual' } }, clustersOf(1, 5)],
	['has all clusters without an ID', [page(withoutIds, 'b'), page(withoutIds)], all, twice],
	['has no cluster without a phase', [phases], { filters: inPhase }, [runs]],
	...[page([...one, ...one]), page(one, 'a'), {}].map(
		(sent): Row => ['is a raw page as the service sent it', [sent], rawPage, [sent]],
	),
	['has its clusters, whatever stands beside them', [{ items: one, ...beside }], {}, one],
])('the list %s', async (_, pages, parameters, clusters) => {
	answerWithPages(...pages);
	expect(await listWithHints(parameters)).toEqual({ clusters, hints: [] });
});

test('a next token that is a number is sent', async () => {
	answerWithPages(page(clustersOf(1, 2), 7), page([]));
	await list(all);
	expect(asked()[1]).toMatchObject({ 'ListOption.continue': '7' });
});

test.each<[INodeParameters, number, string[]]>([
	[{ limit: 150 }, 150, ['100', '100']],
	[{ limit: 7, options: { pageSize: 3 } }, 7, ['3', '3', '3']],
	[all, 300, ['100', '100', '100']],
	[{ returnAll: true, options: { pageSize: 140 } }, 300, ['140', '140', '140']],
	[{ limit: 30, filters: { phase: 'Pending' } }, 30, ['100', '100']],
])(
	'all pages have the same size if the tokens of the service are page numbers: %j',
	async (parameters, count, sizes) => {
		await fixture.start({ clusters: 300, pageNumbers: true });
		const matching = [...fixture.sandbox.store.clusters].filter(
			({ status }) => parameters.filters === undefined || status.phase === 'Pending',
		);
		expect(await list(parameters)).toEqual(matching.slice(0, count));
		expect(sizesAsked()).toEqual(sizes);
	},
);

describe('A list that cannot be read to its end is an error', () => {
	const message = "The list of work clusters can't be read to its end";
	const again = [page([clusterOf('c-1')], 'a')];
	const follows = (count: unknown) => [page(full, '', { remainingItemCount: count })];

	test.each<[string, object[], INodeParameters, requests: number]>([
		['leads to itself', [page([], 'a')], all, 2],
		['leads to an earlier one', [page([], 'a'), page([], 'b'), page([], 'a')], all, 3],
		['comes again and again', again, { limit: 3 }, 2],
		['comes again, filtered', again, { limit: 3, filters: { type: 'x' } }, 2],
		['is the last one, but says that 12 more follow', follows(12), all, 1],
		['is the last one, but says that "12" more follow', follows('12'), all, 1],
	])('if a page %s', async (_, pages, parameters, requests) => {
		answerWithPages(...pages);
		const error = await errorOf(parameters);
		// The fault is the service's, not the node's.
		expect(error).toMatchObject({ message, name: 'NodeApiError' });
		if (requests > 1)
			expect(error?.description).toMatch(/^Report this .*\n\nA page token came twice/);
		expect(asked()).toHaveLength(requests);
		await expect(fixture.engine.listSearch('searchClusters', 'x')).rejects.toMatchObject({
			message,
		});
	});

	test('after a thousand pages, even if they are empty', async () => {
		answerEach((request) => answer(200, page([], `page-${request}`)));
		expect(await errorOf(all)).toMatchObject({ message });
		expect(asked()).toHaveLength(1_000);
	}, 60_000);
});

describe('Filters that match none', () => {
	const other = (type: string, phase: string) => ({ ...clusterOf(phase, type), status: { phase } });

	test('cause a hint that names the listed clusters, once for all items', async () => {
		const named = [other('virtual', '<b>Pending</b>'), other('master', 'Running')];
		answerWithPages(page([...named, {}, other('', '')]));
		const filters = { phase: 'Unknown' };
		expect(await listWithHints({ filters }, [{}, {}, {}])).toEqual({
			clusters: [],
			hints: [
				'No cluster matches the filters. Clusters found, as type (phase): master (Running), unknown (unknown), virtual (‹b›Pending‹/b›).',
			],
		});
	});

	test('cause no hint if no cluster was listed, and no hint shows a password that is the type of a cluster', async () => {
		const filters = { type: 'x' };
		answerWithPages({ items: [] });
		expect(await listWithHints({ filters })).toEqual({ clusters: [], hints: [] });
		const { password } = fixture.sandbox;
		answerWithPages(page([other(password, 'Running')]));
		const { hints } = await listWithHints({ filters });
		expect(hints).toEqual([expect.not.stringContaining(password)]);
	});
});
