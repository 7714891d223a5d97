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

/** The uids of all pages. */
async function allPages(limit: number): Promise<string[][]> {
	const pages: string[][] = [];
	for (let more: string | undefined = ''; more !== undefined; ) {
		const { items, metadata }: ClusterList = await page(`?ListOption.limit=${limit}${more}`);
		pages.push(items.map((item) => item.metadata.uid));
		more = metadata.continue && `&ListOption.continue=${metadata.continue}`;
	}
	return pages;
}

it('There are a few by default: both types, running and not running', async () => {
	await start({});
	const { items, metadata } = await page();
	expect(items).toHaveLength(6);
	expect(metadata).toEqual({});
	expect(new Set(items.map(({ type }) => type))).toEqual(new Set(['virtual', 'master']));
	expect(new Set(items.map(({ status }) => status.phase))).toEqual(new Set(['Running', 'Pending']));
	for (const { type, selector } of items) expect(selector !== undefined).toBe(type === 'virtual');
});

it.each([
	[0, [0]],
	[4, [2, 2]],
	[5, [2, 2, 1]],
])('%i clusters are pages of %j where a page holds two', async (clusters, sizes) => {
	await start({ clusters, maxPageSize: 2 });
	expect(await allPages(3)).toEqual(await allPages(2));
	const pages = await allPages(2);
	expect(pages.map(({ length }) => length)).toEqual(sizes);
	expect(pages.flat()).toEqual([1, 2, 3, 4, 5].slice(0, clusters).map((n) => `wc-00000${n}`));
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
