import { startSandbox, type Sandbox } from '../../sandbox';
import { Client, messageOf, send } from './client';

let sandbox: Sandbox;
let client: Client;

beforeEach(async () => {
	sandbox = await startSandbox({ userName: 'ann', password: 'right', tokenLifetime: 60 });
	client = new Client(sandbox);
});
afterEach(async () => {
	jest.restoreAllMocks();
	await sandbox.close();
});

/** The status of a call with a token. */
const statusWith = async (token: string): Promise<number> =>
	(await send(`${sandbox.url}/api/v1/clusters`, { token })).status;

it.each([
	['ann', 'wrong'],
	['bob', 'right'],
	['', ''],
])('User %p with password %p gets a 401 and no token', async (userName, password) => {
	const answer = await client.login({ userName, password, type: 'basic' });
	expect(answer.status).toBe(401);
	expect(messageOf(answer)).toBe('The user name or the password is wrong');
	expect(sandbox.tokens.issued).toBe(0);
});

it('Every log-in gets a token of its own, and all are good until they are ended', async () => {
	const { body } = await client.login();
	expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 60 });
	const first = client.token;
	await client.login();
	expect(sandbox.tokens.issued).toBe(2);
	expect([await statusWith(first), await statusWith(client.token)]).toEqual([200, 200]);
	expect(await statusWith((body as { refresh_token: string }).refresh_token)).toBe(401);
	sandbox.tokens.expireAll();
	expect([await statusWith(first), await statusWith(client.token)]).toEqual([401, 401]);
});

it('Where the user has one session, a log-in ends the token of the one before', async () => {
	await sandbox.close();
	sandbox = await startSandbox({ oneSession: true });
	client = new Client(sandbox);
	await client.login();
	const first = client.token;
	await client.login();
	expect([await statusWith(first), await statusWith(client.token)]).toEqual([401, 200]);
});

it.each([
	['GET', 'clusters'],
	['POST', 'namespaces/a/jobs'],
	['PUT', 'namespaces/a/jobs/b/stop'],
])('Without a good token, %s %s is a 401', async (method, path) => {
	const url = `${sandbox.url}/api/v1/${path}`;
	const without = await send(url, { method });
	expect(without.status).toBe(401);
	expect(messageOf(without)).toContain('Authorization: Bearer');
	expect(without.headers.get('www-authenticate')).toBe('Bearer');
	const withStrange = await send(url, { method, token: 'strange' });
	expect(withStrange.status).toBe(401);
	expect(messageOf(withStrange)).toBe('The access token is unknown or has expired');
});

it('A token is good until its lifetime is over, and a new one after that', async () => {
	const now = jest.spyOn(Date, 'now');
	const issuedAt = 1_800_000_000_000;
	now.mockReturnValue(issuedAt);
	await client.login();
	now.mockReturnValue(issuedAt + 59_999);
	expect(await statusWith(client.token)).toBe(200);
	now.mockReturnValue(issuedAt + 60_000);
	expect(await statusWith(client.token)).toBe(401);
	await client.login();
	expect(await statusWith(client.token)).toBe(200);
});
