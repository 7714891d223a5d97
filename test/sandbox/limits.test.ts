import { once } from 'node:events';
import { connect } from 'node:net';

import { freePort } from '../../host/ports';
import { startSandbox, type LimitOptions, type Sandbox } from '../../sandbox';
import { RateLimit } from '../../sandbox/limits/rateLimit';
import { Client, send, until } from './client';

let sandbox: Sandbox;
let client: Client;

async function start(limits: LimitOptions, latency = 0): Promise<void> {
	sandbox = await startSandbox({ port: await freePort(), limits, latency });
	client = new Client(sandbox);
	await client.login();
	sandbox.clearCalls();
}
afterEach(async () => await sandbox.close());

const times = async <Result>(count: number, work: () => Promise<Result>): Promise<Result[]> =>
	await Promise.all(Array.from({ length: count }, work));

/** How many answers have each status. */
function counted(answers: Array<{ status: number }>): Record<number, number> {
	const counts: Record<number, number> = {};
	for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
	return counts;
}

describe('So many calls a second', () => {
	// One in an hour: nothing of it comes back while a test runs.
	const perSecond = 1 / 3_600;

	it('are taken, and the others answered with 429, before they take effect', async () => {
		await start({ perSecond, burst: 3 });
		const answers = await times(5, async () => await client.create());
		expect(counted(answers)).toEqual({ 200: 3, 429: 2 });
		expect(sandbox.store.jobs.size).toBe(3);
		expect(sandbox.limits.met.turnedAway).toBe(2);
		const refused = answers.find(({ status }) => status === 429);
		expect(refused?.body).toEqual({ code: 'too_many_requests', message: 'Too many requests' });
		expect(refused?.headers.has('retry-after')).toBe(false);
		expect(counted(sandbox.calls.map(({ status = 0 }) => ({ status })))).toEqual({
			200: 3,
			429: 2,
		});
	});

	it('are one at the least, where less than one is taken a second', async () => {
		await start({ perSecond });
		expect((await client.create()).status).toBe(200);
		expect((await client.create()).status).toBe(429);
	});

	it('can be refused with a time to come back', async () => {
		await start({ perSecond, burst: 1, retryAfter: 7 });
		await client.create();
		const answer = await client.create();
		expect(answer.headers.get('retry-after')).toBe('7');
	});

	it('count who comes before that time, but for those who were under way', () => {
		const limit = new RateLimit({ perSecond: 1 / 3_600, burst: 1, retryAfter: 1 });
		for (const now of [0, 10, 20, 200]) limit.take(now);
		expect(limit).toMatchObject({ turnedAway: 3, tooEarly: 0 });
		for (const now of [900, 1_001]) limit.take(now);
		expect(limit.tooEarly).toBe(2);
		limit.take(2_300);
		expect(limit.tooEarly).toBe(2);
	});

	it('can be refused with a bare 503', async () => {
		await start({ perSecond, burst: 1, tooMany: 503 });
		await client.create();
		const answer = await client.create();
		expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
		expect(answer.headers.has('retry-after')).toBe(false);
	});

	it('do not count the log-in', async () => {
		await start({ perSecond, burst: 1 });
		await client.create();
		expect((await client.login()).status).toBe(200);
	});

	it('come back evenly, up to a burst', () => {
		const limit = new RateLimit({ perSecond: 10, burst: 2, retryAfter: 0 });
		const taken = [0, 0, 0, 99, 101, 102, 1_000, 1_001, 1_002].map((now) => limit.take(now));
		expect(taken).toEqual([true, true, false, false, true, false, true, true, false]);
	});
});

describe('So many calls at once', () => {
	it('are worked on, and the others wait in line', async () => {
		await start({ atOnce: 2 }, 20);
		let letGo = (): void => {};
		const until6 = new Promise<void>((resolve) => (letGo = resolve));
		sandbox.faults.plan(() => ({ kind: 'wait', when: 'beforeActing', until: until6 }));
		const created = times(6, async () => await client.create());
		await until(() => sandbox.limits.met.underWay === 6);
		letGo();
		expect(counted(await created)).toEqual({ 200: 6 });
		const { most, mostWaiting, averageWaiting, underWay } = sandbox.limits.met;
		expect({ most, mostWaiting, underWay }).toEqual({ most: 6, mostWaiting: 4, underWay: 0 });
		expect(averageWaiting).toBeGreaterThan(0);
		expect(averageWaiting).toBeLessThan(4);
		sandbox.limits.reset();
		expect(sandbox.limits.met).toMatchObject({ most: 0, mostWaiting: 0, averageWaiting: 0 });
	});

	it('are less by one no longer than until the client has gone', async () => {
		await start({ atOnce: 1 });
		sandbox.faults.plan(({ n }) => (n === 1 ? { kind: 'stall', when: 'beforeActing' } : undefined));
		const leaves = new AbortController();
		const stalled = send(`${sandbox.url}/api/v1/clusters`, {
			token: client.token,
			signal: leaves.signal,
		});
		await until(() => sandbox.calls.length === 1);
		const next = client.list();
		await until(() => sandbox.limits.met.mostWaiting === 1);
		leaves.abort();
		await expect(stalled).rejects.toThrow('aborted');
		expect((await next).status).toBe(200);
	});
});

describe('So many connections at once', () => {
	it('are taken, and the others cut off', async () => {
		await start({ connections: 2 });
		// The client's own is the first.
		const { hostname, port } = new URL(sandbox.url);
		const second = connect(Number(port), hostname);
		await until(() => sandbox.connections.open === 2);
		const third = connect(Number(port), hostname)
			.on('error', () => {})
			.resume();
		await once(third, 'close');
		second.destroy();
		await until(() => sandbox.connections.open === 1);
		expect((await client.create()).status).toBe(200);
	});
});

/** The error of a connection that is refused. */
async function refusalOf({ hostname, port }: URL): Promise<{ code?: string }> {
	return await new Promise((resolve) => connect(Number(port), hostname).on('error', resolve));
}

describe('Away', () => {
	it('is a service that refuses connections, until it is back on the same port with what it had', async () => {
		await start({});
		await client.create();
		await sandbox.goAway();
		const { code } = await refusalOf(new URL(sandbox.url));
		expect(code).toBe('ECONNREFUSED');
		await sandbox.comeBack();
		expect((await client.list()).status).toBe(200);
		expect(sandbox.store.jobs.size).toBe(1);
	});

	it('cuts what was under way', async () => {
		await start({});
		sandbox.faults.plan(() => ({ kind: 'stall', when: 'beforeActing' }));
		const broken = expect(client.list()).rejects.toThrow('fetch failed');
		await until(() => sandbox.calls.length === 1);
		await sandbox.goAway();
		await broken;
	});

	it('does not keep a sandbox from closing', async () => {
		await start({});
		await sandbox.goAway();
		await expect(sandbox.close()).resolves.toBeUndefined();
	});
});
