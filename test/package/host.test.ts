import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { fingerprint, installIfNeeded, isInstalled } from '../../host/install';
import { settings } from '../../host/n8n';
import { ownerOf } from '../../host/owner';
import { Steps } from '../../host/steps';
import { Stops } from '../../host/stops';

/*
 * The n8n of "npm start": it runs whatever its owner wants on this machine, so nobody else may become its owner.
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

test('what was started last is stopped first, and each once', async () => {
	const stopped: string[] = [];
	const stops = new Stops();
	for (const name of ['lock', 'sandbox', 'n8n']) {
		stops.add(async () => {
			await Promise.resolve();
			stopped.push(name);
		});
	}
	await stops.stopAll();
	await stops.stopAll();
	expect(stopped).toEqual(['n8n', 'sandbox', 'lock']);
});

const sources = ['package.json', 'package-lock.json', '.npmrc'];

test.each(sources)('n8n is installed anew where another %s came', async (changed) => {
	for (const name of sources) await writeFile(join(folder, name), name);
	expect(await isInstalled(folder)).toBe(false);
	await mkdir(join(folder, 'node_modules'));
	await writeFile(join(folder, 'node_modules', '.installed-from'), await fingerprint(folder));
	expect(await isInstalled(folder)).toBe(true);
	await writeFile(join(folder, changed), 'another');
	expect(await isInstalled(folder)).toBe(false);
});

test('an install that ends before its database runs is done again', async () => {
	const lock = { name: 'host', version: '1.0.0', lockfileVersion: 3, packages: { '': {} } };
	await writeFile(join(folder, 'package.json'), '{ "name": "host", "dependencies": {} }');
	await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
	await writeFile(join(folder, '.npmrc'), '');
	const steps = new Steps(1);
	jest.spyOn(steps, 'run').mockImplementation(async (_, work) => await work(() => {}));
	const options = { hostFolder: folder, logFile: join(folder, 'log') };
	// All of its packages are there, and n8n is none of them.
	await expect(installIfNeeded(options, steps)).rejects.toThrow('node_modules/n8n/package.json');
	expect(await isInstalled(folder)).toBe(false);
});
