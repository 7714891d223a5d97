import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { whyAgain } from '../../host/install';
import { settings } from '../../host/n8n';
import { help, readOptions } from '../../host/options';
import { ownerOf, saveOwner } from '../../host/owner';

/*
 * Other users and machines can't use the n8n of "npm start": it listens on loopback only, and its owner's password is
 * readable for this user only. The owner of an n8n can run programs on the machine. Workflows use its time zone. Its
 * ports can be chosen, and it says why it installs n8n again.
 */

let folder: string;

beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), 'host-'));
});
afterEach(async () => {
	await rm(folder, { recursive: true });
});

test('n8n, its workers and its task broker listen on loopback only', () => {
	expect(settings(folder, 5678, 5679)).toMatchObject({
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
		N8N_RUNNERS_BROKER_LISTEN_ADDRESS: '127.0.0.1',
	});
});

test("workflows use this machine's time zone", () => {
	const { GENERIC_TIMEZONE: timeZone } = settings(folder, 5678, 5679);
	expect(timeZone).toEqual(expect.any(String));
	const now = new Date();
	expect(now.toLocaleString('en', { timeZone })).toBe(now.toLocaleString('en'));
});

test("the owner's password is saved in a file that only this user can read", async () => {
	const owner = { email: 'owner@example.com', password: 'A1-secret' };
	await saveOwner(folder, owner);
	const { mode } = await stat(join(folder, 'owner.json'));
	expect(mode & 0o777).toBe(0o600);
	expect(await ownerOf(folder)).toEqual(owner);
});

test('the ports of the editor and of the sandbox can be chosen', () => {
	expect(readOptions([])).toMatchObject({ port: 5678, sandboxPort: undefined });
	const chosen = ['--port', '5680', '--sandbox-port', '8770'];
	expect(readOptions(chosen)).toMatchObject({ port: 5680, sandboxPort: 8770 });
	for (const option of ['--port', '--sandbox-port']) {
		expect(help).toContain(`npm start -- ${option} `);
		for (const value of ['0', '65536', '80.5', 'http', '']) {
			const reason = `${option} wants a number from 1 to 65535.`;
			expect(() => readOptions([option, value])).toThrow(reason);
		}
	}
	expect(() => readOptions(['--sandboxport', '8770'])).toThrow(help);
});

test.each([
	[undefined, "the last installation didn't finish"],
	['linux x64\nlock\nold', 'its package-lock.json has changed'],
	['linux arm64\nlock\nnew', 'it was installed for linux arm64, and this is linux x64'],
])('n8n is installed again with a reason: stamp %j', (found, reason) => {
	expect(whyAgain(found, 'linux x64\nlock\nnew')).toBe(reason);
});
