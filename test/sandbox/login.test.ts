import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox';
import { Client, messageOf, send } from './client';

let sandbox: Sandbox;
let client: Client;

async function start(options: SandboxOptions): Promise<void> {
	sandbox = await startSandbox(options);
	client = new Client(sandbox);
}
afterEach(async () => {
	jest.restoreAllMocks();
	await sandbox.close();
});

/** The status of a call with a token. */
const statusWith = async (token: string): Promise<number> =>
	(await send(`${sandbox.url}/api/v1/clusters`, { token })).status;

it('A wrong user or password gets a 401 and no token', async () => {
	await start({ userName: 'ann', password: 'right' });
	for (const [userName, password] of [
		['ann', 'wrong'],
		['bob', 'right'],
	]) {
		const answer = await client.login({ userName, password, type: 'basic' });
		expect(answer.status).toBe(401);
		expect(messageOf(answer)).toBe('The username or the password is wrong');
	}
	expect(sandbox.tokens.issued).toBe(0);
});

it.each([
	[false, [200, 200]],
	[true, [401, 200]],
])(
	'Where the user has one session: %s, two tokens in turn are %j',
	async (oneSession, statuses) => {
		await start({ oneSession });
		await client.login();
		const first = client.token;
		await client.login();
		expect([await statusWith(first), await statusWith(client.token)]).toEqual(statuses);
		sandbox.tokens.expireAll();
		expect([await statusWith(first), await statusWith(client.token)]).toEqual([401, 401]);
		expect(sandbox.tokens.issued).toBe(2);
	},
);

it('A token is good until its lifetime is over, and each call but the login needs one', async () => {
	await start({ tokenLifetime: 60 });
	const now = jest.spyOn(Date, 'now').mockReturnValue(1_800_000_000_000);
	expect((await client.login()).body).toMatchObject({ token_type: 'Bearer', expires_in: 60 });
	now.mockReturnValue(1_800_000_059_999);
	expect(await statusWith(client.token)).toBe(200);
	now.mockReturnValue(1_800_000_060_000);
	expect(await statusWith(client.token)).toBe(401);
	for (const path of ['clusters', 'namespaces/a/jobs', 'namespaces/a/jobs/b/stop']) {
		const method = path === 'clusters' ? 'GET' : path.endsWith('jobs') ? 'POST' : 'PUT';
		const without = await send(`${sandbox.url}/api/v1/${path}`, { method });
		expect([without.status, messageOf(without)]).toEqual([401, expect.stringContaining('Bearer')]);
	}
});
