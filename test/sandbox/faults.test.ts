import { startSandbox, type Fault, type Sandbox, type When } from '../../sandbox';
import { Client, send, smallestJob, until, type Answer } from './client';

let sandbox: Sandbox;
let token: string;

beforeEach(async () => {
	sandbox = await startSandbox();
	const client = new Client(sandbox);
	await client.login();
	({ token } = client);
	sandbox.clearCalls();
});
afterEach(async () => await sandbox.close());

/** Creates a job, whatever comes of it. */
async function create(signal?: AbortSignal): Promise<Answer> {
	return await send(`${sandbox.url}/api/v1/namespaces/default/jobs`, {
		method: 'POST',
		token,
		body: { namespace: 'default', job: smallestJob },
		...(signal && { signal }),
	});
}

/** The first call meets a fault, no other. */
function first(fault: Fault | Fault[]): void {
	sandbox.faults.plan(({ n }) => (n === 1 ? fault : undefined));
}

const jobsMade = (): number => sandbox.store.jobs.size;
const statuses = (): Array<number | undefined> => sandbox.calls.map(({ status }) => status);

const moments: Array<[When, number]> = [
	['beforeActing', 0],
	['afterActing', 1],
];

describe.each(moments)('A fault that strikes %s leaves %i jobs:', (when, made) => {
	it.each<[Fault, object]>([
		[
			{ kind: 'answer', when, status: 503, headers: { 'retry-after': '1' }, body: { error: 'no' } },
			{ status: 503, body: { error: 'no' } },
		],
		[
			{ kind: 'answer', when, status: 500, body: 'broken' },
			{ status: 500, body: 'broken' },
		],
		[
			{ kind: 'answer', when, status: 500 },
			{ status: 500, body: undefined },
		],
		[
			{ kind: 'html', when },
			{ status: 200, body: expect.stringContaining('<html>') },
		],
		[
			{ kind: 'hugeBody', when, bytes: 5_000 },
			{ status: 200, body: { filler: 'x'.repeat(5_000 - '{"filler":""}'.length) } },
		],
	])('%j is answered with %j', async (fault, expected) => {
		first(fault);
		const answer = await create();
		expect(answer).toMatchObject(expected);
		expect(answer.headers.get('retry-after')).toBe('headers' in fault ? '1' : null);
		expect(jobsMade()).toBe(made);
		expect(statuses()).toEqual([answer.status]);
	});

	it.each([
		['break', 'fetch failed'],
		['halfBody', 'terminated'],
		['stall', 'timeout'],
		['drip', 'timeout'],
	] as const)('%s, by which the client gets no whole answer: %s', async (kind, message) => {
		first({ kind, when });
		const signal = message === 'timeout' ? AbortSignal.timeout(150) : undefined;
		await expect(create(signal)).rejects.toThrow(message);
		expect(jobsMade()).toBe(made);
		expect(statuses()).toEqual([undefined]);
	});

	it('a wait, after which the call goes on', async () => {
		let goOn = (): void => {};
		first({ kind: 'wait', when, until: new Promise<void>((resolve) => (goOn = resolve)) });
		const answer = create();
		await until(() => sandbox.calls.length === 1);
		await new Promise((resolve) => setTimeout(resolve, 20));
		expect([jobsMade(), statuses()]).toEqual([made, [undefined]]);
		goOn();
		expect((await answer).status).toBe(200);
		expect(jobsMade()).toBe(1);
	});
});

it('Tokens that end just then: the call meets its own, and a new log-in helps', async () => {
	first({ kind: 'expireTokens' });
	expect([(await create()).status, (await create()).status]).toEqual([401, 401]);
	expect(jobsMade()).toBe(0);
	expect((await new Client(sandbox).login()).status).toBe(200);
});

it.each<[Fault, number, string, string | null]>([
	[{ kind: 'rateLimit', retryAfter: 7 }, 429, 'retry-after', '7'],
	[
		{ kind: 'rateLimit', retryAfter: new Date('2030-01-01T00:00:00Z') },
		...([429, 'retry-after', 'Tue, 01 Jan 2030 00:00:00 GMT'] as const),
	],
	[{ kind: 'rateLimit' }, 429, 'retry-after', null],
	[{ kind: 'redirect', location: 'https://a.test/' }, 302, 'location', 'https://a.test/'],
])('%j is a %i with %s: %s, and makes no job', async (fault, status, header, value) => {
	first(fault);
	const answer = await create();
	expect(answer.status).toBe(status);
	expect(answer.headers.get(header)).toBe(value);
	expect(jobsMade()).toBe(0);
});

it('A call can meet several faults in turn, until it is answered; one that is refused, too', async () => {
	const wait: Fault = { kind: 'wait', when: 'beforeActing', until: Promise.resolve() };
	first([wait, { kind: 'break', when: 'afterActing' }]);
	await expect(create()).rejects.toThrow('fetch failed');
	expect(jobsMade()).toBe(1);
	first([wait, { kind: 'rateLimit' }, { kind: 'answer', when: 'afterActing', status: 500 }]);
	expect((await create()).status).toBe(429);
	token = 'wrong';
	first({ kind: 'answer', when: 'afterActing', status: 500 });
	expect((await create()).status).toBe(500);
});

it('A plan sees each call, counted over all and by operation, from one', async () => {
	const seen: unknown[] = [];
	sandbox.faults.plan(({ operation, n, nOfOperation, path, body, query }) => {
		seen.push({ operation, n, nOfOperation, path, body, query });
		return undefined;
	});
	await create();
	await send(`${sandbox.url}/api/v1/clusters?ListOption.limit=3`, { token });
	await create();
	const path = '/api/v1/namespaces/default/jobs';
	const body = { namespace: 'default', job: smallestJob };
	const query = { 'ListOption.limit': '3' };
	expect(seen).toEqual([
		{ operation: 'createJob', n: 1, nOfOperation: 1, path, body, query: {} },
		expect.objectContaining({ operation: 'listClusters', n: 2, nOfOperation: 1, query }),
		expect.objectContaining({ operation: 'createJob', n: 3, nOfOperation: 2 }),
	]);
});
