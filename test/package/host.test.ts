import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { fingerprint, isInstalled } from '../../host/install';
import { settings } from '../../host/n8n';
import { ownerOf } from '../../host/owner';

/*
 * The n8n of "npm start" runs programs for its owner on this machine, so only this user may become its owner.
 */

let folder: string;

beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), 'host-'));
});
afterEach(async () => {
	await rm(folder, { recursive: true });
});

test('n8n, its workers and its broker of runners listen on loopback only', () => {
	expect(settings(folder, 5678, 5679)).toMatchObject({
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
		N8N_RUNNERS_BROKER_LISTEN_ADDRESS: '127.0.0.1',
	});
});

test("the owner's password is in a file that only this user can read, and stays", async () => {
	const owner = await ownerOf(folder);
	const { mode } = await stat(join(folder, 'owner.json'));
	expect(mode & 0o777).toBe(0o600);
	expect(await ownerOf(folder)).toEqual(owner);
});

const sources = ['package.json', 'package-lock.json', '.npmrc'];

test('n8n is installed again after a change of what it is installed from', async () => {
	for (const name of sources) await writeFile(join(folder, name), name);
	await mkdir(join(folder, 'node_modules'));
	for (const changed of sources) {
		await writeFile(join(folder, 'node_modules', '.installed-from'), await fingerprint(folder));
		expect(await isInstalled(folder)).toBe(true);
		await writeFile(join(folder, changed), 'another');
		expect(await isInstalled(folder)).toBe(false);
	}
});
