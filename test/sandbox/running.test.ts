import { request } from 'node:https';
import { connect } from 'node:net';

import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox';
import { CallRecord, type Call } from '../../sandbox/http/calls';
import { Client, send, until } from './client';
import { selfSignedCertificate } from './selfSignedCertificate';

const anyCall: Call = {
	operation: 'login',
	method: 'POST',
	path: '/oauth/login',
	query: {},
	body: undefined,
	token: undefined,
	status: 200,
	reason: undefined,
	at: 0,
};

let sandbox: Sandbox;

async function start(options: SandboxOptions = {}): Promise<Client> {
	sandbox = await startSandbox(options);
	return new Client(sandbox);
}
afterEach(async () => await sandbox.close());

describe('What is recorded', () => {
	it('is each call as it came, with what was answered', async () => {
		const client = await start();
		await client.login();
		await send(`${sandbox.url}/api/v1/namespaces/a%2Fb/jobs/%F0%9F%98%80/stop?x=1`, {
			method: 'PUT',
			token: client.token,
		});
		expect(sandbox.calls).toEqual([
			{
				operation: 'login',
				method: 'POST',
				path: '/oauth/login',
				query: {},
				body: { userName: 'demo', password: 'demo-password', type: 'basic' },
				token: undefined,
				status: 200,
				reason: undefined,
				at: expect.any(Number),
			},
			{
				operation: 'changeJobState',
				method: 'PUT',
				path: '/api/v1/namespaces/a%2Fb/jobs/%F0%9F%98%80/stop',
				query: { x: '1' },
				body: undefined,
				token: client.token,
				status: 400,
				reason: 'query.x is not a field that the contract knows',
				at: expect.any(Number),
			},
		]);
	});

	it('can be cleared', async () => {
		const client = await start();
		await client.login();
		sandbox.clearCalls();
		expect(sandbox.calls).toEqual([]);
		await client.list();
		expect(sandbox.calls).toMatchObject([{ operation: 'listClusters' }]);
	});

	it('does not grow for ever: the newest hundred thousand calls are kept', () => {
		const record = new CallRecord(true);
		for (let at = 1; at <= 250_000; at += 1) record.add({ ...anyCall, at });
		expect(record.total).toBe(250_000);
		expect(record.calls.length).toBeGreaterThanOrEqual(100_000);
		expect(record.calls.length).toBeLessThan(200_000);
		expect(record.calls.at(-1)?.at).toBe(250_000);
	});

	it('is nothing where that is asked for', async () => {
		const client = await start({ recordCalls: false });
		await client.login();
		expect(sandbox.calls).toEqual([]);
	});
});

describe('Connections', () => {
	it('are counted: open, at once at most, and ever', async () => {
		await start();
		const { port, hostname } = new URL(sandbox.url);
		const counts = (): number[] => {
			const { open, peak, total } = sandbox.connections;
			return [open, peak, total];
		};
		const sockets = [1, 2, 3].map(() => connect(Number(port), hostname));
		await until(() => sandbox.connections.open === 3);
		sockets[0]?.destroy();
		await until(() => sandbox.connections.open === 2);
		sockets.push(connect(Number(port), hostname));
		await until(() => sandbox.connections.open === 3);
		sockets[1]?.destroy();
		await until(() => sandbox.connections.open === 2);
		expect(counts()).toEqual([2, 3, 4]);
		sandbox.connections.reset();
		expect(counts()).toEqual([2, 2, 2]);
	});

	it('that are idle are kept for 72 seconds, as every answer says', async () => {
		await start();
		const { headers } = await send(sandbox.url);
		expect(headers.get('keep-alive')).toBe('timeout=72');
	});

	it('that are idle do not keep the sandbox from closing', async () => {
		const client = await start();
		await client.login();
		await sandbox.close();
		expect(sandbox.connections.open).toBe(0);
		await expect(send(sandbox.url)).rejects.toThrow('fetch failed');
	});
});

describe('A sandbox', () => {
	it('listens on loopback, on a port that is free', async () => {
		await start();
		expect(sandbox.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
	});

	it('says so when its port is taken', async () => {
		await start();
		const port = Number(new URL(sandbox.url).port);
		await expect(startSandbox({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
	});

	it('can be closed twice', async () => {
		await start();
		await sandbox.close();
		await expect(sandbox.close()).resolves.toBeUndefined();
	});

	it('can have a path before all of its calls', async () => {
		const client = await start({ pathPrefix: '/a/b' });
		expect(sandbox.url).toMatch(/\/a\/b$/);
		expect((await client.login()).status).toBe(200);
		const withoutPrefix = sandbox.url.replace('/a/b', '/oauth/login');
		expect((await send(withoutPrefix, { method: 'POST', body: {} })).status).toBe(404);
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

	it('can speak https, with a certificate that nobody trusts', async () => {
		const { key, cert } = selfSignedCertificate;
		await start({ tls: { key, cert } });
		expect(sandbox.url).toMatch(/^https:/);
		await expect(send(sandbox.url)).rejects.toMatchObject({
			cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
		});
		await expect(statusOf(`${sandbox.url}/api/v1/clusters`, cert)).resolves.toBe(401);
		expect(sandbox.connections.total).toBe(2);
	});
});

/** The status of an answer over https, to a client that trusts this certificate. */
async function statusOf(url: string, ca: string): Promise<number | undefined> {
	return await new Promise((resolve, reject) => {
		request(url, { ca, agent: false }, (answer) => resolve(answer.resume().statusCode))
			.on('error', reject)
			.end();
	});
}
