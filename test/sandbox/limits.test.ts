import { once } from 'node:events';
import { connect } from 'node:net';

import { freePort } from '../../host/ports';
import { startSandbox, type LimitOptions, type Sandbox } from '../../sandbox';
import { RateLimit } from '../../sandbox/limits/rateLimit';
import { Client, send, until } from './client';

let sandbox: Sandbox;
let client: Client;

async function start(limits: LimitOptions = {}): Promise<void> {
	sandbox = await startSandbox({ port: await freePort(), limits });
	client = new Client(sandbox);
	await client.login();
	sandbox.clearCalls();
}
afterEach(async () => await sandbox.close());

/** The statuses of calls at once, in order. */
async function statusesOf(count: number): Promise<number[]> {
	const calls = Array.from({ length: count }, async () => await client.create());
	return (await Promise.all(calls)).map(({ status }) => status).sort();
}

describe('A number of calls a second', () => {
	// One in an hour: nothing of it comes back while a test runs.
	const perSecond = 1 / 3_600;

	it('is taken, and the others are refused before they take effect', async () => {
		await start({ perSecond, burst: 3 });
		expect(await statusesOf(5)).toEqual([200, 200, 200, 429, 429]);
		expect(sandbox.store.jobs.size).toBe(3);
		expect(sandbox.limits.met.turnedAway).toBe(2);
		expect((await client.login()).status).toBe(200);
	});

	it.each<[LimitOptions, number, string | null]>([
		[{}, 429, null],
		[{ retryAfter: 7, tooMany: 503 }, 503, '7'],
	])('with %j is refused with %i and Retry-After: %s', async (limits, status, after) => {
		await start({ perSecond, ...limits });
		expect((await client.create()).status).toBe(200);
		const answer = await client.create();
		expect(answer.status).toBe(status);
		expect(answer.headers.get('retry-after')).toBe(after);
	});

	it('comes back evenly, up to a burst', () => {
		const limit = new RateLimit({ perSecond: 10, burst: 2, retryAfter: 0 });
		const taken = [0, 0, 0, 99, 101, 102, 1_000, 1_001, 1_002].map((now) => limit.take(now));
		expect(taken).toEqual([true, true, false, false, true, false, true, true, false]);
	});

	it('counts the calls before the time to come back, but for those sent before it was known', () => {
		const limit = new RateLimit({ perSecond, burst: 1, retryAfter: 1 });
		for (const now of [0, 10, 20, 200]) limit.take(now);
		expect(limit).toMatchObject({ turnedAway: 3, tooEarly: 0 });
		for (const now of [900, 1_001]) limit.take(now);
		expect(limit.tooEarly).toBe(2);
		limit.take(2_300);
		expect(limit.tooEarly).toBe(2);
	});
});

describe('A number of calls at once', () => {
	it('is worked on, and the others wait in line', async () => {
		await start({ atOnce: 2 });
		let letGo = (): void => {};
		const gate = new Promise<void>((resolve) => (letGo = resolve));
		let worked = 0;
		sandbox.faults.plan(() => {
			worked += 1;
			return { kind: 'wait', when: 'beforeActing', until: gate };
		});
		const statuses = statusesOf(6);
		await until(() => sandbox.limits.met.inFlight === 6 && worked === 2);
		letGo();
		expect(await statuses).toEqual([200, 200, 200, 200, 200, 200]);
		expect(sandbox.limits.met.most).toBe(6);
	});

	it('has its place back when the client has gone', async () => {
		await start({ atOnce: 1 });
		sandbox.faults.plan(({ n }) => (n === 1 ? { kind: 'stall', when: 'beforeActing' } : undefined));
		const leaves = new AbortController();
		const { token } = client;
		const stalled = send(`${sandbox.url}/api/v1/clusters`, { token, signal: leaves.signal });
		await until(() => sandbox.calls.length === 1);
		const next = client.list();
		await until(() => sandbox.limits.met.inFlight === 2);
		leaves.abort();
		await expect(stalled).rejects.toThrow('aborted');
		expect((await next).status).toBe(200);
	});
});

it('A number of connections at once is taken, and the others are closed', async () => {
	// The client's own is the first.
	await start({ connections: 2 });
	const { hostname, port } = new URL(sandbox.url);
	const second = connect(Number(port), hostname);
	await until(() => sandbox.connections.open === 2);
	const third = connect(Number(port), hostname).on('error', () => {});
	await once(third.resume(), 'close');
	second.destroy();
	await until(() => sandbox.connections.open === 1);
	expect((await client.create()).status).toBe(200);
});

it('A service that is away cuts calls and refuses connections, until it is back with what it had', async () => {
	await start();
	await client.create();
	sandbox.faults.plan(() => ({ kind: 'stall', when: 'beforeActing' }));
	const broken = expect(client.list()).rejects.toThrow('fetch failed');
	await until(() => sandbox.calls.length === 2);
	await sandbox.goAway();
	await broken;
	await expect(client.list()).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
	sandbox.faults.clear();
	await sandbox.comeBack();
	expect((await client.list()).status).toBe(200);
	expect(sandbox.store.jobs.size).toBe(1);
});
