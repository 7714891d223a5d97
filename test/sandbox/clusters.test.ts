import { startSandbox, type ClusterList, type Sandbox } from '../../sandbox';
import { Client, smallestJob } from './client';

let sandbox: Sandbox;
let client: Client;
afterEach(async () => await sandbox.close());

async function page(query = ''): Promise<ClusterList> {
	const { status, body } = await client.list(query);
	expect(status).toBe(200);
	return body as ClusterList;
}

it.each([
	[0, [0]],
	[4, [2, 2]],
	[5, [2, 2, 1]],
])('%i clusters are pages of %j where a page holds two', async (clusters, sizes) => {
	sandbox = await startSandbox({ clusters, maxPageSize: 2 });
	client = new Client(sandbox);
	await client.login();
	const pages: string[][] = [];
	for (let more: string | undefined = ''; more !== undefined; ) {
		const { items, metadata }: ClusterList = await page(`?ListOption.limit=3${more}`);
		pages.push(items.map((item) => item.metadata.uid));
		more = metadata.continue && `&ListOption.continue=${metadata.continue}`;
	}
	expect(pages.map(({ length }) => length)).toEqual(sizes);
	expect(pages.flat()).toEqual([1, 2, 3, 4, 5].slice(0, clusters).map((n) => `wc-00000${n}`));
});

it('The clusters that are listed are of both types, running or not, and take jobs; no other does', async () => {
	sandbox = await startSandbox();
	client = new Client(sandbox);
	await client.login();
	const { items, metadata } = await page();
	expect([items.length, metadata]).toEqual([6, {}]);
	expect(new Set(items.map(({ type }) => type))).toEqual(new Set(['virtual', 'master']));
	expect(new Set(items.map(({ status }) => status.phase))).toEqual(new Set(['Running', 'Pending']));
	const on = async (workCluster: string): Promise<number> =>
		(await client.create({ ...smallestJob, workCluster })).status;
	expect(await on('wc-000006')).toBe(200);
	for (const uid of ['wc-000000', 'wc-000007', 'wc-0000002', 'wc-2'])
		expect(await on(uid)).toBe(400);
});
