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

/** Lets the sandbox's clock go forward. */
function pass(milliseconds: number): void {
	const later = Date.now() + milliseconds;
	jest.spyOn(Date, 'now').mockReturnValue(later);
}

it('The right user and password get a token that the other calls take', async () => {
	expect((await client.login()).body).toMatchObject({ token_type: 'Bearer', expires_in: 60 });
	expect((await client.list()).status).toBe(200);
	expect(sandbox.tokens.issued).toBe(1);
});

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

it('Every log-in gets a token of its own, and all are good', async () => {
	await client.login();
	const first = client.token;
	await client.login();
	expect(client.token).not.toBe(first);
	for (const token of [first, client.token]) {
		expect((await send(`${sandbox.url}/api/v1/clusters`, { token })).status).toBe(200);
	}
});

it('Where the user has one session, a log-in ends the token of the one before', async () => {
	const strict = await startSandbox({ oneSession: true });
	try {
		const user = new Client(strict);
		await user.login();
		const first = user.token;
		expect((await user.list()).status).toBe(200);
		await user.login();
		expect((await user.list()).status).toBe(200);
		expect((await send(`${strict.url}/api/v1/clusters`, { token: first })).status).toBe(401);
	} finally {
		await strict.close();
	}
});

it('Without a token, or with one that was never given out, every other call is a 401', async () => {
	const paths = [
		'/api/v1/clusters',
		'/api/v1/namespaces/a/jobs',
		'/api/v1/namespaces/a/jobs/b/stop',
	];
	for (const [index, method] of ['GET', 'POST', 'PUT'].entries()) {
		const url = `${sandbox.url}${paths[index]}`;
		const without = await send(url, { method });
		expect(without.status).toBe(401);
		expect(messageOf(without)).toContain('Authorization: Bearer');
		expect(without.headers.get('www-authenticate')).toBe('Bearer');
		const withStrange = await send(url, { method, token: 'strange' });
		expect(withStrange.status).toBe(401);
		expect(messageOf(withStrange)).toBe('The access token is unknown or has expired');
	}
});

it('A refresh token is no access token', async () => {
	const { body } = await client.login();
	client.token = (body as { refresh_token: string }).refresh_token;
	expect((await client.list()).status).toBe(401);
});

it('A token is good until its lifetime is over, and not a moment longer', async () => {
	const issuedAt = Date.now();
	jest.spyOn(Date, 'now').mockReturnValue(issuedAt);
	await client.login();
	jest.spyOn(Date, 'now').mockReturnValue(issuedAt + 59_999);
	expect((await client.list()).status).toBe(200);
	jest.spyOn(Date, 'now').mockReturnValue(issuedAt + 60_000);
	expect((await client.list()).status).toBe(401);
});

it('A new log-in after the expiry gets a token that is good', async () => {
	await client.login();
	pass(61_000);
	await client.login();
	expect((await client.list()).status).toBe(200);
});

it('All tokens can be ended at once', async () => {
	await client.login();
	sandbox.tokens.expireAll();
	expect((await client.list()).status).toBe(401);
});
