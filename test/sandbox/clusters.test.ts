import { startSandbox, type ClusterList, type Sandbox, type SandboxOptions } from '../../sandbox';
import { Client, smallestJob } from './client';

let sandbox: Sandbox;
let client: Client;

async function start(options: SandboxOptions): Promise<void> {
	sandbox = await startSandbox(options);
	client = new Client(sandbox);
	await client.login();
}
afterEach(async () => await sandbox.close());

async function page(query = ''): Promise<ClusterList> {
	const { status, body } = await client.list(query);
	expect(status).toBe(200);
	return body as ClusterList;
}

const next = ({ metadata }: ClusterList, limit: number): string =>
	`?ListOption.limit=${limit}&ListOption.continue=${metadata.continue}`;

it('There is a handful unless more are asked for: both types, running and not running', async () => {
	await start({});
	const { items, metadata } = await page();
	expect(items).toHaveLength(6);
	expect(metadata).toEqual({});
	expect(new Set(items.map(({ type }) => type))).toEqual(new Set(['virtual', 'master']));
	expect(new Set(items.map(({ status }) => status.phase))).toEqual(new Set(['Running', 'Pending']));
	for (const { type, selector } of items) expect(selector !== undefined).toBe(type === 'virtual');
});

it('There can be none', async () => {
	await start({ clusters: 0 });
	expect(await page()).toEqual({ items: [], metadata: {} });
});

it('A page holds as many as its limit, and says where the next one starts until the last', async () => {
	await start({ clusters: 5 });
	const first = await page('?ListOption.limit=2');
	const second = await page(next(first, 2));
	const third = await page(next(second, 2));
	expect([first, second, third].map(({ items }) => items.length)).toEqual([2, 2, 1]);
	expect(third.metadata).toEqual({});
	const uids = [first, second, third].flatMap(({ items }) =>
		items.map(({ metadata }) => metadata.uid),
	);
	expect(uids).toEqual(['wc-000001', 'wc-000002', 'wc-000003', 'wc-000004', 'wc-000005']);
});

it('A page that ends with the last cluster is the last page', async () => {
	await start({ clusters: 4 });
	expect((await page(next(await page('?ListOption.limit=2'), 2))).metadata).toEqual({});
});

it('A page never holds more than the maximum, whatever is asked for', async () => {
	await start({ clusters: 20, maxPageSize: 8 });
	expect((await page()).items).toHaveLength(8);
	expect((await page('?ListOption.limit=15')).items).toHaveLength(8);
});

it('A hundred thousand are paged through, each of them once', async () => {
	await start({ clusters: 100_000 });
	const seen = new Set<string>();
	let query: string | undefined = '?ListOption.limit=1000';
	let pages = 0;
	while (query !== undefined) {
		const list: ClusterList = await page(query);
		for (const { metadata } of list.items) seen.add(metadata.uid);
		pages += 1;
		query = list.metadata.continue === undefined ? undefined : next(list, 1000);
	}
	expect(pages).toBe(100);
	expect(seen.size).toBe(100_000);
});

it('A page far into a list that nobody could hold in memory is made when it is asked for', async () => {
	await start({ clusters: 1e9 });
	const { clusters } = sandbox.store;
	const farAway = Buffer.from('at:999999990').toString('base64url');
	expect(clusters.page(10, farAway).items.at(-1)?.metadata.uid).toBe('wc-1000000000');
});

it('Every cluster that is listed takes jobs, and no other', async () => {
	await start({ clusters: 2 });
	const on = async (workCluster: string): Promise<number> =>
		(await client.create({ ...smallestJob, workCluster })).status;
	expect(await on('wc-000002')).toBe(200);
	for (const uid of ['wc-000000', 'wc-000003', 'wc-0000002', 'wc-2', 'south-virtual-2']) {
		expect(await on(uid)).toBe(400);
	}
});
