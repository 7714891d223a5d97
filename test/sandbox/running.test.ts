import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox';
import { Client, send, until } from './client';

let sandbox: Sandbox;

async function start(options: SandboxOptions = {}): Promise<Client> {
	sandbox = await startSandbox(options);
	return new Client(sandbox);
}
afterEach(async () => await sandbox.close());

it('Each call is recorded as it came, with what was answered', async () => {
	const client = await start();
	await client.login();
	const path = '/api/v1/namespaces/a%2Fb/jobs/%F0%9F%98%80/stop';
	await send(`${sandbox.url}${path}?x=1`, { method: 'PUT', token: client.token });
	const body = { userName: 'demo', password: 'demo-password', type: 'basic' };
	expect(sandbox.calls).toMatchObject([
		{ operation: 'login', method: 'POST', path: '/oauth/login', body, status: 200 },
		{ operation: 'changeJobState', path, query: { x: '1' }, token: client.token, status: 400 },
	]);
	sandbox.clearCalls();
	expect(sandbox.calls).toEqual([]);
});

describe('A sandbox', () => {
	it('listens on loopback, and says so when its port is taken', async () => {
		await start();
		const { hostname, port } = new URL(sandbox.url);
		expect(hostname).toBe('127.0.0.1');
		const second = startSandbox({ port: Number(port) });
		await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
	});

	it('acts at once and holds its answer back, where latency is asked for', async () => {
		const client = await start({ latency: 60 });
		await client.login();
		const startedAt = performance.now();
		let isAnswered = false;
		const answer = client.create().finally(() => (isAnswered = true));
		await until(() => sandbox.store.jobs.size === 1);
		expect(isAnswered).toBe(false);
		expect((await answer).status).toBe(200);
		expect(performance.now() - startedAt).toBeGreaterThanOrEqual(55);
	});
});
